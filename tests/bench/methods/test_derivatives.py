import numpy as np
import pytest

from odefinder.bench.methods.derivatives import derivatives
from odefinder.errors import DataError


def irregular(count: int, seed: int = 0) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).uniform(0.2, 2.0, count))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [6, 15])
def test_exact_for_polynomials_on_any_grid(order, count):
    t = irregular(count)
    polynomials = [np.polynomial.Polynomial(np.arange(1.0, degree + 2.0)) for degree in range(order + 1)]
    x = np.column_stack([p(t) for p in polynomials])
    states, slopes = derivatives(t, x, order)
    np.testing.assert_array_equal(states, x)
    expected = np.column_stack([p.deriv()(t) for p in polynomials])
    np.testing.assert_allclose(slopes, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


def test_error_falls_with_the_order():
    t = np.linspace(0.0, 3.0, 40)
    errors = [np.abs(derivatives(t, np.sin(t)[:, None], k)[1][:, 0] - np.cos(t)).max() for k in (2, 3, 4)]
    assert errors[0] > 5 * errors[1] > 25 * errors[2]


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("window", [None, 15])
def test_the_same_as_pysindy(order, window):
    differentiation = pytest.importorskip("pysindy.differentiation")
    t = irregular(30, seed=1)
    x = np.column_stack([np.sin(0.3 * t), np.exp(-0.1 * t)])
    if window is None:
        theirs = differentiation.FiniteDifference(order=order)
    else:
        theirs = differentiation.SmoothedFiniteDifference(order=order, smoother_kws={"window_length": window})
    expected = np.asarray(theirs._differentiate(x, t))
    states, slopes = derivatives(t, x, order, window)
    np.testing.assert_allclose(slopes, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(states, theirs.smoothed_x_, rtol=1e-12)


def test_smoothing_keeps_cubics_and_lowers_noise():
    t = np.linspace(0.0, 2.0, 60)
    x = (t**3 - t)[:, None]
    np.testing.assert_allclose(derivatives(t, x, 4, 15)[0], x, atol=1e-10)
    noisy = x + 0.05 * np.random.default_rng(0).normal(size=x.shape)
    truth = (3 * t**2 - 1)[:, None]
    rough, smooth = (np.std(derivatives(t, noisy, 2, window)[1] - truth) for window in (None, 15))
    assert smooth < rough / 2


@pytest.mark.parametrize("count", [2, 3, 4, 9, 14])
def test_few_points_lower_order_and_window(count):
    t = np.linspace(0.0, 1.0, count)
    states, slopes = derivatives(t, 2.0 * t[:, None], 4, 15)
    np.testing.assert_allclose(slopes, 2.0, atol=1e-9)
    assert states.shape == (count, 1)


@pytest.mark.parametrize(
    ("t", "x"),
    [
        ([0.0], [[1.0]]),
        ([0.0, 1.0], [[1.0], [np.nan]]),
        ([0.0, 0.0], [[1.0], [2.0]]),
        ([0.0, 1.0], [1.0, 2.0]),
    ],
)
def test_what_cannot_be_differentiated(t, x):
    with pytest.raises(DataError):
        derivatives(np.array(t), np.array(x), 2)
