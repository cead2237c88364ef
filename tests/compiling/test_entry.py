"""Ctrl-C while a function is compiled, or loaded from the cache."""

import signal
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import event
from numba.core.registry import CPUDispatcher

from odefinder.compiling.jit import compiled


def thrice(x: float) -> float:
    return 3.0 * x


class Impatient(event.Listener):
    """Presses Ctrl-C in the middle of the first pass of the compiler, and counts the passes."""

    def __init__(self) -> None:
        self.begun = 0

    def on_start(self, event: Any) -> None:
        self.begun += 1
        if self.begun == 1:
            signal.raise_signal(signal.SIGINT)

    def on_end(self, event: Any) -> None:
        pass


def test_it_is_heard_between_two_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    function, impatient = compiled(thrice), Impatient()
    with pytest.raises(KeyboardInterrupt), event.install_listener("numba:run_pass", impatient):
        function(1.5)
    assert impatient.begun <= 2
    assert function(1.5) == 4.5  # compiled again, as a whole


def test_it_breaks_nothing_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a call of llvmlite it led to "double free", and in a callback it was lost."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    ended = []

    def compile_(entry: Any, signature: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        ended.append(signature)

    monkeypatch.setattr(CPUDispatcher, "compile", compile_)
    with pytest.raises(KeyboardInterrupt):
        compiled(thrice).compile((numba.float64,))  # type: ignore[attr-defined]
    assert ended == [(numba.float64,)]
