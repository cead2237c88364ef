"""Noise and subsampling."""

import numpy as np
import pytest

from odefinder.data.corruption import corrupt
from odefinder.errors import DataError, SettingsError

T = np.linspace(0.0, 10.0, 101)
X = np.stack([np.cos(T), np.sin(T)], axis=1)


def test_without_corruption_nothing_changes():
    t, x = corrupt(T, X)
    assert np.array_equal(t, T)
    assert np.array_equal(x, X)


def test_the_seed_decides():
    first, again, other = (corrupt(T, X, sigma=0.05, rho=0.3, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_the_input_is_left_alone():
    before = X.copy()
    corrupt(T, X, sigma=0.1, rho=0.5)
    assert np.array_equal(X, before)


def test_noise_is_multiplicative_and_independent():
    n = 20_000
    clean = np.stack([np.full(n, 5.0), np.full(n, -0.01), np.zeros(n)], axis=1)
    _, x = corrupt(np.arange(n), clean, sigma=0.04, seed=1)
    xi = x[:, :2] / clean[:, :2] - 1.0
    assert np.abs(xi.mean(axis=0)).max() < 0.001
    assert np.abs(xi.std(axis=0) / 0.04 - 1.0).max() < 0.02
    assert abs(np.corrcoef(xi[:, 0], xi[:, 1])[0, 1]) < 0.03
    assert not x[:, 2].any()  # zero stays zero


@pytest.mark.parametrize(("rho", "kept"), [(0.0, 101), (0.009, 101), (0.01, 100), (0.5, 51), (0.99, 2)])
def test_int_rho_n_points_are_dropped_and_the_order_is_kept(rho: float, kept: int):
    t, x = corrupt(T, X, rho=rho, seed=5)
    assert len(t) == len(x) == kept == 101 - int(rho * 101)
    assert (np.diff(t) > 0).all()
    assert np.array_equal(x[:, 0], np.cos(t))  # points stay whole


def test_every_point_is_equally_likely_to_stay():
    t = np.arange(20.0)
    draws = 4000
    counts = np.zeros(20)
    for seed in range(draws):
        counts[corrupt(t, t[:, None], rho=0.4, seed=seed)[0].astype(int)] += 1
    assert counts[0] < draws  # the first point can be dropped
    expected = 0.6 * draws
    # Kept or not: variance 0.24 a draw; the sum over points has nearly 19 degrees of freedom.
    assert ((counts - expected) ** 2).sum() / (0.24 * draws) < 45


def test_noise_comes_first():
    # Dropping points does not change which noise the kept ones have.
    _, noisy = corrupt(T, X, sigma=0.1, seed=9)
    t, x = corrupt(T, X, sigma=0.1, rho=0.5, seed=9)
    assert np.array_equal(x, noisy[np.isin(T, t)])


@pytest.mark.parametrize(("t", "x"), [(T, X[:-1]), (T, X[:, 0]), (T[:, None], X)])
def test_shapes_are_checked(t: np.ndarray, x: np.ndarray):
    with pytest.raises(DataError, match=r"t of shape \(points,\) and x of shape \(points, dimension\)"):
        corrupt(t, x)


@pytest.mark.parametrize("sigma", [-0.1, np.nan, np.inf])
def test_noise_levels_are_checked(sigma: float):
    with pytest.raises(SettingsError, match="sigma is a noise level"):
        corrupt(T, X, sigma=sigma)


@pytest.mark.parametrize("rho", [-0.1, 1.0, np.nan])
def test_shares_are_checked(rho: float):
    with pytest.raises(SettingsError, match="rho is the share of points to drop"):
        corrupt(T, X, rho=rho)


def test_additive_noise_is_relative_to_each_spread():
    n = 20_000
    clean = np.stack([np.linspace(0.0, 3.0, n), np.linspace(100.0, 100.2, n), np.ones(n)], axis=1)
    _, x = corrupt(np.arange(n), clean, sigma=0.04, seed=1, noise="additive")
    error = (x - clean).std(axis=0)
    assert np.abs(error[:2] / clean[:, :2].std(axis=0) / 0.04 - 1.0).max() < 0.02
    assert error[2] == 0.0
    with pytest.raises(SettingsError, match="multiplicative, additive"):
        corrupt(T, X, sigma=0.1, noise="loud")
