"""The one way functions are compiled here: cached on disk, without the GIL, division as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from odefinder.compiling.entry import Entry

F = TypeVar("F", bound=Callable[..., object])

_config: Any = numba.config  # its attributes are made at run time


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers with numba."""
    return _compiled(function)


def kernel(function: F) -> F:
    """Compile for inner loops: arrays are borrowed, never counted, so nothing can be allocated inside."""
    return _compiled(function, _nrt=False)


def inlined(function: F) -> F:
    """A `kernel` that is always inlined: passing a large record to one by value would copy it."""
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: F, **options: Any) -> F:
    if _config.DISABLE_JIT:  # NUMBA_DISABLE_JIT=1, for debuggers
        return function
    options |= {"nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None}
    return cast(F, Entry(function, targetoptions=options))
