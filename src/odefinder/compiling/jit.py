"""The one way functions are compiled here: cached on disk, without the GIL, division as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import types

from odefinder.compiling.cache import cache_folder
from odefinder.compiling.helpers import EntryCompiler, HelperCompiler

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
        entry = numba.njit(cache=True, nogil=True, error_model="numpy", pipeline_class=EntryCompiler, **options)(function)
        helper = numba.njit(nogil=True, error_model="numpy", pipeline_class=HelperCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
        entry.get_call_template = lambda args, kws: helper.get_call_template([_plain(one) for one in args], {k: _plain(v) for k, v in kws.items()})
        entry.get_overload = helper.get_overload
        return cast(F, entry)
    finally:
        _config.CACHE_DIR = before


def _plain(kind: Any) -> Any:
    """The type that arguments are passed as: no helper is made for each literal and each width of integers."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
