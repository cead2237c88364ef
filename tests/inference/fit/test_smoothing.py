"""The Kalman smoother: closer to the truth than the data, with an honest idea of how close."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from odefinder.inference.fit.smoothing import (
    NOISES,
    ROUGHNESSES,
    TINY,
    Smoother,
    likeliest_levels,
    unlikelihood,
)


def noisy_sine(points: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 10.0, points))
    return t, np.sin(t) + noise * rng.normal(size=points)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_noise_level_and_curve(order: int, noise: float) -> None:
    t, x = noisy_sine(150, noise)
    smoother = Smoother([t], [x], order)
    assert smoother.noise == pytest.approx(noise, rel=0.25)
    value, slope, spread = smoother.at(0, t)
    error = value - np.sin(t)
    assert np.sqrt(np.mean(error**2)) < 0.5 * noise
    assert np.mean((error / spread) ** 2) == pytest.approx(1.0, abs=0.8)
    assert np.corrcoef(slope, np.cos(t))[0, 1] > 0.95


def test_little_noise_is_nearly_interpolation() -> None:
    t, x = noisy_sine(80, 1e-4)
    places = np.linspace(t[0], t[-1], 300)
    np.testing.assert_allclose(Smoother([t], [x], 3).at(0, places)[0], np.sin(places), atol=3e-3)


def test_a_nearly_straight_curve_without_noise_does_not_blow_up() -> None:
    """Such a variable may stand next to others that look noisy; rounding errors became 1e227."""
    t = np.linspace(1.0, 9.7, 150)
    x = 0.0385 + 0.11 * t - 0.0007 * t**2
    smoother = Smoother([t], [x], 3)
    smoother.variance, smoother.roughness = TINY, 4.6e-20
    places = np.linspace(t[0], t[-1], 597)
    value, slope, _ = smoother.at(0, places)
    np.testing.assert_allclose(value, 0.0385 + 0.11 * places - 0.0007 * places**2, atol=1e-3)
    np.testing.assert_allclose(slope, 0.11 - 0.0014 * places, atol=1e-2)


def test_a_straight_line_stays_one() -> None:
    t = np.linspace(0.0, 10.0, 60)
    x = 2.0 * t + np.random.default_rng(0).normal(size=60)
    value, slope, _ = Smoother([t], [x], 3).at(0, t)
    np.testing.assert_allclose(slope, 2.0, atol=1.2)
    np.testing.assert_allclose(value, 2.0 * t, atol=1.0)


def test_the_uncertainty_grows_in_a_gap() -> None:
    t, x = noisy_sine(120, 0.05)
    seen = (t < 4.0) | (t > 6.0)
    spread = Smoother([t[seen]], [x[seen]], 3).at(0, np.array([2.0, 5.0]))[2]
    assert spread[1] > 2.0 * spread[0]


def test_trajectories_share_their_noise_level() -> None:
    parts = [noisy_sine(n, 0.1, seed=n) for n in (50, 12, 3, 1)]
    smoother = Smoother([t for t, _ in parts], [x for _, x in parts], 3)
    assert smoother.noise == pytest.approx(0.1, rel=0.35)
    for k, (t, x) in enumerate(parts):
        assert np.abs(smoother.at(k, t)[0] - x).max() < 0.4


def test_the_levels_are_those_that_scipy_finds() -> None:
    t, x = noisy_sine(80, 0.1)
    first = np.arange(len(t)) == 0

    def cost(logs: np.ndarray) -> float:
        noise, roughness = np.exp(np.clip(logs, -40.0, 10.0))
        return unlikelihood(t, x, noise + TINY, first, 3, roughness)

    start = min((np.log(pair) for pair in product(NOISES, ROUGHNESSES)), key=cost)
    options = {"xatol": 0.05, "fatol": 0.02, "maxiter": 60}
    noise, roughness = np.exp(minimize(cost, start, method="Nelder-Mead", options=options).x)
    assert likeliest_levels(t, x, first, 3) == pytest.approx((noise + TINY, roughness), rel=1e-6)
