"""The implicit method: accuracy on the classical stiff systems, and an end in every case."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.expressions.program import Program
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.knots import merged
from odefinder.numerics.signals import Signals, held, linear
from odefinder.numerics.stiff import integrate_stiff
from odefinder.system import ODESystem


def program(equations: str) -> Program:
    return ODESystem.from_text(equations).program


VAN_DER_POL = program("x' = y; y' = 1000*(1 - x^2)*y - x")
ROBERTSON = program("x' = -0.04*x + 1e4*y*z; y' = 0.04*x - 1e4*y*z - 3e7*y^2; z' = 3e7*y^2")


def test_robertson_matches_the_published_values() -> None:
    # The last row: Test Set for IVP Solvers (Mazzia and Magherini), problem ROBER at t = 1e11.
    x, status = integrate_stiff(
        ROBERTSON, np.array([1.0, 0.0, 0.0]), np.array([0.0, 40.0, 1e11]), 1e-10, 1e-18
    )
    assert status == Status.OK
    np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=1e-12)  # mass is conserved
    np.testing.assert_allclose(x[1], [0.7158270688, 9.185534765e-6, 0.2841637457], rtol=1e-8)
    expected = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(x[2], expected, rtol=1e-6)


def test_van_der_pol_matches_the_published_values() -> None:
    # The same test set: y'' = 1000 (1 - y^2) y' - y from (2, 0), at t = 2000.
    x, status = integrate_stiff(VAN_DER_POL, np.array([2.0, 0.0]), np.array([0.0, 2000.0]))
    assert status == Status.OK
    np.testing.assert_allclose(x[1], [1.706167732170483, -0.8928097010247975e-3], rtol=1e-6)


def test_agrees_with_the_explicit_method_where_both_work() -> None:
    oscillator = program("x' = y; y' = -x")
    t = np.linspace(0.0, 10.0, 37)
    x, status = integrate_stiff(oscillator, np.array([1.0, 0.0]), t)
    assert status == Status.OK
    np.testing.assert_allclose(x, np.column_stack([np.cos(t), -np.sin(t)]), atol=1e-6)
    explicit, _ = integrate(oscillator, np.array([1.0, 0.0]), t)
    np.testing.assert_allclose(x, explicit, atol=1e-6)


def test_the_budget_ends_it_and_keeps_what_was_found() -> None:
    x, status = integrate_stiff(
        VAN_DER_POL, np.array([2.0, 0.0]), np.linspace(0.0, 20_000.0, 41), max_evaluations=2_000
    )
    assert status == Status.TOO_MANY_STEPS
    reached = np.isfinite(x).all(axis=1)
    assert 1 < reached.sum() < 41
    assert np.all(np.diff(reached.astype(int)) <= 0)  # NaN only at the end


def test_blow_up() -> None:
    x, status = integrate_stiff(program("x' = x^2"), np.array([1.0]), np.linspace(0.0, 2.0, 9))
    assert status == Status.DIVERGED
    np.testing.assert_allclose(x[:4, 0], [1.0, 4 / 3, 2.0, 4.0], rtol=1e-6)
    assert np.isnan(x[5:]).all()


@pytest.mark.parametrize(
    ("equation", "status"),
    [
        ("x' = log(-x)", Status.NOT_FINITE),
        ("x' = -1/(2*x)", Status.STEP_TOO_SMALL),  # sqrt(1 - t): singular at t = 1
        ("x' = -1 - 1/sqrt(x)", Status.STEP_TOO_SMALL),
        ("x' = sqrt(x)*exp(exp(exp(exp(x))))", Status.NOT_FINITE),
        ("x' = -1e300*x^5", None),
        ("x' = exp(exp(x))", None),
        ("x' = tan(1e9*x)*1e9", None),
    ],
)
def test_hopeless_systems_end_with_a_status(equation: str, status: Status | None) -> None:
    start = time.perf_counter()
    x, ended = integrate_stiff(
        program(equation), np.array([1.0]), np.linspace(0.0, 3.0, 5), max_evaluations=20_000
    )
    assert time.perf_counter() - start < 60.0  # a guard against hanging, not a measurement
    assert x[0, 0] == 1.0
    assert ended != Status.OK or np.isfinite(x).all()
    if status is not None:
        assert ended == status


def test_an_infinite_jacobian_is_no_obstacle() -> None:
    # sqrt(x + y) has an infinite slope at the start, and a step too far leads to negative x + y.
    x, status = integrate_stiff(program("x' = sqrt(x + y); y' = 1"), np.zeros(2), np.array([0.0, 1.0]))
    reference, _ = integrate(program("x' = sqrt(x + y); y' = 1"), np.zeros(2), np.array([0.0, 1.0]))
    assert status == Status.OK
    np.testing.assert_allclose(x, reference, rtol=1e-5)


def test_a_single_time() -> None:
    x, status = integrate_stiff(VAN_DER_POL, np.array([2.0, 0.0]), np.array([1.0]))
    assert status == Status.OK
    assert x.tolist() == [[2.0, 0.0]]


def test_signals_jumps_and_doses() -> None:
    # x' = -k (x - u) + v with u linear, v a step, and a dose: closed forms piece by piece.
    equation = ODESystem.from_text("x' = -1000*(x - u) + v; y' = 0.5*x", inputs=["u", "v"]).program
    t = np.linspace(0.0, 4.0, 17)
    ramp = merged([linear([0.0, 2.0], [[0.0], [4.0]]), held([0.0, 1.0], [[0.0], [500.0]])])
    dose = Signals(np.array([3.0]), np.empty((1, 0)), np.empty((1, 0)), np.array([[0.0, 7.0]]))
    signals = merged([ramp, dose])
    x, status = integrate_stiff(equation, np.zeros(2), t, signals=signals)
    assert status == Status.OK
    explicit, _ = integrate(equation, np.zeros(2), t, signals=signals)
    np.testing.assert_allclose(x, explicit, atol=1e-6)
    assert x[12, 1] == pytest.approx(explicit[12, 1], abs=1e-6)  # at the time of the dose: before it
    assert x[13, 1] - x[12, 1] > 7.0


@given(st.lists(st.floats(-1.0, 3.0), min_size=1, max_size=4, unique=True))
@settings(deadline=None, max_examples=30)
def test_knots_and_doses_anywhere(times: list[float]) -> None:
    """At the ends, between and outside of the observed times: as the explicit method."""
    decay = ODESystem.from_text("x' = u - x", inputs=["u"]).program
    t = np.array([0.0, 0.5, 2.0])
    knots = np.unique(np.round(times, 1))
    part = held(knots, np.arange(len(knots))[:, None])
    signals = part._replace(doses=np.linspace(1.0, 2.0, len(knots))[:, None])
    x, status = integrate_stiff(decay, np.ones(1), t, signals=signals)
    explicit, _ = integrate(decay, np.ones(1), t, signals=signals)
    assert status == Status.OK
    np.testing.assert_allclose(x, explicit, atol=1e-6)
