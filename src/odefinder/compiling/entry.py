"""A compiled function with two faces: Python calls the entry, other compiled functions its helper.

The entry is kept in the cache on disk; helpers are not, as their code is part of the entries that call them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, cast

import numba
from numba.core import event, types
from numba.core.registry import CPUDispatcher

from odefinder.compiling.cache import cache_folder
from odefinder.compiling.helpers import EntryCompiler, HelperCompiler
from odefinder.compiling.kept import KeptFunction, say_once
from odefinder.limits.interrupt import Deferred

_config: Any = numba.config  # its attributes are made at run time
NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # which only Python would need


class _Pauses(event.Listener):
    """Ctrl-C is heard between two passes of the compiler.

    Anywhere else it could break off a call of llvmlite, which then frees memory twice or loses its result,
    or a callback, where Python prints the exception and goes on.
    """

    def __init__(self, interrupts: Deferred) -> None:
        self.interrupts = interrupts

    def on_start(self, event: Any) -> None:
        self.interrupts.heed()

    def on_end(self, event: Any) -> None:
        pass


class Helper(CPUDispatcher):
    """A compiled function, as other compiled functions see it."""


class Entry(CPUDispatcher):
    """A compiled function, as Python sees it."""

    def __init__(
        self,
        py_func: Callable[..., object],
        locals: dict[str, Any] | None = None,
        targetoptions: dict[str, Any] | None = None,
        pipeline_class: type = EntryCompiler,
    ):
        options = targetoptions or {}
        super().__init__(py_func, locals or {}, options, pipeline_class)
        self.helper = Helper(py_func, locals or {}, options | NO_WRAPPERS, HelperCompiler)
        self.cached = False

    def compile(self, sig: Any) -> Any:
        """For a call from Python: from the cache, or compiled now."""
        self._use_cache()
        with Deferred() as interrupts, event.install_listener("numba:run_pass", _Pauses(interrupts)):
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For a call from compiled code."""
        return self.helper.get_call_template(
            [_plain(one) for one in args], {name: _plain(one) for name, one in kws.items()}
        )

    def get_overload(self, sig: Any) -> Any:
        """What compiled code calls."""
        return self.helper.get_overload(sig)

    def is_kept(self) -> bool:
        """Whether the cache holds this function, compiled for this processor."""
        self._use_cache()
        if self.signatures or not isinstance(self._cache, KeptFunction):
            return bool(self.signatures)
        context, files = cast(Any, self.targetctx), cast(Any, self)._cache._cache_file
        processor = context.codegen().magic_tuple()
        return any(key[1] == processor for key in files._load_index())

    def needed(self) -> set[Entry]:
        """This function and all compiled functions that it calls, directly or not."""
        found, todo = {self}, [self]
        while todo:
            function = todo.pop().py_func
            for name in _names(function.__code__):
                other = function.__globals__.get(name)
                if isinstance(other, Entry) and other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def _use_cache(self) -> None:
        """Not when the function is made: most are only ever called from compiled code."""
        if self.cached:
            return
        before = _config.CACHE_DIR
        if self.py_func.__module__.startswith("odefinder"):
            _config.CACHE_DIR = str(cache_folder(self.py_func.__module__))
        try:
            self._cache = KeptFunction(self.py_func)
        except (OSError, RuntimeError) as problem:  # no place to keep it
            say_once(f"compiled functions cannot be kept: {problem}".split(" for file ")[0])
        finally:
            self.cached = True
            _config.CACHE_DIR = before


def _names(code: CodeType) -> set[str]:
    """The global names that a function uses, also in its comprehensions."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _plain(kind: Any) -> Any:
    """The type an argument is passed as: there is not one helper for each literal and width of integers."""
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and cast(Any, kind).signed else kind
