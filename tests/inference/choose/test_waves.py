"""Known equations with waves: of two that pass the same points, the slower one is taken."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.given import Given
from odefinder.data.observations import Observations
from odefinder.expressions.parse import parse
from odefinder.inference.choose.search import Search
from odefinder.inference.fit.states import estimate_states

TIMES = np.arange(1.0, 26.0)
PHASE = TIMES - 1.0
STATES = np.stack([0.5 * np.sin(2.0 * PHASE), PHASE], axis=1)  # of x' = cos(2 p), p' = 1
ALIAS = 2.0 * np.pi - 2.0  # half of its waves are missed
NAMES = ["x", "p", "a", "w"]


def search(size: float, frequency: float, limits: tuple[float, float] = (-np.inf, np.inf)) -> Search:
    given = Given(
        parts=(parse("a*cos(w*p)", NAMES), parse("1", NAMES)), whole=(True, True), variables=2,
        values=np.array([[size], [frequency]]), varied=(False, False),
        lower=np.array([-np.inf, limits[0]]), upper=np.array([np.inf, limits[1]]), units=np.ones(2),
    )  # fmt: skip
    data = replace(Observations.joined([TIMES], [STATES]), given=given)
    return Search(data, estimate_states(data, smoothed=False))


def constants(found: Search) -> np.ndarray:
    [best] = found.run([])
    assert best.fit.error < 1e-6
    return best.fit.program.constants[-2:]


@pytest.mark.parametrize(("size", "frequency"), [(1.0, 2.0), (-ALIAS / 2.0, ALIAS)])
def test_the_slower_wave_is_taken(size: float, frequency: float) -> None:
    assert np.abs(constants(search(size, frequency))) == pytest.approx([1.0, 2.0], rel=1e-3)


def test_a_wave_that_must_be_fast_is_kept() -> None:
    found = constants(search(-ALIAS / 2.0, ALIAS, limits=(4.0, 5.0)))
    assert found == pytest.approx([-ALIAS / 2.0, ALIAS], rel=1e-3)
