"""Alarms that compiled code hears."""

import subprocess
import sys
import threading
import time

from odefinder.compiling.jit import compiled, kernel
from odefinder.limits.alarm import Alarm, alarm_rings, no_alarm, rings

LONG = 10**11  # turns of a loop: minutes


@kernel
def _helper() -> bool:
    return bool(rings())


@compiled
def count(turns: int) -> int:
    """Turns of a loop until the alarm rings."""
    for k in range(turns):
        if _helper():
            return k
    return turns


def test_without_an_alarm_nothing_rings() -> None:
    assert count(1000) == 1000
    assert not alarm_rings()


def test_a_loop_ends_when_its_time_is_over() -> None:
    count(1)
    begin = time.perf_counter()
    with Alarm(0.05) as alarm:
        assert 0 < count(LONG) < LONG
        assert alarm_rings()
    assert time.perf_counter() - begin < 5.0
    assert alarm.rings
    assert count(1000) == 1000


def test_another_thread_hears_nothing() -> None:
    found = []
    with Alarm(0.0):
        thread = threading.Thread(target=lambda: found.append(count(1000)))
        thread.start()
        thread.join()
        assert count(1000) == 0
    assert found == [1000]


def test_another_thread_may_ring() -> None:
    alarm = Alarm()
    threading.Timer(0.05, alarm.ring).start()
    with alarm:
        assert count(LONG) < LONG


def test_alarms_are_nested_and_what_must_be_done_is_done() -> None:
    with Alarm(0.0):
        with Alarm():
            assert count(1000) == 1000
        assert count(1000) == 0
        with no_alarm():
            assert count(1000) == 1000
        assert count(1000) == 0


def test_an_alarm_can_be_entered_again() -> None:
    alarm = Alarm()
    with alarm:
        assert count(10) == 10
    alarm.ring()
    with alarm:
        assert count(10) == 0


def test_compiled_functions_find_the_alarm_in_another_process() -> None:
    """From the cache on disk, where addresses differ."""
    source = (
        "from tests.limits.test_alarm import count, Alarm\n"
        "assert count(10) == 10\n"
        "with Alarm(0.0): assert count(10) == 0\n"
        "print(count.stats.cache_hits)\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
        for _ in range(2)
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
