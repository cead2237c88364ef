"""The choice: good fits, and among equally good ones the simpler."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.data.roles import Role
from odefinder.expressions.parse import parse
from odefinder.expressions.program import concatenate
from odefinder.inference.choose.criterion import (
    CONSTANT,
    INSIDE,
    LEAST_PER_NODE,
    NETWORK,
    NODE,
    TEMPERATURE,
    WAVE,
    best_fit,
    criterion,
    elsewhere,
    from_inside,
    log_likelihood,
    log_starts,
    log_structure,
    on_front,
    runs_away,
)
from odefinder.inference.choose.description import CONSTANT_COST, NODE_COST, description
from odefinder.inference.fit.refine import FLOOR, Fit
from odefinder.inference.fit.states import estimate_states
from tests.programs import words

DATA = Observations(np.linspace(0.0, 1.0, 100), np.random.default_rng(0).random((100, 1)), np.array([0, 100]))
SHORT, LONG = "mul -0.5 x0", "add mul -0.5 x0 mul 0.1 pow2 x0"


def fit(text: str, error: float) -> Fit:
    return Fit(words(text), np.ones((1, 1)), error)


def test_the_criterion_is_that_of_the_docstring() -> None:
    likelihood = -0.5 * DATA.count * np.log(0.01 + FLOOR)
    expected = TEMPERATURE * likelihood - 3 * NODE_COST - CONSTANT_COST
    assert criterion(fit(SHORT, 0.01), DATA) == pytest.approx(-expected)
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
    noise = 0.03 * np.random.default_rng(1).normal(size=(100, 1))
    data = Observations(DATA.times, np.exp(-3.0 * DATA.times)[:, None] + noise, DATA.bounds)
    estimate = estimate_states(data, smoothed=True)
    right = Fit(words("mul -3.0 x0"), estimate.starts, 0.02)
    wrong = Fit(words("mul 3.0 x0"), np.full((1, 1), 0.01), 0.019)
    assert log_starts(right, data, estimate) > -1.0
    assert log_starts(wrong, data, estimate) < -20.0
    assert best_fit([right, wrong], data) is wrong
    assert best_fit([right, wrong], data, estimate) is right
    exact = estimate_states(data, smoothed=False)  # its initial values are not fitted
    assert log_starts(wrong, data, exact) == 0.0


def test_the_network_is_asked() -> None:
    one = fit(SHORT, 0.01)
    likelihood = -0.5 * TEMPERATURE * DATA.count * np.log(0.01 + FLOOR)
    for probability, counted in ((-5.0, -5.0), (-np.inf, LEAST_PER_NODE * len(one.program))):
        expected = likelihood + NETWORK * counted - CONSTANT - NODE * len(one.program)
        assert criterion(one, DATA, log_probability=probability) == pytest.approx(-expected)


def test_half_a_wave_is_less_likely_than_a_parabola() -> None:
    wave, parabola = words("mul 0.3 sin mul 4.0 x0"), words("add mul 1.2 x0 mul -1.7 pow2 x0")
    assert log_structure(wave, -1.5) < log_structure(parabola, -1.5)
    assert log_structure(wave, -1.5) == pytest.approx(-1.5 * NETWORK - 2 * CONSTANT - 6 * NODE - WAVE)


def test_trajectories_from_elsewhere() -> None:
    paths = elsewhere(words("pow2 x0"), np.array([[0.6]]), DATA)
    assert paths.shape[0] == 2
    assert np.isfinite(paths[0]).all()  # from 0.3
    np.testing.assert_allclose(paths[0, -1, 0], 0.3 / (1.0 - 0.3), rtol=1e-3)
    assert np.isnan(paths[1]).all()  # from 1.2 it has a pole


def test_trajectories_from_inside_the_data() -> None:
    paths = from_inside(words("mul -2 x0"), np.array([[0.5], [1.5]]), DATA)
    assert paths.shape == (INSIDE, paths.shape[1], 1)
    assert (paths[:, 0] > 0.5).all()
    assert (paths[:, 0] < 1.5).all()
    np.testing.assert_allclose(paths[:, -1], np.exp(-2.0) * paths[:, 0], rtol=1e-3)
    assert np.isnan(from_inside(words("mul 50 x0"), np.array([[0.5], [1.5]]), DATA)).all()


def test_the_front() -> None:
    assert on_front([3, 5, 5, 9], [0.3, 0.1, 0.2, 0.1]) == [True, True, False, False]


def test_closer_than_the_given_errors_is_hardly_better() -> None:
    level, count = 1e-4, 200
    known = [log_likelihood(error, count, level) for error in (1e-2, 1e-3, 1e-4, 1e-6, 0.0)]
    free = [log_likelihood(error, count) for error in (1e-2, 1e-3, 1e-4)]
    np.testing.assert_allclose(known[:3], free)
    assert known[2] < known[3] < known[4] < known[2] + 0.51 * count
    assert known[4] - known[3] < 0.01 * count


def test_constants_that_are_not_fitted_cost_nothing() -> None:
    """Those of x' = v, so that systems with named constants can be compared with others."""
    times = np.linspace(1.0, 10.0, 30)
    plain = Observations.joined([times], [np.column_stack([np.sin(times), np.full(30, np.nan)])])
    data = replace(plain, roles=(Role.OBSERVED, Role.VELOCITY), derivative_of=(-1, 0))
    program = concatenate([parse(text, ("x", "v")) for text in ("2*v", "-0.5*x")])
    fit = Fit(program, np.zeros((1, 2)), 0.01)
    explained = TEMPERATURE * log_likelihood(0.01, data.count)
    assert criterion(fit, data) == pytest.approx(description(program, constants=1) - explained)
