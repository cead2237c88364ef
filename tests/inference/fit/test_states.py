"""States behind observations: exact where the data are clean, better than the data where they are noisy."""

import numpy as np
import pytest

from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.inference.fit.states import estimate_states, states_of_model
from odefinder.system import ODESystem

OSCILLATOR = ODESystem.from_text(["y", "-x"], variables=["x", "y"]).program


def circle(t: np.ndarray) -> np.ndarray:
    """The oscillator's trajectory from (0, 1)."""
    return np.stack([np.sin(t), np.cos(t)], axis=1)


def one(t: np.ndarray, x: np.ndarray) -> Observations:
    return Observations(t, x, np.array([0, len(t)]))


def observed(sigma: float = 0.0, rho: float = 0.0, points: int = 120) -> Observations:
    t = np.linspace(1.0, 10.0, points)
    return one(*corrupt(t, circle(t), sigma=sigma, rho=rho, seed=1))


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_clean_data_are_interpolated(rho: float) -> None:
    data = observed(rho=rho)
    estimate = estimate_states(data)
    assert not estimate.smoothed
    assert estimate.noise.max() < 1e-4
    np.testing.assert_allclose(estimate.states, data.states, atol=1e-12)
    np.testing.assert_allclose(estimate.nodes, circle(estimate.node_times), atol=1e-5)
    np.testing.assert_allclose(estimate.derivatives[:, 0], np.cos(data.times), atol=1e-4)
    np.testing.assert_array_equal(estimate.starts, estimate.states[:1])


@pytest.mark.parametrize("sigma", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_noise_is_detected_and_smoothed(sigma: float, rho: float) -> None:
    data = observed(sigma=sigma, rho=rho)
    estimate = estimate_states(data)
    truth = circle(data.times)
    assert estimate.smoothed
    # Noise proportional to a sine has a standard deviation of sigma / sqrt(2).
    np.testing.assert_allclose(estimate.noise, sigma / np.sqrt(2.0), rtol=0.3)
    error = np.sqrt(np.mean((estimate.states - truth) ** 2, axis=0))
    assert (error < 0.6 * np.sqrt(np.mean((data.states - truth) ** 2, axis=0))).all()
    assert (estimate.error < 2.5 * error).all()
    assert (estimate.error > 0.4 * error).all()


def test_integrals_along_the_states_are_of_high_order() -> None:
    data = observed()
    estimate = estimate_states(data)
    found = estimate.integrals(estimate.nodes**2)
    t = data.times
    expected = (t - 1.0) / 2.0 - (np.sin(2.0 * t) - np.sin(2.0)) / 4.0
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-8)
    np.testing.assert_allclose(found[:, 0] + found[:, 1], t - 1.0, atol=1e-8)


def test_integrals_restart_with_every_trajectory() -> None:
    times = [np.linspace(1.0, 10.0, 60), np.linspace(1.0, 5.0, 30)]
    data = Observations(
        np.concatenate(times), np.concatenate([circle(t) for t in times]), np.array([0, 60, 90])
    )
    estimate = estimate_states(data)
    assert estimate.starts.shape == (2, 2)
    found = estimate.integrals(np.ones(len(estimate.weights)))
    np.testing.assert_allclose(found, data.times - 1.0, atol=1e-12)


def test_missing_entries_of_each_variable() -> None:
    data = observed()
    states = data.states.copy()
    states[::3, 0], states[1::4, 1], states[-2:, 1] = np.nan, np.nan, np.nan
    estimate = estimate_states(one(data.times, states))
    assert not estimate.smoothed
    np.testing.assert_allclose(estimate.states[:-2], data.states[:-2], atol=5e-3)
    assert np.isfinite(estimate.nodes).all()
    noisy = one(data.times, states * (1.0 + 0.05 * np.random.default_rng(0).normal(size=states.shape)))
    estimate = estimate_states(noisy)
    assert estimate.smoothed
    assert np.abs(estimate.states[:-2] - data.states[:-2]).max() < 0.1


@pytest.mark.parametrize("points", [2, 3, 5, 9])
@pytest.mark.parametrize("noisy", [None, True])
def test_few_points(points: int, noisy: bool | None) -> None:
    t = np.linspace(1.0, 2.0, points)
    estimate = estimate_states(one(t, circle(t)), smoothed=noisy)
    np.testing.assert_allclose(estimate.states, circle(t), atol=0.02)
    assert estimate.integrals(estimate.nodes)[-1, 1] == pytest.approx(np.sin(2) - np.sin(1), abs=0.05)


def test_a_constant_variable_and_one_that_is_never_seen() -> None:
    t = np.linspace(1.0, 10.0, 50)
    states = np.stack([np.full(50, 0.7), np.full(50, np.nan), np.sin(t)], axis=1)
    estimate = estimate_states(one(t, states))
    np.testing.assert_allclose(estimate.nodes[:, 0], 0.7)
    assert estimate.noise[0] < 1e-12
    assert np.isfinite(estimate.nodes).all()


def test_several_trajectories_pool_their_noise() -> None:
    times = [np.linspace(1.0, 10.0, n) for n in (60, 40, 8, 2)]
    parts = [corrupt(t, circle(t), sigma=0.05, seed=k)[1] for k, t in enumerate(times)]
    bounds = np.cumsum([0, *map(len, times)])
    estimate = estimate_states(Observations(np.concatenate(times), np.concatenate(parts), bounds))
    assert estimate.smoothed
    np.testing.assert_allclose(estimate.noise, 0.05 / np.sqrt(2.0), rtol=0.35)


def test_the_trajectory_of_a_model_as_the_estimate() -> None:
    data = observed(sigma=0.05)
    before = estimate_states(data)
    start = circle(np.ones(1))
    estimate = states_of_model(OSCILLATOR, start, data, before)
    assert estimate is not None
    np.testing.assert_allclose(estimate.states, circle(data.times), atol=1e-5)
    np.testing.assert_allclose(estimate.nodes, circle(estimate.node_times), atol=1e-5)
    np.testing.assert_allclose(estimate.derivatives[:, 1], -np.sin(data.times), atol=1e-5)
    np.testing.assert_array_equal(estimate.noise, before.noise)
    explosion = ODESystem.from_text(["x^2", "100*y^3"], variables=["x", "y"]).program
    assert states_of_model(explosion, start, data, before) is None


def test_what_the_truth_leaves_is_the_noise_of_what_was_seen() -> None:
    t = np.linspace(0.0, 6.0, 150)
    states = circle(t) + 0.05 * np.random.default_rng(2).normal(size=(150, 2))
    data = one(t, states)
    assert estimate_states(data, smoothed=True).left(data) == pytest.approx(
        np.mean((0.05 / data.scale) ** 2), rel=0.3
    )
    assert estimate_states(data, smoothed=False).left(data) == 0.0
    unseen = one(t, np.column_stack([states[:, 0], np.full(150, np.nan)]))
    expected = (0.05 / unseen.scale[0]) ** 2
    assert estimate_states(unseen, smoothed=True).left(unseen) == pytest.approx(expected, rel=0.4)
