"""Deadlines end what is compiled, too."""

import time

import numpy as np

from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import Deadline
from tests.limits.test_alarm import LONG, count


def test_compiled_code_ends_with_the_deadline() -> None:
    count(1)
    deadline = Deadline(0.05)
    with deadline:
        assert count(LONG) < LONG
    assert deadline.over
    assert not alarm_rings()


def test_a_stopped_deadline_rings() -> None:
    deadline = Deadline(np.inf)
    with deadline:
        assert count(10) == 10
        deadline.stop()
        assert count(10) == 0
    assert deadline.over
    assert deadline.left == 0.0


def test_limits_behind_a_budget_begin_where_it_does() -> None:
    begin = time.perf_counter() - 5.0
    deadline = Deadline(2.0, begin)
    assert deadline.over
    assert deadline.within(1.5, 3.0) == Deadline(6.0, begin)
    deadline.stop()
    assert 0.0 < deadline.within(1.5, 3.0).left <= 3.0
