"""Interpolation is exact for polynomials, and prediction errors tell signal from noise."""

import numpy as np
import pytest

from odefinder.inference.fit.interpolation import ORDERS, Known, error_by_order, interpolate, windows_of

IRREGULAR = np.sort(np.random.default_rng(0).uniform(1.0, 10.0, 60))


@pytest.mark.parametrize("degree", [1, 3, 5, 7, 9])
def test_polynomials_are_reproduced(degree: int) -> None:
    x = ((IRREGULAR - 5.0) / 5.0) ** degree
    curve = interpolate(IRREGULAR, x, degree)
    t = np.linspace(IRREGULAR[0], IRREGULAR[-1], 200)
    np.testing.assert_allclose(curve(t), ((t - 5.0) / 5.0) ** degree, atol=1e-8)
    np.testing.assert_allclose(curve.slope(t), degree / 5.0 * ((t - 5.0) / 5.0) ** (degree - 1), atol=1e-6)


def test_outside_the_curve_is_a_straight_line() -> None:
    curve = interpolate(np.arange(6.0), np.arange(6.0) ** 3, 3)
    np.testing.assert_allclose(curve(np.array([5.5, 6.0])), [125.0 + 37.5, 125.0 + 75.0])


@pytest.mark.parametrize("points", [0, 1, 2, 3, 4])
def test_few_points(points: int) -> None:
    t = np.arange(float(points))
    curve = interpolate(t, t + 1.0, 9)
    np.testing.assert_allclose(curve(t), t + 1.0)


@pytest.mark.parametrize("order", [1, 3, 6])
def test_polynomials_are_predicted_without_error(order: int) -> None:
    x = ((IRREGULAR - 5.0) / 5.0) ** order
    assert np.abs(windows_of(IRREGULAR, order).errors(x)).max() < 1e-9
    assert np.abs(windows_of(IRREGULAR, order).errors(x**2)).max() > 1e-9


def test_white_noise_has_the_same_error_at_all_orders() -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 1.0, 2000))
    errors = error_by_order([t], [rng.normal(0.0, 0.3, 2000)])
    assert len(errors) == len(ORDERS)
    np.testing.assert_allclose(errors, 0.3, rtol=0.1)


def test_the_errors_of_a_signal_fall() -> None:
    errors = error_by_order([IRREGULAR], [np.sin(IRREGULAR)])
    assert errors[-1] < 1e-2 * errors[2]


def test_windows_are_shared_by_variables_with_the_same_times() -> None:
    known: Known = {}
    for x in (np.sin(IRREGULAR), np.cos(IRREGULAR)):
        shared = error_by_order([IRREGULAR], [x], known)
        assert shared.tolist() == error_by_order([IRREGULAR], [x]).tolist()
    assert len(known) == len(ORDERS)
