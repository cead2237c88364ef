"""The one way functions are compiled here: cached on disk, without the GIL, division as in NumPy."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers with numba."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
