"""Fitted constants: those of known systems come back, and nothing raises when a system blows up."""

import numpy as np
import pytest

from odefinder.data.arrays import from_arrays
from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit import refine, trajectories
from odefinder.inference.fit.refine import fit_constants
from odefinder.limits.alarm import Alarm
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

SYSTEMS = {
    "decay": (["-1.3*x"], [[2.0], [0.7]]),
    "logistic": (["0.8*x*(1 - 0.4*x)"], [[0.3], [4.0]]),
    "pendulum": (["y", "-1.7*sin(x) - 0.2*y"], [[1.2, 0.0], [0.4, 1.0]]),
    "Lotka-Volterra": (["1.1*x - 0.4*x*y", "-0.9*y + 0.3*x*y"], [[3.0, 2.0], [1.0, 1.0]]),
    "saturation": (["1.5 - 2.0*x/(0.6 + x)"], [[0.1], [6.0]]),
    "Lorenz, quiet": (
        ["4*(y - x)", "x*(5 - z) - y", "x*y - 1.2*z"],
        [[1.0, 2.0, 3.0], [-1.0, 0.5, 1.0]],
    ),
}
VARIABLES = ["x", "y", "z"]


def program_of(equations: list[str]) -> Program:
    return ODESystem.from_text(equations, variables=VARIABLES[: len(equations)]).program


def observations(
    program: Program, starts: list[list[float]], *, sigma: float = 0.0, lengths: tuple[int, ...] = (60, 35)
) -> Observations:
    """Trajectories over different times, with different numbers of points."""
    times, states = [], []
    for k, (start, points) in enumerate(zip(starts, lengths, strict=False)):
        t = np.linspace(0.0, 5.0 - k, points)
        x, status = integrate(program, start, t, rtol=1e-10, atol=1e-12)
        assert status == 0
        t, x = corrupt(t, x, sigma=sigma, seed=k)
        times.append(t)
        states.append(x)
    bounds = np.cumsum([0, *map(len, times)]).astype(np.int64)
    return Observations(np.concatenate(times), np.concatenate(states), bounds)


def perturbed(program: Program, share: float = 0.2) -> Program:
    """All constants off by up to this share, but for exact 1 and -1 of the notation."""
    rng = np.random.default_rng(0)
    constants = program.constants
    factors = 1.0 + share * rng.choice([-1.0, 1.0], len(constants))
    return program.with_constants(np.where(np.abs(constants) == 1.0, constants, constants * factors))


@pytest.mark.parametrize("trajectories", [1, 2])
@pytest.mark.parametrize("fit_starts", [False, True])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_constants_of_known_systems_come_back(name: str, fit_starts: bool, trajectories: int) -> None:
    equations, starts = SYSTEMS[name]
    truth = program_of(equations)
    data = observations(truth, starts[:trajectories])
    begin = perturbed(truth)
    before = fit_constants(begin, data, iterations=0)
    fit = fit_constants(begin, data, fit_starts=fit_starts, rtol=1e-8)
    assert before.error > 1e-4
    assert fit.error < 1e-10
    assert fit.starts.shape == (trajectories, len(equations))
    np.testing.assert_allclose(fit.starts, starts[:trajectories], atol=1e-4)
    # The same right-hand side: single constants may be redundant in how a system is written.
    rng = np.random.default_rng(1)
    t = np.linspace(0.0, 1.0, 20)
    start = np.array(starts[0]) * rng.uniform(0.8, 1.2, len(equations))
    np.testing.assert_allclose(
        integrate(fit.program, start, t)[0], integrate(truth, start, t)[0], rtol=1e-3, atol=1e-3
    )


def test_every_constant_of_lotka_volterra() -> None:
    equations, starts = SYSTEMS["Lotka-Volterra"]
    truth = program_of(equations)
    data = observations(truth, starts)
    fit = fit_constants(perturbed(truth), data, rtol=1e-9)
    np.testing.assert_allclose(fit.program.constants, truth.constants, rtol=1e-4)


def test_noise_and_fitted_initial_values() -> None:
    equations, starts = SYSTEMS["Lotka-Volterra"]
    truth = program_of(equations)
    data = observations(truth, starts, sigma=0.05, lengths=(150, 150))
    first = data.states[data.bounds[:-1]]
    fixed = fit_constants(perturbed(truth), data)
    free = fit_constants(perturbed(truth), data, fit_starts=True)
    assert free.error < fixed.error
    assert np.abs(free.starts - starts).max() < 0.06
    assert np.abs(free.starts - starts).sum() < np.abs(first - starts).sum()
    np.testing.assert_allclose(free.program.constants, truth.constants, rtol=0.05)
    # The error is that of the noise: about sigma^2 E[x^2] / var(x) on average over the variables.
    expected = np.mean(0.05**2 * (data.states**2).mean(axis=0) / data.states.var(axis=0))
    assert 0.7 * expected < free.error < 1.3 * expected


def test_several_trajectories_tell_more_than_one() -> None:
    """x' = a + b x from its fixed point: one trajectory that stands still leaves a and b open."""
    truth = program_of(["2 - 1*x"])
    still, moving = [2.0], [5.0]
    begin = truth.with_constants(truth.constants * np.array([1.2, 1.2])[: len(truth.constants)])
    both = fit_constants(begin, observations(truth, [still, moving]), rtol=1e-9)
    assert both.error < 1e-10
    np.testing.assert_allclose(both.program.constants, truth.constants, rtol=1e-4)


def test_the_order_of_trajectories_does_not_matter() -> None:
    equations, starts = SYSTEMS["pendulum"]
    truth = program_of(equations)
    forward = fit_constants(perturbed(truth), observations(truth, starts, lengths=(40, 40)), iterations=0)
    one = observations(truth, starts, lengths=(40, 40))
    swapped = Observations(
        np.concatenate([one.times[40:], one.times[:40]]),
        np.concatenate([one.states[40:], one.states[:40]]),
        one.bounds,
    )
    backward = fit_constants(perturbed(truth), swapped, iterations=0)
    assert backward.error == pytest.approx(forward.error, rel=1e-9)
    np.testing.assert_array_equal(backward.starts, forward.starts[::-1])


def test_the_error_is_the_mean_squared_scaled_residual() -> None:
    truth = program_of(["-1*x"])
    data = observations(truth, [[1.0]], lengths=(50,))
    wrong = program_of(["-1.5*x"])
    predicted, _ = integrate(wrong, [1.0], data.times)
    expected = np.mean((predicted - data.states) ** 2) / data.states.var()
    assert fit_constants(wrong, data, iterations=0).error == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("equation", ["100*x^3", "1/(x - 2)", "log(x - 5)", "exp(exp(9*x))"])
@pytest.mark.parametrize("fit_starts", [False, True])
def test_what_diverges_has_an_infinite_error(equation: str, fit_starts: bool) -> None:
    data = observations(program_of(["-0.3*x"]), [[2.0]])
    system = program_of([equation])
    fit = fit_constants(system, data, fit_starts=fit_starts)
    assert fit.error == np.inf
    assert fit.program == system


@pytest.mark.parametrize("fit_starts", [False, True])
def test_sensitivities_that_overflow_are_no_divergence(fit_starts: bool) -> None:
    """x stays at 1 exactly, where the slightest change of it would grow like exp(1000 t)."""
    data = Observations(np.linspace(0.0, 5.0, 20), np.full((20, 1), 1.5), np.array([0, 20]))
    system = program_of(["1000*(x - 1)"])
    for iterations in (0, 10):
        options = {"fit_starts": fit_starts, "iterations": iterations, "max_steps": 100_000}
        assert fit_constants(system, data, starts=np.ones((1, 1)), **options).error == pytest.approx(0.25)


def test_no_constants() -> None:
    data = observations(program_of(["-1*x"]), [[2.0]])
    bare = program_of(["sin(x)"])
    assert len(bare.constants) == 0
    fixed = fit_constants(bare, data)
    assert fixed.program == bare
    assert 0.0 < fixed.error < np.inf
    assert fit_constants(bare, data, fit_starts=True).error < fixed.error


def test_the_program_given_is_not_changed() -> None:
    truth = program_of(["-1.3*x"])
    data = observations(truth, [[2.0]])
    begin = perturbed(truth)
    values, starts = begin.values.copy(), np.array([[2.5]])
    fit_constants(begin, data, starts=starts, fit_starts=True)
    np.testing.assert_array_equal(begin.values, values)
    np.testing.assert_array_equal(starts, [[2.5]])


def test_missing_entries_are_passed_over() -> None:
    equations, starts = SYSTEMS["pendulum"]
    truth = program_of(equations)
    data = observations(truth, starts)
    states = data.states.copy()
    states[3::4, 0], states[5::7, 1] = np.nan, np.nan
    fit = fit_constants(perturbed(truth), Observations(data.times, states, data.bounds))
    np.testing.assert_allclose(fit.program.constants, truth.constants, rtol=1e-4)


def test_a_fit_follows_a_bent_valley() -> None:
    """Constants that hardly matter together: straight steps leave 1e-11 after as many iterations."""
    truth = program_of(["y", "-0.72*sin(2.1*x) + 0.77*sin(2.1*x)*cos(2.1*x)"])
    start = program_of(["y", "-0.5*sin(2.4*x) + 0.77*sin(1.7*x)*cos(2.5*x)"])
    t = np.linspace(0.0, 10.0, 150)
    x, _ = integrate(truth, [0.4, 0.3], t, rtol=1e-11, atol=1e-12)
    data = Observations(t, x, np.array([0, 150]))
    assert fit_constants(start, data, iterations=160, rtol=1e-9, bends=True).error < 1e-13


def test_normal_equations_end_with_the_alarm() -> None:
    """With hundreds of parameters they take seconds; half of them would be wrong."""
    program = program_of(["-1.3*x"])
    data = observations(program, [[2.0]])
    problem = trajectories._problem(
        program.ops, program.values.copy(), data.completed(program).owners, program.constants.copy(),
        data.states[:1].copy(), refine._observed(data), refine.tolerance_of(data, 1e-6, 2000), True, False,
    )  # fmt: skip
    point = trajectories._point(problem)
    trajectories._evaluate(problem, point)
    gradient, matrix = np.empty(1), np.empty((1, 1))
    trajectories._expand(problem, point, gradient, matrix)
    assert np.isfinite(matrix).all()
    with Alarm(0.0):
        trajectories._expand(problem, point, gradient, matrix)
    assert np.isnan(gradient).all()
    assert np.isnan(matrix).all()


def test_inputs_that_are_known_at_thousands_of_times() -> None:
    """Every one of them ends a step of the integrator, whatever limit a fit has for steps."""
    t = np.linspace(0.0, 20.0, 4001)
    follower = ODESystem.from_text("x' = -0.5*x + u", inputs=["u"])
    force = np.sin(t) + 0.3 * np.sin(5.0 * t)
    dataset = from_arrays(follower.simulate([1.0], t, inputs={"u": force}), t, ["x"], inputs={"u": force})
    data = dataset.observations(dataset.scaling())
    program = dataset.scaling().to_scaled(follower.program)
    assert fit_constants(program, data, iterations=0).error < 1e-8
