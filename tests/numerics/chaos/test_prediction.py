"""Valid prediction time and R2 over windows, in closed form and on Lorenz."""

import numpy as np
import pytest

from odefinder.errors import DataError
from odefinder.numerics.chaos.prediction import valid_time, window_r2
from odefinder.numerics.integrate import integrate
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.system import ODESystem

T = np.linspace(0.0, 10.0, 1001)
SINE = np.sin(T)[:, None]


def lorenz(rho: float) -> ODESystem:
    return ODESystem.from_text(["10*(y - x)", f"x*({rho} - z) - y", "x*y - 8/3*z"], ["x", "y", "z"])


def test_a_growing_error() -> None:
    """0.4 standard deviations are reached at t = 4."""
    assert valid_time(T, SINE, SINE + 0.1 * T[:, None] * SINE.std()) == pytest.approx(4.0, abs=0.02)
    assert valid_time(T, SINE, SINE) == 10.0
    assert valid_time(T, SINE, -SINE - 5.0) == 0.0


def test_missing_values_of_the_truth_and_a_prediction_that_ends() -> None:
    holes, short = SINE.copy(), SINE.copy()
    holes[::3] = np.nan
    short[501:] = np.nan
    assert valid_time(T, holes, SINE) == 10.0
    assert valid_time(T, SINE, short) == pytest.approx(5.01)


def test_shapes_are_checked() -> None:
    with pytest.raises(DataError, match="same shape"):
        valid_time(T, SINE, SINE[:-1])


def test_windows_forgive_what_a_long_record_does_not() -> None:
    """Lorenz with a constant off by 1 %: R2 is lost over 20 Lyapunov times and good over one."""
    t = np.linspace(0.0, 22.0, 2201)
    start = [-9.8, -15.0, 20.5]
    truth, _ = integrate(lorenz(28.0).program, start, t)
    wrong = lorenz(28.3).program
    whole, _ = integrate(wrong, start, t)
    assert variance_weighted_r2(truth, whole) < 0.5
    assert window_r2(wrong, t, truth, 1.1) > 0.95
    assert window_r2(lorenz(28.0).program, t, truth, 1.1) > 0.999999
    assert 1.0 < valid_time(t, truth, whole) / 1.1 < 15.0


def test_gaps_and_models_that_run_away() -> None:
    holes = SINE.copy()
    holes[::2] = np.nan
    cosine = np.stack([np.sin(T), np.cos(T)], axis=1)
    oscillator = ODESystem.from_text(["y", "-x"], ["x", "y"]).program
    cosine[::2] = np.nan
    assert window_r2(oscillator, T, cosine, 1.0) == pytest.approx(1.0)
    assert window_r2(ODESystem.from_text(["1 + x^2"], ["x"]).program, T, SINE, 5.0) == -np.inf
