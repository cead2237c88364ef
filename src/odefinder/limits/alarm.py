"""Alarms that compiled code hears: when one rings, the loops that look at it end with what they have.

Every thread has at most one alarm at a time, so fits in several threads do not disturb each other.  Its flag
is found through the thread-specific storage of Python, which needs no GIL, under a name that the linker
knows: so compiled functions can be kept on disk, although the address differs from process to process.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

_KEY, _GET = "odefinder_alarm_key", "odefinder_alarm_get"
_config: Any = numba.config  # its attributes are made at run time
_api = ctypes.pythonapi
_api.PyThread_tss_alloc.restype = ctypes.c_void_p
_api.PyThread_tss_create.argtypes = [ctypes.c_void_p]
_api.PyThread_tss_get.argtypes, _api.PyThread_tss_get.restype = [ctypes.c_void_p], ctypes.c_void_p
_api.PyThread_tss_set.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_key: int = _api.PyThread_tss_alloc()
_api.PyThread_tss_create(_key)
binding.add_symbol(_KEY, _key)
binding.add_symbol(_GET, ctypes.cast(_api.PyThread_tss_get, ctypes.c_void_p).value)


class Alarm:
    """Inside `with alarm:` this thread listens to it; any thread may ring it."""

    def __init__(self, seconds: float = float("inf")) -> None:
        """It rings on its own this long after it was entered."""
        self._flag = ctypes.c_int64(0)
        self._seconds = seconds
        self._timer: threading.Timer | None = None
        self._before: list[int | None] = []

    @property
    def rings(self) -> bool:
        """Whether it has been rung."""
        return self._flag.value != 0

    def ring(self) -> None:
        """Tell the loops to end."""
        self._flag.value = 1

    def __enter__(self) -> Alarm:
        self._before.append(_api.PyThread_tss_get(_key))
        _api.PyThread_tss_set(_key, ctypes.addressof(self._flag))
        if self._seconds <= 0.0:
            self.ring()
        elif self._seconds < threading.TIMEOUT_MAX and not self.rings:
            self._timer = threading.Timer(self._seconds, self.ring)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        _api.PyThread_tss_set(_key, self._before.pop())


@contextmanager
def no_alarm() -> Iterator[None]:
    """For what has to be computed, whatever the time: compiled code in it hears no alarm."""
    before = _api.PyThread_tss_get(_key)
    _api.PyThread_tss_set(_key, None)
    try:
        yield
    finally:
        _api.PyThread_tss_set(_key, before)


def alarm_rings() -> bool:
    """Whether the alarm of this thread rings, for Python."""
    address = _api.PyThread_tss_get(_key)
    return bool(address) and ctypes.c_int64.from_address(address).value != 0


@intrinsic
def _rings(typingctx: Any) -> Any:
    """The same for compiled code."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        module = builder.module
        key = module.globals.get(_KEY)
        if key is None:
            key = ir.GlobalVariable(module, ir.IntType(8), _KEY)
            key.linkage = "external"
        get = module.globals.get(_GET) or ir.Function(module, ir.FunctionType(pointer, [pointer]), _GET)
        address = builder.call(get, [key])
        flag = builder.alloca(ir.IntType(64))
        builder.store(ir.Constant(ir.IntType(64), 0), flag)
        listening = builder.icmp_unsigned("!=", address, ir.Constant(pointer, None))
        with builder.if_then(listening, likely=False):
            load = builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()))
            load.volatile = True  # another thread writes it
            builder.store(load, flag)
        return builder.icmp_unsigned("!=", builder.load(flag), ir.Constant(ir.IntType(64), 0))

    return types.boolean(), build


# For loops of compiled code.
rings: Any = alarm_rings if _config.DISABLE_JIT else _rings
