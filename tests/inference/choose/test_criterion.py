"""The choice: good fits, and among equally good ones the simpler."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.inference.choose.criterion import (
    LEAST_PER_NODE,
    LIKELIHOOD_SHARE,
    START_WEIGHT,
    WEIGHT_SPREAD,
    best_fit,
    criterion,
    on_front,
    relative_weights,
    runs_away,
    start_error,
)
from odefinder.inference.fit.refine import Fit
from tests.programs import words

DATA = Observations(np.linspace(0.0, 1.0, 100), np.random.default_rng(0).random((100, 1)), np.array([0, 100]))
SHORT, LONG = "mul -0.5 x0", "add mul -0.5 x0 mul 0.1 pow2 x0"


def fit(text: str, error: float) -> Fit:
    return Fit(words(text), np.ones((1, 1)), error)


def test_the_criterion_is_that_of_the_docstring() -> None:
    n = DATA.states.size
    assert criterion(fit(SHORT, 0.01), DATA) == pytest.approx(n * np.log(0.01) + (1 + 1.5) * np.log(n))
    assert criterion(fit(LONG, np.inf), DATA) == np.inf


def test_simpler_if_equally_good() -> None:
    simple, large = fit(SHORT, 0.02), fit(LONG, 0.02)
    assert best_fit([large, simple], DATA) is simple
    assert best_fit([simple, large], DATA) is simple


def test_larger_if_clearly_better() -> None:
    simple, large = fit(SHORT, 0.02), fit(LONG, 0.01)
    assert best_fit([simple, large], DATA) is large
    # Two per cent of error do not buy seven nodes and two constants.
    assert best_fit([simple, fit(LONG, 0.0196)], DATA) is simple


def test_below_the_floor_fits_are_equally_exact() -> None:
    simple, large = fit(SHORT, 1e-12), fit(LONG, 1e-20)
    assert best_fit([large, simple], DATA) is simple
    assert np.isfinite(criterion(fit(SHORT, 0.0), DATA))


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("pow2 x0", 0.6, True),  # from 1.2 it has a pole at 1 / 1.2
        ("pow2 x0", 0.4, False),
        ("mul -1 x0", 0.6, False),
        ("add 1 mul -1 pow2 x0", -0.8, True),  # from -1.6 it falls without end
        ("mul -1 inv x0", 1.0, True),  # from 0.5 it falls into the pole at 0
    ],
)
def test_running_away_from_half_or_twice_the_initial_values(text: str, start: float, expected: bool) -> None:
    assert runs_away(words(text), np.array([[start]]), DATA) == expected


def test_what_cannot_be_integrated_is_never_chosen() -> None:
    good = fit(LONG, 100.0)
    assert best_fit([fit(SHORT, np.inf), good, fit(SHORT, np.nan)], DATA) is good
    assert best_fit([fit(SHORT, np.inf)], DATA) is None
    assert best_fit([], DATA) is None


def test_a_fit_that_needs_initial_values_of_its_own_is_not_chosen() -> None:
    """x' = 3 x is said to fit better, but does not from where the data begin."""
    data = Observations(DATA.times, np.exp(-3.0 * DATA.times)[:, None], DATA.bounds)
    right = Fit(words("mul -3.0 x0"), np.ones((1, 1)), 0.02)
    wrong = Fit(words("mul 3.0 x0"), np.zeros((1, 1)), 0.01)
    assert best_fit([right, wrong], data) is wrong
    assert best_fit([right, wrong], data, starts=np.ones((1, 1))) is right
    assert start_error(right, data, np.ones((1, 1))) < 1e-10 < start_error(wrong, data, np.ones((1, 1)))


def test_the_network_is_asked_and_smoothed_starts_count() -> None:
    one = fit(SHORT, 0.01)
    n = DATA.count
    base = n * np.log(0.01)
    size = (1 + 1.5) * np.log(n)
    judged = LIKELIHOOD_SHARE * (base + 0.5 * size)
    assert criterion(one, DATA, log_probability=-5.0) == pytest.approx(judged + 10.0)
    floor = -2.0 * LEAST_PER_NODE * len(one.program)
    assert criterion(one, DATA, log_probability=-np.inf) == pytest.approx(judged + floor)
    worse = criterion(one, DATA, from_smoothed=0.02)
    assert worse == pytest.approx(base + size + START_WEIGHT * np.log(2.0))
    assert np.isfinite(criterion(one, DATA, from_smoothed=np.inf))


def test_weights_and_front() -> None:
    weights = relative_weights(np.array([10.0, 10.0 + 2.0 * WEIGHT_SPREAD, 400.0]))
    np.testing.assert_allclose(weights, [0.7310586, 0.2689414, 0.0], atol=1e-6)
    assert on_front([3, 5, 5, 9], [0.3, 0.1, 0.2, 0.1]) == [True, True, False, False]
