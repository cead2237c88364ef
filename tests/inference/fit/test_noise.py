"""Errors of observations: their shape, a few outliers, and what is given."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.inference.fit.noise import least_error, observation_errors, without_outliers
from odefinder.inference.fit.refine import residual_weights
from odefinder.inference.fit.states import estimate_states
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import held

T = np.linspace(0.0, 10.0, 200)
CLEAN = np.stack([1.0 + 5.0 * np.exp(-T), 2.0 + np.sin(T)], axis=1)
XI = np.random.default_rng(3).normal(size=CLEAN.shape)


def one(states: np.ndarray) -> Observations:
    return Observations.joined([T], [states])


def test_noise_that_grows_with_the_value() -> None:
    data = one(CLEAN * (1.0 + 0.05 * XI))
    errors = observation_errors(data, estimate_states(data))
    assert errors is not None
    relative = errors[:, 0] / CLEAN[:, 0]
    assert relative.max() / relative.min() < 1.6
    assert np.median(relative) == pytest.approx(0.05, rel=0.3)


def test_noise_that_does_not() -> None:
    data = one(CLEAN + 0.05 * XI)
    errors = observation_errors(data, estimate_states(data))
    assert errors is not None
    assert np.ptp(errors, axis=0).max() == 0.0
    np.testing.assert_allclose(errors[0], 0.05, rtol=0.2)


def test_exact_data_have_none() -> None:
    data = one(CLEAN)
    assert observation_errors(data, estimate_states(data)) is None
    assert without_outliers(data, estimate_states(data)) == (data, 0)


def test_given_errors_stay() -> None:
    given = np.full(CLEAN.shape, 0.2)
    given[3, 1] = np.nan
    data = replace(one(CLEAN + 0.05 * XI), errors=given)
    errors = observation_errors(data, estimate_states(data))
    assert errors is not None
    assert (errors[np.isfinite(given)] == 0.2).all()
    assert errors[3, 1] == pytest.approx(0.05, rel=0.2)


def test_a_few_outliers_are_left_out() -> None:
    states = CLEAN + 0.05 * XI
    states[[40, 120], 1] += 2.0
    cleaned, count = without_outliers(one(states), estimate_states(one(states)))
    assert count == 2
    assert np.isnan(cleaned.states[[40, 120], 1]).all()
    assert np.isfinite(cleaned.states).sum() == states.size - 2


def test_errors_weight_residuals_and_keep_their_size() -> None:
    data = one(CLEAN)
    assert residual_weights(data)[0] == pytest.approx(1.0 / data.scale)
    errors = np.where(np.arange(len(T))[:, None] < 100, 0.1, 0.3) * data.scale
    weighted = residual_weights(replace(data, errors=errors)) * data.scale
    assert weighted[0] / weighted[-1] == pytest.approx(3.0)
    assert np.mean((weighted * errors / data.scale) ** 2) == pytest.approx((0.1**2 + 0.3**2) / 2.0)
    given = replace(data, errors=np.full(CLEAN.shape, np.nan))
    assert np.isfinite(residual_weights(given)).all()


def test_given_errors_say_how_close_is_close_enough() -> None:
    data = one(CLEAN)
    assert least_error(data) == 0.0
    given = np.full(CLEAN.shape, 0.1)
    expected = np.mean((0.1 / data.scale) ** 2)
    assert least_error(replace(data, errors=given)) == pytest.approx(expected)
    given[3, 0] = np.nan
    assert least_error(replace(data, errors=given)) == 0.0


def test_a_kink_at_a_jump_of_an_input_is_no_outlier() -> None:
    states = CLEAN + 0.05 * XI
    states[[40, 120], 1] += 2.0
    data = one(states)
    step = held([T[0], T[40]], [[0.0], [1.0]])
    driven = replace(data, signals=(step,), known=values_at(step, T))
    cleaned, count = without_outliers(driven, estimate_states(data))
    assert count == 1
    assert np.isfinite(cleaned.states[40, 1])
    assert np.isnan(cleaned.states[120, 1])
