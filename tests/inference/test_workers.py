"""Calls in other processes: what ends one of them costs that call alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from odefinder import ODEFormer
from odefinder.compiling.cache import child_environment
from odefinder.errors import NoSystemError, WorkerError
from odefinder.inference.workers import run_apart

T = np.linspace(0.0, 4.0, 30)


def double(value: int) -> int:
    if value == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if value == 4:
        raise NoSystemError("nothing")
    print("this is no answer")
    return 2 * value


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process_costs_one_call() -> None:
    results = run_apart([(double, (value,)) for value in range(6)], 2)
    assert [one for one in results if isinstance(one, int)] == [0, 2, 4, 10]
    assert isinstance(results[3], WorkerError)
    assert "signal 9" in str(results[3])
    assert isinstance(results[4], NoSystemError)


def test_what_cannot_be_sent_is_an_error() -> None:
    results = run_apart([(double, (sys.stdin,)), (double, (1,))], 1)  # type: ignore[arg-type]
    assert isinstance(results[0], WorkerError)
    assert results[1] == 2


def killing() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Poison:
    """Kills the process that unpacks it."""

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return killing, ()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_worker_costs_one_data_set() -> None:
    data = [(np.exp(-rate * T), T) for rate in (0.5, 1.0, 2.0)]
    model = ODEFormer(network=False, time_budget=30.0)
    models = model.fit_many([data[0], (Poison(), T), *data[1:]], n_jobs=2)
    assert isinstance(models[1].error_, WorkerError)
    assert [str(models[k].system_) for k in (0, 2, 3)] == ["x0' = -0.5*x0", "x0' = -x0", "x0' = -2*x0"]
    alone = model.copy().fit(*data[0])
    assert str(alone) == str(models[0])


SLEEPING = """
import os, sys, time
from odefinder.inference.workers import run_apart
def sleep():
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(600)
run_apart([(sleep, ())], 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    source = SLEEPING.replace("sys.argv[1]", repr(str(note)))
    parent = subprocess.Popen([sys.executable, "-c", source], env=child_environment())
    for _ in range(600):
        if note.exists() and note.read_text():
            break
        time.sleep(0.1)
    worker = int(note.read_text())
    parent.kill()
    parent.wait()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker lives on")
