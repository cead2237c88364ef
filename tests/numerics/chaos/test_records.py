"""Even grids, time scales, delay embedding."""

import numpy as np
import pytest

from odefinder.errors import DataError
from odefinder.numerics.chaos.records import delay_embedded, even_grid, mean_period

TIMES = np.linspace(0.0, 50.0, 2001)
CIRCLE = np.stack([np.sin(3.0 * TIMES), np.cos(3.0 * TIMES)], axis=1)


def test_the_period_of_an_oscillation() -> None:
    assert mean_period(TIMES, CIRCLE) == pytest.approx(2.0 * np.pi / 3.0, rel=0.01)


def test_noise_and_uneven_times_hardly_change_it() -> None:
    rng = np.random.default_rng(0)
    kept = np.sort(rng.choice(len(TIMES), 1200, replace=False))
    noisy = CIRCLE[kept] + 0.1 * rng.normal(size=(1200, 2))
    assert mean_period(TIMES[kept], noisy) == pytest.approx(2.0 * np.pi / 3.0, rel=0.05)


def test_a_record_that_stands_still_has_none() -> None:
    with pytest.raises(DataError, match="nothing changes"):
        mean_period(TIMES, np.ones((len(TIMES), 2)))


def test_even_times_stay_as_they_are() -> None:
    step, states = even_grid(TIMES, CIRCLE)
    assert step == pytest.approx(0.025)
    assert np.array_equal(states, CIRCLE)


def test_gaps_are_interpolated() -> None:
    holes = CIRCLE.copy()
    holes[100:103] = np.nan
    _, states = even_grid(TIMES, holes)
    assert states == pytest.approx(CIRCLE, abs=0.02)


def test_delay_embedding() -> None:
    states = np.arange(12.0).reshape(6, 2)
    assert delay_embedded(states, 2, 2).tolist() == [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7, 10, 11]]
    assert np.array_equal(delay_embedded(states, 0, 1), states)
    with pytest.raises(DataError, match="too few"):
        delay_embedded(states, 3, 2)
