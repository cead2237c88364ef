"""Whether noise grows with the value, from how well neighbours predict a point."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.inference.fit.noise_shape import relative_variances
from odefinder.inference.fit.states import estimate_states

T = np.linspace(0.0, 5.0, 120)
GROWTH = 0.05 * np.exp(T)  # over two orders of magnitude


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(T))


@pytest.mark.parametrize("seed", range(5))
def test_noise_that_grows_with_the_value(seed: int) -> None:
    level = 0.05 * float(np.sqrt(np.mean(GROWTH**2)))
    (found,) = relative_variances([T], [GROWTH * (1.0 + 0.05 * noise(seed))], [GROWTH], level)
    assert found.mean() == pytest.approx(1.0)
    expected = GROWTH**2 / np.mean(GROWTH**2)
    large = expected > 0.01
    np.testing.assert_allclose(found[large], expected[large], rtol=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_noise_that_does_not(seed: int) -> None:
    (found,) = relative_variances([T], [GROWTH + 0.05 * noise(seed)], [GROWTH], 0.05)
    assert (found == 1.0).all()


def test_trajectories_share_a_shape_and_short_ones_do_not_mind() -> None:
    noisy = GROWTH * (1.0 + 0.05 * noise(0))
    parts = [slice(0, 60), slice(60, 118), slice(118, 120), slice(0, 0)]
    found = relative_variances(*([values[part] for part in parts] for values in (T, noisy, GROWTH)), 0.2)
    assert [len(one) for one in found] == [60, 58, 2, 0]
    assert found[0][0] < 0.01 < found[1][-1]
    few = relative_variances([T[:4]], [noisy[:4]], [GROWTH[:4]], 0.2)
    assert (few[0] == 1.0).all()
    assert relative_variances([], [], [], 0.2) == []


def test_sharp_peaks_between_few_points_are_no_noise() -> None:
    t = np.linspace(0.0, 20.0, 21)
    peaks = np.exp(2.0 * np.sin(2.0 * np.pi * t / 9.6))
    (found,) = relative_variances([t], [peaks * (1.0 + 0.02 * noise(0)[:21])], [peaks], 0.1)
    assert (found == 1.0).all()


def test_a_precise_first_value_is_the_start() -> None:
    """A curve of one smoothness for all values is far off where they are small, and knows it."""
    observed = GROWTH * (1.0 + 0.05 * noise(1))
    estimate = estimate_states(Observations.joined([T], [observed[:, None]]))
    assert estimate.starts[0, 0] == observed[0]
    assert estimate.start_errors[0, 0] < 0.2 * GROWTH[0]
    missing = np.append(np.nan, observed[1:])
    estimate = estimate_states(Observations.joined([T], [missing[:, None]]))
    assert np.isfinite(estimate.starts).all()
