"""The one way functions are compiled here: cached on disk, without the GIL, division as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from odefinder.compiling.cache import cache_folder

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
    before = _config.CACHE_DIR
    if function.__module__.startswith("odefinder"):
        _config.CACHE_DIR = str(cache_folder(function.__module__))
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        _config.CACHE_DIR = before
