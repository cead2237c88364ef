"""Systems with inputs, conditions and doses, against SciPy and closed forms."""

import math
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from odefinder.data.inputs import Hold
from odefinder.errors import DataError, SimulationWarning, StiffnessWarning
from odefinder.numerics.signals import linear
from odefinder.system import ODESystem

DUFFING = ODESystem.from_text("x' = v; v' = -0.3*v - x - x^3 + u", inputs=["u"])
FOLLOWER = ODESystem.from_text("v' = u - v", inputs=["u"])
TWO = ODESystem.from_text("x' = a*u - k*x", inputs=["u", "k"], constants={"a": 2.0})
T = np.linspace(0.0, 10.0, 41)


def test_a_forced_oscillator() -> None:
    def force(time: float) -> float:
        return 0.5 * math.cos(1.2 * time)

    t = np.linspace(0.0, 50.0, 101)
    exact = solve_ivp(
        lambda time, x: DUFFING.derivative(x, [force(time)]), (0.0, 50.0), [0.3, 0.0], method="DOP853",
        t_eval=t, rtol=1e-11, atol=1e-12,
    ).y.T  # fmt: skip
    np.testing.assert_allclose(DUFFING.simulate([0.3, 0.0], t, force), exact, atol=1e-5)
    # Explicit time needs no approximation at all.
    by_time = ODESystem.from_text("x' = v; v' = -0.3*v - x - x^3 + 0.5*cos(1.2*t)", inputs=["t"])
    np.testing.assert_allclose(by_time.simulate([0.3, 0.0], t), exact, atol=1e-6)


def test_a_square_wave() -> None:
    t = np.linspace(0.0, 6.0, 25)
    x = FOLLOWER.simulate([0.0], t, lambda time: float(time % 2.0 < 1.0))[:, 0]
    expected, value = [0.0], 0.0
    for time in t[:-1]:  # every step is within one half wave
        level = float(time % 2.0 < 1.0)
        value = level + (value - level) * math.exp(-0.25)
        expected.append(value)
    np.testing.assert_allclose(x, expected, atol=1e-7)


def test_a_dosed_compartment() -> None:
    system = ODESystem.from_text("depot' = -k*depot; c' = k*depot - 0.2*c", inputs=["k"])
    doses = {"depot": [(0.0, 100.0), (5.0, 50.0)]}
    x = system.simulate([0.0, 0.0], T, conditions={"k": 1.5}, doses=doses)
    after = np.maximum(T - 5.0, 0.0)
    depot = 100.0 * np.exp(-1.5 * T) + np.where(T > 5.0, 50.0 * np.exp(-1.5 * after), 0.0)
    depot[0] = 0.0  # at the time of a dose: before it
    np.testing.assert_allclose(x[:, 0], depot, atol=1e-5)
    c = [
        sum(
            amount * 1.5 / (1.5 - 0.2) * (math.exp(-0.2 * (time - at)) - math.exp(-1.5 * (time - at)))
            for at, amount in doses["depot"]
            if time > at
        )
        for time in T
    ]
    np.testing.assert_allclose(x[:, 1], c, atol=1e-5)


def test_every_form_of_an_input_says_the_same() -> None:
    ramp = 0.5 * T
    forms: list[Any] = [
        ramp, ramp[:, None], ramp.tolist(), {"u": ramp}, lambda t: 0.5 * t, {"u": lambda t: [0.5 * t]},
        {"u": ([0.0, 10.0], [0.0, 5.0])}, ([0.0, 10.0], [0.0, 5.0]), pd.DataFrame({"u": ramp}),
        pd.DataFrame({"time": [0.0, 4.0, 10.0], "u": [0.0, 2.0, 5.0]}), pd.Series(ramp, index=T),
        pd.DataFrame({"u": [0.0, 5.0]}, index=pd.Index([0.0, 10.0], name="t")),
        linear([0.0, 10.0], [[0.0], [5.0]]), {"u": pd.Series([0.0, 5.0], index=[0.0, 10.0])},
    ]  # fmt: skip
    exact = 0.5 * (T - 1.0 + np.exp(-T))
    for form in forms:
        np.testing.assert_allclose(FOLLOWER.simulate([0.0], T, form)[:, 0], exact, atol=1e-8)


def test_numbers_conditions_and_arrays_together() -> None:
    exact = 4.0 * (1.0 - np.exp(-0.5 * T))
    for inputs, conditions in (
        ({"u": 1.0, "k": 0.5}, None),
        ({"u": np.ones(41)}, {"k": 0.5}),
        (1.0, {"k": 0.5}),
        (np.tile([1.0, 0.5], (41, 1)), None),
        (lambda t: (1.0, 0.5), None),
        (None, {"k": 0.5, "u": 1}),
    ):
        np.testing.assert_allclose(TWO.simulate([0.0], T, inputs, conditions)[:, 0], exact, atol=1e-8)


def test_held_values() -> None:
    t = np.array([0.0, 1.0, 2.0])
    x = FOLLOWER.simulate([0.0], t, {"u": Hold([0.0, 1.0, 5.0])})[:, 0]
    np.testing.assert_allclose(x, [0.0, 0.0, 1.0 - math.exp(-1.0)], atol=1e-9)


def test_a_shorter_input_holds_its_last_value() -> None:
    with pytest.warns(SimulationWarning, match=r"u is known from 0 to 2, .* from 0 to 10: after, its last"):
        x = FOLLOWER.simulate([0.0], T, {"u": ([0.0, 2.0], [1.0, 1.0])})
    np.testing.assert_allclose(x[:, 0], 1.0 - np.exp(-T), atol=1e-8)


def test_a_stiff_system_with_an_input() -> None:
    system = ODESystem.from_text("x' = -1e7*(x - u); y' = x - y", inputs=["u"])
    with pytest.warns(StiffnessWarning):
        x = system.simulate([1.0, 0.0], T, lambda t: float(t >= 3.0))
    exact = np.where(T >= 3.0, 1.0 - np.exp(-(T - 3.0)), 0.0)
    np.testing.assert_allclose(x[:, 1], exact, atol=1e-6)


@given(
    st.lists(st.floats(-2.0, 12.0), min_size=1, max_size=6, unique_by=lambda time: round(time, 3)),
    st.integers(-30, 30),
    st.integers(-30, 30),
)
@settings(deadline=None, max_examples=40)
def test_knots_anywhere_in_any_units(knots: list[float], c: int, d: int) -> None:
    """At the ends, between and outside of the observed times; against the closed form for held values."""
    knots = sorted(np.round(knots, 3).tolist())
    heights = np.cos(np.arange(len(knots)) + 1.0)
    grid = np.unique(np.concatenate([[0.0, 3.0, 10.0], [knot for knot in knots if 0.0 < knot < 10.0]]))
    value, expected = 0.3, [0.3]
    for start, end in pairwise(grid):
        level = heights[max(sum(knot <= start for knot in knots) - 1, 0)]
        value = level + (value - level) * math.exp(-(end - start))
        expected.append(value)
    size, duration = 10.0**c, 10.0**d
    system = ODESystem.from_text("v' = k*(u - v)", inputs=["u"], constants={"k": 1.0 / duration})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        if knots[0] > 10.0 or knots[-1] + max(np.diff(knots), default=0.0) < 0.0:
            return
        inputs = {"u": Hold((duration * np.array(knots), size * heights))}
        found = system.simulate([0.3 * size], duration * grid, inputs)
    np.testing.assert_allclose(found[:, 0] / size, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "conditions", "message"),
    [
        (
            None,
            None,
            r"inputs that were not given: u, k\. Give inputs=\{'u': \.\.\., 'k': \.\.\.\}: an array",
        ),
        ({"u": 1.0}, None, r"not given: k\."),
        ({"u": 1.0, "k": 1.0, "w": 2.0}, None, "'w' is not an input of the system .u, k."),
        ({"U": 1.0, "kk": 1.0}, None, "did you mean 'k'|'U' is not"),
        ({"u": 1.0, "k": 1.0, "t": T}, None, "is the time itself"),
        ({"u": 1.0, "k": 1.0}, {"k": 2.0}, "k is given twice"),
        ({"u": 1.0}, {"k": T}, "give one number .a signal belongs to inputs="),
        ({"u": np.ones(7)}, {"k": 1.0}, "u has 7 values for 41 times; give one value for every row"),
        (np.ones((41, 3)), None, "3 signals for the inputs u, k"),
        (lambda t: t, None, "1 signals for the inputs u, k"),
        ({"u": np.full(41, np.nan)}, {"k": 1.0}, "u has no values"),
        ({"u": np.full(41, np.inf)}, {"k": 1.0}, "u is infinite"),
        ({"u": math.nan}, {"k": 1.0}, "give a finite number"),
        ({"u": ["a"] * 41}, {"k": 1.0}, "'u' has text"),
        ({"u": lambda t: 1 / 0}, {"k": 1.0}, r"u\(t\) fails at t = 0 .ZeroDivisionError"),
        ({"u": ([0.0, 1.0], [1.0])}, {"k": 1.0}, "1 values for 2 times of its own"),
        ({"u": ([100.0, 200.0], [1.0, 2.0])}, {"k": 1.0}, "no time in common; check the units"),
        ({"u": pd.Series([1.0, 2.0], pd.to_datetime(["2020-01-01", "2020-01-02"]))}, {"k": 1.0}, "are dates"),
    ],
)
def test_wrong_inputs(inputs: Any, conditions: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TWO.simulate([0.0], T, inputs, conditions)


@pytest.mark.parametrize(
    "doses", [{"w": [(0.0, 1.0)]}, {"v": [(0.0, 1.0, 2.0)]}, {"v": [("now", 1)]}, {"v": 3}]
)
def test_wrong_doses(doses: Any) -> None:
    with pytest.raises(DataError, match=r"name one of v|give pairs of time and amount"):
        FOLLOWER.simulate([0.0], T, 1.0, doses=doses)


def test_a_system_without_inputs_takes_none() -> None:
    system = ODESystem.from_text("x' = -x")
    for inputs in ({"u": 1.0}, T, 1.0):
        with pytest.raises(DataError, match=r"it has none|no inputs"):
            system.simulate([1.0], T, inputs)
    with pytest.raises(DataError, match="no inputs"):
        system.derivative([1.0], 1.0)


def test_notes_about_inputs_are_said_once() -> None:
    system = ODESystem.from_text("v' = u - v", inputs=["u"])
    steps = np.where(T > 5.0, 1.0, 0.0)
    with pytest.warns(SimulationWarning, match="changes in steps"):
        system.simulate([0.0], T, {"u": steps})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.simulate([1.0], T, {"u": steps})
