"""Equations fitted in integral form: the constants of known ones come back, one equation at a time."""

import time

import numpy as np
import pytest

from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.integral import match_component, match_outline
from odefinder.inference.fit.states import estimate_states
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

VARIABLES = ["x", "y"]
SYSTEM = ["0.9*x - 1.2*x*y", "-0.7*y + 1.5*x*y/(0.4 + x)"]
STARTS = ([0.6, 0.5], [0.9, 0.2])


def program_of(equations: list[str]) -> Program:
    return ODESystem.from_text(equations, variables=VARIABLES[: len(equations)]).program


def observations(sigma: float = 0.0, trajectories: int = 1) -> Observations:
    parts = []
    for k, start in enumerate(STARTS[:trajectories]):
        t = np.linspace(1.0, 10.0 - k, 100)
        states, status = integrate(program_of(SYSTEM), start, t, rtol=1e-10, atol=1e-12)
        assert status == 0
        parts.append(corrupt(t, states, sigma=sigma, seed=k))
    bounds = np.cumsum([0, *(len(t) for t, _ in parts)])
    return Observations(np.concatenate([t for t, _ in parts]), np.concatenate([x for _, x in parts]), bounds)


@pytest.mark.parametrize("trajectories", [1, 2])
@pytest.mark.parametrize("component", [0, 1])
def test_the_constants_come_back(component: int, trajectories: int) -> None:
    data = observations(trajectories=trajectories)
    truth = program_of(SYSTEM).components()[component]
    begin = truth.with_constants(truth.constants * 1.5)
    fit = match_component(begin, component, data, estimate_states(data))
    assert fit.error < 1e-10
    x = np.random.default_rng(0).uniform(0.1, 1.0, (50, 2))
    np.testing.assert_allclose(value(fit.program, x), value(truth, x), rtol=1e-3)
    np.testing.assert_array_equal(begin.constants, truth.constants * 1.5)


def value(program: Program, x: np.ndarray) -> np.ndarray:
    """One equation at points x."""
    return ODESystem(
        Program(np.append(program.ops, np.int8(1)), np.append(program.values, 0.0)), VARIABLES
    ).derivative(x)[:, 0]


@pytest.mark.parametrize("component", [0, 1])
def test_constants_of_which_nothing_is_known(component: int) -> None:
    data = observations()
    truth = program_of(SYSTEM).components()[component]
    fit = match_outline(
        truth.with_constants(np.ones(len(truth.constants))), component, data, estimate_states(data)
    )
    assert fit.error < 1e-10
    x = np.random.default_rng(0).uniform(0.1, 1.0, (50, 2))
    np.testing.assert_allclose(value(fit.program, x), value(truth, x), rtol=1e-3)


def test_noise_leaves_an_error_of_its_own_size() -> None:
    data = observations(sigma=0.05, trajectories=2)
    estimate = estimate_states(data)
    truth = program_of(SYSTEM).components()[0]
    fit = match_component(truth, 0, data, estimate)
    assert fit.error < 2.0 * (estimate.noise[0] / data.scale[0]) ** 2
    np.testing.assert_allclose(fit.program.constants, truth.constants, rtol=0.1)


def test_a_needless_term_costs_more_than_it_gains() -> None:
    data = observations(sigma=0.05)
    estimate = estimate_states(data)
    right, larger, smaller = (
        match_component(program_of([equation, "x"]).components()[0], 0, data, estimate)
        for equation in ("1*x + 1*x*y", "1*x + 1*x*y + 1*x^2*y + 1*y^3", "1*x + 1*y")
    )
    assert larger.error <= right.error * (1.0 + 1e-6)
    assert right.score < larger.score
    assert right.score < smaller.score


def test_missing_entries_are_passed_over() -> None:
    data = observations()
    states = data.states.copy()
    states[1::3, 0], states[::4, 1] = np.nan, np.nan
    data = Observations(data.times, states, data.bounds)
    truth = program_of(SYSTEM).components()[0]
    fit = match_component(truth.with_constants(truth.constants * 2.0), 0, data, estimate_states(data))
    np.testing.assert_allclose(fit.program.constants, truth.constants, rtol=1e-3)


@pytest.mark.parametrize("equation", ["log(x - 5)", "1/(x*0)", "exp(exp(99*x))"])
def test_what_is_not_finite_has_an_infinite_error(equation: str) -> None:
    data = observations()
    program = ODESystem.from_text([equation, "x"], variables=VARIABLES).program.components()[0]
    fit = match_component(program, 0, data, estimate_states(data))
    assert fit.error == np.inf
    assert fit.score == np.inf


def test_no_constants() -> None:
    data = observations()
    fit = match_component(program_of(["x*y", "x"]).components()[0], 0, data, estimate_states(data))
    assert 0.0 < fit.error < np.inf


@pytest.mark.perf
def test_it_takes_milliseconds() -> None:
    data = observations()
    estimate = estimate_states(data)
    truth = program_of(SYSTEM).components()[1]
    begin = truth.with_constants(truth.constants * 1.3)
    match_component(begin, 1, data, estimate)
    start = time.perf_counter()
    for _ in range(10):
        match_component(begin, 1, data, estimate)
    assert (time.perf_counter() - start) / 10 < 0.02
