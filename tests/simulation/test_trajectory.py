"""Simulations to the same relative accuracy in all units."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.errors import SimulationWarning
from odefinder.system import ODESystem

T = np.linspace(0.0, 20.0, 41)
exponents = st.integers(-100, 100)


def scaled(c: float, d: float) -> ODESystem:
    """x' = v, v' = -x - 0.3 v - x^2 / 4 in units of c for x and v, of d for the time."""
    constants = {"a": 1.0 / d, "b": 0.3 / d, "k": 0.25 / c / d}
    return ODESystem.from_text("x' = a*v; v' = -a*x - b*v - k*x*x", constants=constants)


@given(exponents, exponents, st.sampled_from([[1.0, 0.0], [0.0, 0.5], [1.0, -0.2]]))
@settings(deadline=None, max_examples=60)
def test_units_do_not_matter(c: int, d: int, x0: list[float]) -> None:
    """With x and t in other units, the solution is the same in those units."""
    expected = scaled(1.0, 1.0).simulate(x0, T)
    size, duration = 10.0**c, 10.0**d
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scaled(size, duration).simulate(size * np.array(x0), duration * T)
    np.testing.assert_allclose(found / size, expected, atol=1e-6)


@given(exponents, exponents)
@settings(deadline=None, max_examples=30)
def test_every_variable_has_its_own_units(c: int, d: int) -> None:
    one, other = 10.0**c, 10.0**d
    expected = ODESystem.from_text("x' = y; y' = -x").simulate([1.0, 0.0], T)
    system = ODESystem.from_text("x' = a*y; y' = -b*x", constants={"a": one / other, "b": other / one})
    found = system.simulate([one, 0.0], T)
    np.testing.assert_allclose(found / [one, other], expected, atol=1e-6)


@given(st.sampled_from([1e-13, 1e-8, 1.0, 1e13, 1e20]), st.sampled_from([-1e13, -1.0, 1e4, 1e13]))
def test_an_oscillator_of_any_size_at_any_date(size: float, origin: float) -> None:
    t = origin + np.arange(0.0, 21.0)
    x = ODESystem.from_text("x' = y; y' = -x").simulate([size, 0.0], t)
    np.testing.assert_allclose(x[:, 0] / size, np.cos(t - t[0]), atol=1e-6)


@pytest.mark.parametrize("seed", [1e-3, 1e-9, 1e-30])
def test_growth_from_a_small_seed(seed: float) -> None:
    """Where it begins matters, not where it ends: early errors grow, too."""
    t = np.linspace(0.0, 150.0, 31)
    x = ODESystem.from_text("x' = x*(1 - x)").simulate([seed], t)[:, 0]
    np.testing.assert_allclose(x, 1.0 / (1.0 + (1.0 / seed - 1.0) * np.exp(-t)), rtol=1e-5)


def test_exponential_growth_is_no_divergence() -> None:
    t = np.linspace(0.0, 100.0, 11)
    x = ODESystem.from_text("x' = x").simulate([1.0], t)[:, 0]
    np.testing.assert_allclose(x, np.exp(t), rtol=1e-5)


def test_zeros_stay_zeros() -> None:
    x = ODESystem.from_text("x' = x*y; y' = -y; z' = x").simulate([0.0, 1.0, 0.0], T)
    np.testing.assert_array_equal(x[:, [0, 2]], 0.0)
    np.testing.assert_allclose(x[:, 1], np.exp(-T), atol=1e-8)


def test_sums_that_cancel_are_not_followed_into_their_rounding() -> None:
    """y' = 0 up to rounding: its size is not what rounding makes of it."""
    system = ODESystem.from_text("x' = 0.3*x*z; y' = 0.1*x - 0.3*x/3; z' = -x*z")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = system.simulate([0.7, 0.0, 1.1], T)
    assert np.abs(x[:, 1]).max() < 1e-13


def test_an_explicit_atol_is_taken_as_it_is() -> None:
    decay = ODESystem.from_text("x' = -x")
    coarse = decay.simulate([1e-8], [0.0, 20.0], atol=1e-3)
    fine = decay.simulate([1e-8], [0.0, 20.0])
    np.testing.assert_allclose(fine[1], 1e-8 * np.exp(-20.0), atol=1e-17)
    assert abs(coarse[1, 0] - fine[1, 0]) > 1e-17
    np.testing.assert_allclose(decay.simulate([1e15], [0.0, 1.0], atol=1e-3)[1], 1e15 / np.e, rtol=1e-6)


def test_a_blow_up_of_any_size_is_found() -> None:
    for size in (1e-60, 1.0, 1e60):
        system = ODESystem.from_text("x' = k*x^2", constants={"k": 1.0 / size})
        with pytest.warns(SimulationWarning, match="blow up"):
            x = system.simulate([size], [0.0, 0.5, 0.75, 1.5])
        np.testing.assert_allclose(x[:3, 0] / size, [1.0, 2.0, 4.0], rtol=1e-6)
