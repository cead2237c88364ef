"""Judging: the truth scores full marks, what is wrong does not."""

import pytest

from odefinder.bench.protocol import COLUMNS, MEASURED, Fitted, Status, judge, same_structure
from odefinder.bench.sets import load_set
from odefinder.bench.tasks import make_tasks
from odefinder.system import ODESystem
from tests.programs import words

LOTKA_VOLTERRA = next(s for s in load_set("strogatz") if s.id == "lv")
TASK = next(make_tasks("strogatz", [LOTKA_VOLTERRA], sigmas=(0.05,), rhos=(0.5,)))


def judged(text: str):
    return judge(
        "me", TASK, Fitted(Status.OK, program=ODESystem.from_text(text).program, wall_s=2.0, cpu_s=1.0)
    )


def test_the_truth() -> None:
    result = judge("oracle", TASK, Fitted(Status.OK, program=TASK.truth))
    assert result.status == "ok"
    assert result.reconstruction == pytest.approx(1.0, abs=1e-9)
    assert result.generalization == pytest.approx(1.0, abs=1e-9)
    assert result.same_structure
    assert ODESystem.from_text(result.equations.replace("; ", "\n")).program == TASK.truth
    assert result.key == ("oracle", "lv", 1, 0.05, 0.5)
    assert (result.set, result.dimension, result.seed) == ("strogatz", 2, TASK.seed)


def test_the_structure_is_that_of_the_canonical_form() -> None:
    same = judged("x0' = x0*(3.01 - x0 - 2*x1); x1' = x1*(1.99 - x0 - x1)")
    assert same.same_structure
    assert 0.9 < same.reconstruction < 1.0
    other = judged("x0' = -x0 + 1; x1' = 3 - x1 - x0")
    assert not other.same_structure
    assert other.complexity == len(ODESystem.from_text(other.equations.replace("; ", "\n")).program)
    assert not same_structure(words("inv 0"), words("x0"))


def test_a_system_that_diverges() -> None:
    result = judged("x0' = x0^3; x1' = x1")
    assert result.status == "diverged"
    assert result.reconstruction is None
    assert result.generalization is None
    assert result.complexity is not None


@pytest.mark.parametrize("status", [s for s in Status if s != Status.OK])
def test_failures(status: Status) -> None:
    result = judge("me", TASK, Fitted(status, "why", wall_s=3.0))
    assert (result.status, result.message, result.wall_s) == (str(status), "why", 3.0)
    assert (result.reconstruction, result.generalization, result.complexity) == (None, None, None)
    assert not result.same_structure


def test_what_is_measured_comes_last() -> None:
    assert COLUMNS[-3:] == MEASURED
