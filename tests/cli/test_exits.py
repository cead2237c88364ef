"""What becomes of a Ctrl-C that arrives in a callback, where Python prints exceptions and goes on."""

import ctypes
import signal
import sys
import time

import pytest

from odefinder.cli.exits import keep_interrupts


@pytest.fixture(autouse=True)
def _usual_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)


def called_back(problem: type[BaseException]) -> None:
    """Raise it where C code calls Python."""

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        raise problem

    callback()


def _wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def test_ctrl_c_in_a_callback_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    keep_interrupts()
    called_back(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        _wait(10.0)
    assert "Traceback" not in capfd.readouterr().err


def test_other_problems_in_a_callback_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    keep_interrupts()
    called_back(ValueError)
    assert "ValueError" in capfd.readouterr().err
