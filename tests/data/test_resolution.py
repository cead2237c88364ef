"""How finely values were written, and what that leaves of a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefinder.data import from_arrays
from odefinder.data.resolution import rounding

STEP = 1.0 / np.sqrt(12.0)


@given(st.integers(-6, 9), st.integers(0, 2**32 - 1))
def test_rounded_values_have_their_step(digits: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(10**4, 10**6, 60)
    written = np.array([float(f"{value}e{-digits}") for value in values])
    assert rounding(written) == pytest.approx(STEP * 10.0**-digits, rel=1e-9)


def test_what_was_calculated_has_none_that_matters() -> None:
    values = np.exp(-np.linspace(0.0, 3.0, 100))
    assert rounding(values) < 1e-15
    assert rounding(values * 1e-200) < 1e-215


def test_some_zeros_some_gaps_and_a_few_sums() -> None:
    values = np.round(np.sin(np.linspace(0.1, 3.0, 80)), 2)
    values[::9], values[4], values[7] = np.nan, 0.0, 0.1 + 0.2
    assert rounding(values) == pytest.approx(STEP * 0.01)
    assert rounding(np.full(5, np.nan)) == rounding(np.zeros(5)) == 0.0


def test_it_counts_in_the_users_units() -> None:
    """Canonical units have digits of their own."""
    t = np.linspace(0.0, 5.0, 50)
    x = np.round(np.column_stack([700.0 * np.exp(-t), 1e-3 * np.exp(-t)]), 4)
    data = from_arrays(x, t)
    lost = (np.array([STEP * 1e-4] * 2) / x.std(axis=0)) ** 2
    assert data.observations(data.scaling()).resolution == pytest.approx(lost.mean(), rel=1e-6)
