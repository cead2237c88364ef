"""Integration with signals: against SciPy and closed forms, with knots and doses anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from odefinder.errors import DataError, ExpressionError
from odefinder.numerics.integrate import (
    Status,
    integrate,
    integrate_batch,
    integrate_with_sensitivities,
)
from odefinder.numerics.signals import Signals, constant, held, linear
from tests.programs import words

TIMES = np.linspace(0.0, 10.0, 101)
DUFFING = words("x1  add mul -0.3 x1 add mul -1 x0 add mul -1 pow3 x0 x2")  # x2 is the force
LAG = words("add mul -0.7 x0 x1")  # x' = u - 0.7 x
OUTFLOW = words("mul -0.5 x0")
SUM = words("x1")  # x' = u


def test_forced_duffing_as_by_scipy() -> None:
    knots = np.linspace(0.0, 10.0, 151)
    force = 0.8 * np.cos(1.3 * knots)
    x, status = integrate(DUFFING, [0.5, -0.2], TIMES, signals=linear(knots, force[:, None]), rtol=1e-9)
    assert status == Status.OK

    def f(t: float, x: np.ndarray) -> list[float]:
        return [x[1], -0.3 * x[1] - x[0] - x[0] ** 3 + np.interp(t, knots, force)]

    reference = solve_ivp(
        f, (0.0, 10.0), [0.5, -0.2], "DOP853", TIMES, rtol=1e-10, atol=1e-12, max_step=knots[1]
    )
    np.testing.assert_allclose(x, reference.y.T, atol=3e-7)


def test_square_wave_as_by_its_closed_form() -> None:
    """Piece by piece x' = u - 0.7 x is an exponential."""
    knots, levels = np.arange(0.0, 10.0, 1.25), np.tile([1.0, -0.5], 4)
    x, status = integrate(LAG, [0.2], TIMES, signals=held(knots, levels[:, None]), rtol=1e-10)
    assert status == Status.OK
    expected, now = [], 0.2
    for begin, level in zip(knots, levels, strict=True):
        first, last = np.searchsorted(TIMES, [begin - 1e-12, begin + 1.25 - 1e-12])
        inside = TIMES[first:last]
        expected.append(level / 0.7 + (now - level / 0.7) * np.exp(-0.7 * (inside - begin)))
        now = level / 0.7 + (now - level / 0.7) * np.exp(-0.7 * 1.25)
    np.testing.assert_allclose(x[:-1, 0], np.concatenate(expected), atol=1e-8)
    assert x[-1, 0] == pytest.approx(now, abs=1e-8)


@pytest.mark.parametrize("most", range(30, 60))
def test_steps_are_limited_wherever_a_jump_falls(most: int) -> None:
    """Every step ends at a jump, so the last allowed one does, too."""
    knots = np.linspace(0.0, 10.0, 1001)
    wave = held(knots, np.tile([1.0, -1.0], 501)[:1001, None])
    _, status = integrate(LAG, [0.2], TIMES, signals=wave, max_steps=most)
    assert status == Status.TOO_MANY_STEPS


def test_doses_add_to_a_state_after_what_is_observed() -> None:
    """A compartment with doses at the first time, between observations, at one and after the last."""
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    knots, amounts = np.array([0.0, 1.5, 3.0, 9.0]), np.array([2.0, 1.0, 4.0, 8.0])
    nothing = np.empty((4, 0))
    signals = Signals(knots, nothing, nothing, amounts[:, None])
    x, status = integrate(OUTFLOW, [1.0], times, signals=signals, rtol=1e-10)
    assert status == Status.OK

    def amount(t: float) -> float:
        given = amounts[knots < t] * np.exp(-0.5 * (t - knots[knots < t]))
        return np.exp(-0.5 * t) + given.sum()

    np.testing.assert_allclose(x[:, 0], [amount(t) for t in times], rtol=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-40, 140), min_size=1, max_size=12, unique=True),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_integral_of_a_signal_with_knots_anywhere(places: list[int], seed: int, hold: bool) -> None:
    """x' = u integrates the signal exactly, with knots before, between, at and after the observed times."""
    rng = np.random.default_rng(seed)
    knots = np.sort(places) / 10.0
    values = rng.normal(size=(len(knots), 1))
    signals = held(knots, values) if hold else linear(knots, values)
    x, status = integrate(SUM, [0.0], TIMES, signals=signals, rtol=1e-9)
    assert status == Status.OK
    ends = np.unique(np.concatenate([TIMES, knots[(knots > 0.0) & (knots < 10.0)]]))
    middle = 0.5 * (ends[1:] + ends[:-1])
    if hold:
        level = values[np.maximum(np.searchsorted(knots, middle, side="right") - 1, 0), 0]
    else:
        level = np.interp(middle, knots, values[:, 0])
    integral = np.concatenate([[0.0], np.cumsum(level * np.diff(ends))])
    np.testing.assert_allclose(x[:, 0], integral[np.searchsorted(ends, TIMES)], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_sensitivities_with_jumps_are_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.choice(np.arange(1, 100), 6, replace=False)) / 10.0
    before, after = rng.normal(size=(2, 6, 1))
    doses = np.where(rng.random((6, 2)) < 0.5, 0.0, rng.normal(size=(6, 2)))
    signals = Signals(knots, before, after, doses)
    x, slopes, status = integrate_with_sensitivities(
        DUFFING, [0.5, -0.2], TIMES, signals=signals, initial=True, rtol=1e-10
    )
    assert status == Status.OK
    np.testing.assert_array_equal(x, integrate(DUFFING, [0.5, -0.2], TIMES, signals=signals, rtol=1e-10)[0])
    constants, start, h = DUFFING.constants, np.array([0.5, -0.2]), 1e-5
    for p in range(len(constants) + 2):
        moved = []
        for sign in (1.0, -1.0):
            c, x0 = constants.copy(), start.copy()
            (c if p < len(c) else x0)[p if p < len(c) else p - len(c)] += sign * h
            moved.append(integrate(DUFFING.with_constants(c), x0, TIMES, signals=signals, rtol=1e-12)[0])
        np.testing.assert_allclose(slopes[:, :, p], (moved[0] - moved[1]) / (2 * h), rtol=2e-4, atol=2e-4)


def test_batches_and_conditions() -> None:
    programs = [LAG, OUTFLOW, LAG] * 5
    signals = [constant([0.7]), None, linear([0.0, 10.0], [[0.0], [1.0]])] * 5
    results = integrate_batch(programs, [[1.0]] * 15, [TIMES] * 15, signals=signals, n_threads=2)
    for program, driving, (x, status) in zip(programs, signals, results, strict=True):
        assert status == Status.OK
        np.testing.assert_array_equal(x, integrate(program, [1.0], TIMES, signals=driving)[0])
    np.testing.assert_allclose(results[0][0], 1.0, atol=1e-7)  # x' = 0.7 - 0.7 x from 1


def test_wrong_signals_are_named() -> None:
    with pytest.raises(ExpressionError, match="variable number 1"):
        integrate(LAG, [1.0], TIMES)
    with pytest.raises(DataError, match="increase strictly"):
        integrate(LAG, [1.0], TIMES, signals=linear([1.0, 1.0], [[0.0], [1.0]]))
    with pytest.raises(DataError, match="NaN"):
        integrate(LAG, [1.0], TIMES, signals=linear([0.0, 1.0], [[0.0], [np.nan]]))
    with pytest.raises(DataError, match="one row"):
        integrate(LAG, [1.0], TIMES, signals=linear([0.0, 1.0, 2.0], [[0.0], [1.0]]))
    with pytest.raises(DataError, match="doses for 2"):
        integrate(LAG, [1.0], TIMES, signals=constant([1.0])._replace(doses=np.zeros((1, 2))))
