"""Replicates are averaged, and their spread tells the noise."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.data.replicates import average_replicates

RANDOM = np.random.default_rng(0)
T = np.repeat(np.linspace(0.0, 9.0, 100), 4)
TRUTH = np.exp(0.3 * T)


@pytest.mark.parametrize("kind", ["constant", "proportional"])
def test_the_noise_is_found(kind: str) -> None:
    noise = 0.2 * np.ones_like(T) if kind == "constant" else 0.05 * TRUTH
    values = (TRUTH + noise * RANDOM.normal(size=T.shape))[:, None]
    found = average_replicates(T, values, None)
    assert found.times.shape == (100,)
    np.testing.assert_allclose(found.errors[:, 0], noise[::4] / 2.0, rtol=0.15)
    np.testing.assert_allclose(found.states[:, 0], TRUTH[::4], atol=5.0 * noise.max() / 2.0)


def test_missing_values_and_given_errors() -> None:
    t = np.array([0.0, 0.0, 1.0, 1.0, 2.0])
    x = np.array([[1.0, 5.0], [3.0, np.nan], [2.0, np.nan], [4.0, np.nan], [7.0, 1.0]])
    found = average_replicates(t, x, None)
    np.testing.assert_array_equal(found.states, [[2.0, 5.0], [3.0, np.nan], [7.0, 1.0]])
    assert np.isnan(found.errors).all()  # two pairs are too few
    given = average_replicates(t, x, np.full(x.shape, 0.2))
    np.testing.assert_allclose(given.errors[:, 0], [0.2 / np.sqrt(2.0), 0.2 / np.sqrt(2.0), 0.2])
    assert np.isnan(given.errors[1, 1])


def test_a_dataset_with_replicates() -> None:
    t = np.repeat(np.arange(6.0), 3)
    x = np.sin(t) + 0.1 * RANDOM.normal(size=18)
    dataset = from_arrays(x, t)
    assert len(dataset.times[0]) == 6
    assert np.isfinite(dataset.errors[0]).all()
    (note,) = dataset.notes
    assert "6 of 6 times occur more than once" in note
    assert "taken as replicates and averaged" in note
    assert "trajectory=" in note
    given = from_arrays(x, t, errors=np.full(18, 0.3))
    np.testing.assert_allclose(given.errors[0], 0.3 / np.sqrt(3.0))


def test_one_repeated_time_says_nothing_about_the_noise() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0, 3.0])
    dataset = from_arrays(np.arange(5.0), t)
    assert dataset.states[0][:, 0].tolist() == [0.0, 1.0, 2.0, 3.5]
    assert dataset.errors == ()
