"""Fits in processes of their own: whatever a method does is an outcome, and the next fit runs."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from odefinder.bench.isolation import Isolation
from odefinder.bench.methods.method import Method
from odefinder.bench.protocol import Status
from tests.bench import hostile

T = np.linspace(0.0, 1.0, 20)
X = np.stack([np.exp(-T), np.exp(-T)], axis=1)
GB = 2.0**30


@pytest.fixture(scope="module")
def isolation() -> Iterator[Isolation]:
    with Isolation(time_limit=20.0, memory_limit=0.25 * GB) as place:
        yield place


def fit(isolation: Isolation, name: str, time_limit: float = 20.0):
    isolation.time_limit = time_limit
    return isolation.fit(hostile.ALL[name], T, X, 0)


def test_a_method_that_prints(isolation: Isolation) -> None:
    fitted = fit(isolation, "fine")
    assert (fitted.status, fitted.message) == (Status.OK, "")
    assert fitted.program == hostile.decay(2)
    assert 0.0 < fitted.wall_s < 5.0
    assert 5.0 < fitted.memory_mb < 500.0


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("leave", Status.CRASH, "the process ended without a result (exit 3)"),
        ("segfault", Status.CRASH, "the process was ended by SIGSEGV"),
        (
            "fail",
            Status.CRASH,
            "ZeroDivisionError: of the method, <object object at 0x...> in hostile.py, 1/2",
        ),
        ("stop", Status.CRASH, "SystemExit: I quit"),
        ("give_up", Status.INVALID, "found nothing"),
        ("nothing", Status.INVALID, "the method returned None, which is not a Program"),
        ("text", Status.INVALID, 'the method returned "x\' = -x", which is not a Program'),
        ("too_many", Status.INVALID, "2 variables need 2 equations, the program has 3"),
        ("not_finite", Status.INVALID, "a program's constants must be finite numbers"),
        ("cut_off", Status.INVALID, "the program ends too early: 1 argument(s) missing"),
        ("rubbish", Status.INVALID, "the method returned an invalid Program"),
        ("eat", Status.MEMORY, "it used more than 0.25 GB"),
        ("kill_the_warden", Status.CRASH, "the process that starts fits has died"),
    ],
)
def test_what_goes_wrong_is_an_outcome(isolation: Isolation, name: str, status: str, message: str) -> None:
    fitted = fit(isolation, name)
    assert fitted.status == status
    assert fitted.message.startswith(message)
    assert fitted.program is None
    assert fit(isolation, "fine").status == Status.OK


def test_memory_is_watched_closely(isolation: Isolation) -> None:
    """Eating at full speed, the process is killed before it holds a multiple of the limit."""
    assert fit(isolation, "eat").memory_mb < 600.0


def test_time_is_up(isolation: Isolation) -> None:
    fitted = fit(isolation, "hang", time_limit=0.3)
    assert (fitted.status, fitted.message) == (Status.TIMEOUT, "no result within 0.3 s")
    assert 0.3 <= fitted.wall_s < 60.0  # a guard against hanging, not a measurement
    assert fit(isolation, "fine").status == Status.OK


def test_children_are_killed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    with Isolation(1.0, GB) as place:
        assert place.fit(hostile.ALL["hang_with_children"], T, X, 0).status == Status.TIMEOUT
        children = [int(word) for word in pids.read_text().split()]
        assert len(children) == 2
        if Path("/proc").exists():  # elsewhere one that left the group escapes
            assert not any(alive(child) for child in children)


def test_cpu_seconds_include_children(isolation: Isolation) -> None:
    fitted = fit(isolation, "burn")
    assert fitted.status == Status.OK, fitted.message
    assert 1.0 <= fitted.cpu_s < 2.0


def test_a_method_that_cannot_be_sent(isolation: Isolation) -> None:
    fitted = isolation.fit(Method("local", "Local", lambda t, x, seed: hostile.decay(1)), T, X, 0)
    assert fitted.status == Status.CRASH
    assert "cannot be sent to another process" in fitted.message


def test_preparing(isolation: Isolation) -> None:
    """Problems there are left to the fit; a module that is needed is imported before."""
    method = replace(hostile.ALL["fine"], name="unprepared", prepare=broken_preparation)
    assert isolation.fit(method, T, X, 0).status == Status.OK
    method = replace(hostile.ALL["fine"], name="needy", needs=("no_such_module", "fractions"))
    assert isolation.fit(method, T, X, 0).status == Status.OK


def broken_preparation() -> None:
    raise OSError("no such library")


def test_closed(tmp_path: Path) -> None:
    place = Isolation(5.0, GB)
    assert place.fit(hostile.ALL["fine"], T, X, 0).status == Status.OK
    warden = place._warden
    assert warden is not None
    place.close()
    assert warden.poll() == 0
    assert place.fit(hostile.ALL["fine"], T, X, 0).message == "the run was stopped"


def test_without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: every fit starts Python again."""
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr("odefinder.bench.isolation.START", "import os; del os.fork; " + START)
    with Isolation(1.0, GB) as place:
        assert place.fit(hostile.ALL["fine"], T, X, 0).program == hostile.decay(2)
        fitted = place.fit(hostile.ALL["hang"], T, X, 0)
        assert (fitted.status, fitted.message) == (Status.TIMEOUT, "no result within 1 s")
        assert place.fit(hostile.ALL["segfault"], T, X, 0).status == Status.CRASH


START = "from odefinder.bench.warden import main; main()"


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split()[2]
    except OSError:
        return False
