"""Multiple shooting: constants of chaotic and half-hidden systems come back, where one shot is lost."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.data.roles import Role
from odefinder.expressions.program import Program
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.segments import solve_step, step_equations
from odefinder.inference.fit.shooting import cut, fit_shooting, fit_shots
from odefinder.limits.deadline import Deadline
from odefinder.numerics.integrate import integrate
from odefinder.numerics.signals import linear
from odefinder.system import ODESystem

LORENZ = "x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 2.6667*z"


def program_of(text: str, inputs: tuple[str, ...] = ()) -> Program:
    return ODESystem.from_text(text, inputs=inputs).program


def record(program: Program, start: list[float], t: np.ndarray, noise: float = 0.0) -> Observations:
    states, status = integrate(program, start, t, rtol=1e-10, atol=1e-12)
    assert status == 0
    states += noise * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    return Observations.joined([t], [states])


def off(program: Program, share: float) -> Program:
    """All constants off by this share, but for exact 1 and -1 of the notation."""
    constants = program.constants
    signs = np.random.default_rng(1).choice([-1.0, 1.0], len(constants))
    return program.with_constants(
        np.where(np.abs(constants) == 1.0, constants, constants * (1 + share * signs))
    )


def held_ones(program: Program) -> np.ndarray:
    return np.abs(program.constants) == 1.0


def test_a_chaotic_record_that_defeats_one_shot() -> None:
    truth = program_of(LORENZ)
    data = record(truth, [-8.0, 7.0, 27.0], np.linspace(0.0, 15.0, 1500), noise=0.02)
    wrong, held = off(truth, 0.1), held_ones(truth)
    one = fit_constants(wrong, data, fit_starts=True, fixed=held)
    assert one.error > 0.1
    shots = fit_shots(wrong, data, data.states, cut(data, 100), fixed=held)
    assert shots.error == pytest.approx(0.02**2, rel=0.1)
    assert shots.jump < 1e-4
    assert np.allclose(shots.program.constants, truth.constants, rtol=0.02)
    fit = fit_shooting(wrong, data, data.states, intervals=100, fixed=held)
    assert fit.error == pytest.approx(0.02**2, rel=0.1)


def test_exact_data_give_exact_constants() -> None:
    truth = program_of(LORENZ)
    data = record(truth, [-8.0, 7.0, 27.0], np.linspace(0.0, 8.0, 800))
    shots = fit_shots(off(truth, 0.05), data, data.states, cut(data, 80), fixed=held_ones(truth), rtol=1e-9)
    assert np.allclose(shots.program.constants, truth.constants, rtol=1e-6)


def test_a_state_that_nobody_measured_is_found_with_its_start() -> None:
    truth = program_of("x' = 1.1*x - 0.4*x*h; h' = 0.3*x*h - 0.9*h")
    t = np.linspace(0.0, 20.0, 120)
    whole = record(truth, [3.0, 2.0], t)
    states = whole.states.copy()
    states[:, 1] = np.nan
    data = Observations(t, states, whole.bounds, roles=(Role.OBSERVED, Role.HIDDEN))
    guess = states.copy()
    guess[0, 1] = 1.0  # only here, and wrong; the model leads on
    # The hidden scale is free, so one constant is held; factors of -1 belong to the notation.
    fixed = np.isclose(np.abs(truth.constants), 0.4) | held_ones(truth)
    wrong = truth.with_constants(np.where(fixed, truth.constants, off(truth, 0.1).constants))
    fit = fit_shooting(wrong, data, guess, fixed=fixed, iterations=40)
    assert fit.error < 1e-8
    assert fit.starts[0, 1] == pytest.approx(2.0, rel=1e-3)
    assert np.allclose(fit.program.constants, truth.constants, rtol=1e-3)


def test_inputs_drive_the_segments_at_their_own_times() -> None:
    truth = program_of("x' = 2*u - 0.7*x", inputs=("u",))
    t = np.linspace(0.0, 12.0, 60)
    u = linear(t, np.sin(t)[:, None])
    states, _ = integrate(truth, [0.3], t, signals=u)
    data = Observations(
        t,
        states,
        np.array([0, 60]),
        roles=(Role.OBSERVED, Role.INPUT),
        known=np.sin(t)[:, None],
        signals=(u,),
    )
    shots = fit_shots(off(truth, 0.3), data, states, cut(data, 10))
    assert np.allclose(shots.program.constants, truth.constants, rtol=1e-5)
    assert shots.jump < 1e-6


def test_several_trajectories_do_not_join_each_other() -> None:
    data = Observations(np.r_[0:10.0, 0:5.0], np.zeros((15, 2)), np.array([0, 10, 15]))
    segments = cut(data, 3)
    assert segments.first.tolist() == [0, 3, 6, 10]
    assert segments.last.tolist() == [3, 6, 9, 14]
    assert segments.joins.tolist() == [True, True, False, False]
    assert segments.trajectory.tolist() == [0, 0, 0, 1]


def test_the_step_solves_the_whole_matrix() -> None:
    rng = np.random.default_rng(0)
    count, dimension, constants = 4, 2, 3
    equations = step_equations(count, dimension, constants)
    joins = np.array([True, False, True, False])
    size = count * dimension + constants
    half = rng.normal(size=(40, size))
    full = half.T @ half
    for k in range(count):
        rows = slice(k * dimension, (k + 1) * dimension)
        for other in range(count):
            columns = slice(other * dimension, (other + 1) * dimension)
            if abs(other - k) > 1 or (other != k and not joins[min(k, other)]):
                full[rows, columns] = 0.0
        equations.diagonal[k] = full[rows, rows]
        equations.border[k] = full[rows, count * dimension :]
        if k + 1 < count:
            equations.below[k] = full[rows.stop : rows.stop + dimension, rows]
    equations.corner[:] = full[count * dimension :, count * dimension :]
    equations.node_sizes[:] = 1.0
    equations.constant_sizes[:] = 1.0
    gradient = rng.normal(size=size)
    equations.nodes[:] = gradient[: count * dimension].reshape(count, dimension)
    equations.constants[:] = gradient[count * dimension :]
    step, constant_step = np.empty((count, dimension)), np.empty(constants)
    assert solve_step(equations, 0.5, joins, step, constant_step)
    expected = -np.linalg.solve(full + 0.5 * 1.001 * np.eye(size), gradient)
    assert np.allclose(np.concatenate([step.ravel(), constant_step]), expected)


def test_a_system_that_cannot_be_integrated_and_a_deadline() -> None:
    truth = program_of(LORENZ)
    data = record(truth, [-8.0, 7.0, 27.0], np.linspace(0.0, 2.0, 100))
    wild = program_of("x' = x^3; y' = y^3; z' = z^3")
    assert fit_shots(wild, data, data.states, cut(data, 50)).error == np.inf
    over = Deadline(0.0)
    fit = fit_shooting(off(truth, 0.1), data, data.states, deadline=over)
    assert np.array_equal(fit.program.constants, off(truth, 0.1).constants)
