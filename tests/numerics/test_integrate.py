"""The integrator against closed forms, conserved quantities, finite differences and, on ODEBench, SciPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import sympy
from numba import njit
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from odefinder.bench import BenchSystem, odebench
from odefinder.errors import DataError, ExpressionError, SettingsError
from odefinder.expressions.program import Program
from odefinder.numerics.integrate import (
    Status,
    Tolerance,
    Wanted,
    integrate,
    integrate_batch,
    integrate_with_sensitivities,
    solve,
    solve_with_sensitivities,
    workspace,
)
from tests.programs import words

TIMES = np.linspace(0.0, 10.0, 150)
GROWTH = words("mul -0.5 x0")
LOGISTIC = words("mul mul 1.3 x0 add 1 mul -0.2 x0")
OSCILLATOR = words("x1  mul -4 x0")
BLOW_UP = words("pow2 x0")  # x' = x^2: 1 / (1 - t) from 1
LOTKA_VOLTERRA = words("add mul 1.1 x0 mul -0.4 mul x0 x1  add mul -0.4 x1 mul 0.1 mul x0 x1")
PENDULUM = words("x1  mul -2 sin x0")
LORENZ = words(
    "mul 10 add x1 mul -1 x0  add mul x0 add 28 mul -1 x2 mul -1 x1  add mul x0 x1 mul -2.6666666666666665 x2"
)
# The chaotic systems amplify every error by exp(largest Lyapunov exponent * 10), some 10^3 to 10^4 for
# the Lorenz system (56), so two correct solvers differ in the sixth digit; 55 is Lorenz' system with
# another parameter, periodic in the end but with a long chaotic transient.
SENSITIVE = {55, 56, 59, 60, 61}


def test_exponential_and_logistic_growth() -> None:
    x, status = integrate(GROWTH, [2.0], TIMES)
    assert status == Status.OK
    np.testing.assert_allclose(x[:, 0], 2.0 * np.exp(-0.5 * TIMES), rtol=0, atol=2e-8)
    x, status = integrate(LOGISTIC, [0.3], TIMES, rtol=1e-10)
    assert status == Status.OK
    np.testing.assert_allclose(x[:, 0], 5.0 / (1.0 + (5.0 / 0.3 - 1.0) * np.exp(-1.3 * TIMES)), rtol=1e-8)


def test_oscillator_at_irregular_times() -> None:
    rng = np.random.default_rng(0)
    t = np.sort(np.concatenate([[-3.0, -3.0 + 1e-9, 20.0], rng.uniform(-3.0, 20.0, 400)]))
    x, status = integrate(OSCILLATOR, [1.0, 0.0], t, rtol=1e-10, atol=1e-12)
    assert status == Status.OK
    phase = 2.0 * (t - t[0])
    np.testing.assert_allclose(x, np.stack([np.cos(phase), -2.0 * np.sin(phase)], axis=1), atol=1e-7)


def test_error_follows_the_tolerance() -> None:
    def error(tolerance: float) -> float:
        x, _ = integrate(OSCILLATOR, [1.0, 0.0], TIMES, rtol=tolerance, atol=tolerance)
        return float(np.abs(x[:, 0] - np.cos(2.0 * TIMES)).max())

    errors = [error(10.0**-k) for k in range(3, 13)]
    assert all(finer < 0.3 * coarser for coarser, finer in pairwise(errors))
    assert errors[-1] < 1e-10


def test_dense_output_does_not_depend_on_the_other_times() -> None:
    many, _ = integrate(LOTKA_VOLTERRA, [10.0, 5.0], TIMES)
    few, _ = integrate(LOTKA_VOLTERRA, [10.0, 5.0], TIMES[[0, 31, 32, 149]])
    np.testing.assert_array_equal(few, many[[0, 31, 32, 149]])


def test_first_integrals_are_conserved() -> None:
    x, _ = integrate(LOTKA_VOLTERRA, [10.0, 5.0], np.linspace(0, 50, 500), rtol=1e-11)
    integral = 0.1 * x[:, 0] - 0.4 * np.log(x[:, 0]) + 0.4 * x[:, 1] - 1.1 * np.log(x[:, 1])
    assert np.ptp(integral) < 1e-8
    x, _ = integrate(PENDULUM, [2.5, 0.0], np.linspace(0, 50, 500), rtol=1e-11)
    energy = 0.5 * x[:, 1] ** 2 - 2.0 * np.cos(x[:, 0])
    assert np.ptp(energy) < 1e-8


def test_finite_time_blow_up() -> None:
    x, status = integrate(BLOW_UP, [1.0], TIMES / 5.0)
    reached = TIMES / 5.0 < 1.0
    assert status == Status.DIVERGED
    assert np.isnan(x[~reached]).all()
    np.testing.assert_allclose(x[reached, 0], 1.0 / (1.0 - TIMES[reached] / 5.0), rtol=1e-6)
    x, status = integrate(GROWTH.with_constants([1.0]), [1.0], TIMES, bound=100.0)
    assert status == Status.DIVERGED
    np.testing.assert_array_equal(np.isfinite(x[:, 0]), np.exp(TIMES) <= 100.0)


def test_leaving_the_domain() -> None:
    # x' = -sqrt(x - 1) - 0.1 falls to 1 in finite time and cannot go on.
    x, status = integrate(words("add mul -1 sqrt add -1 x0 -0.1"), [2.0], TIMES)
    assert status == Status.STEP_TOO_SMALL
    assert np.isfinite(x[:10]).all()
    assert np.isnan(x[-1]).all()
    assert (x[np.isfinite(x)] > 1.0 - 1e-6).all()


def test_not_finite_at_the_start() -> None:
    for program in (words("log x0"), words("inv x0"), words("add 1 sqrt add -1 x0")):
        x, status = integrate(program, [0.0], TIMES)
        assert status == Status.NOT_FINITE
        assert x[0] == 0.0
        assert np.isnan(x[1:]).all()


def test_a_stiff_problem_ends_with_its_budget() -> None:
    stiff = words("mul -1000000 add x0 mul -1 cos x1  1")
    begin = time.perf_counter()
    x, status = integrate(stiff, [0.0, 0.0], TIMES, max_steps=20_000)
    assert status == Status.TOO_MANY_STEPS
    assert time.perf_counter() - begin < 60.0  # a guard against hanging, not a measurement
    assert np.isnan(x[-1]).all()
    _, status = integrate(LORENZ, [1.0, 1.0, 1.0], TIMES, max_steps=3)
    assert status == Status.TOO_MANY_STEPS


def test_constant_and_resting_systems() -> None:
    x, status = integrate(words("3  0  x2"), [1.0, 2.0, 0.0], TIMES)
    assert status == Status.OK
    np.testing.assert_allclose(
        x, np.stack([1.0 + 3.0 * TIMES, 0 * TIMES + 2.0, 0 * TIMES], axis=1), rtol=1e-12
    )


def test_one_time_returns_the_initial_values() -> None:
    x, status = integrate(LORENZ, [1.0, 2.0, 3.0], [5.0])
    assert status == Status.OK
    assert x.tolist() == [[1.0, 2.0, 3.0]]
    x, s, status = integrate_with_sensitivities(GROWTH, [2.0], [0.0], initial=True)
    assert status == Status.OK
    assert s.tolist() == [[[0.0, 1.0]]]


def test_every_status_has_a_message() -> None:
    assert len({status.message for status in Status}) == len(Status) == 5


def test_sensitivities_in_closed_form() -> None:
    _, s, status = integrate_with_sensitivities(GROWTH, [2.0], TIMES, initial=True)
    assert status == Status.OK
    decay = np.exp(-0.5 * TIMES)
    np.testing.assert_allclose(s[:, 0, 0], 2.0 * TIMES * decay, atol=1e-6)
    np.testing.assert_allclose(s[:, 0, 1], decay, atol=1e-7)
    # x'' = -w2 x: dx/dw2 = -t sin(w t) / (2 w)
    _, s, _ = integrate_with_sensitivities(OSCILLATOR, [1.0, 0.0], TIMES, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(s[:, 0, 0], TIMES * np.sin(2.0 * TIMES) / 4.0, atol=1e-7)


MANY_CONSTANTS = words(
    "add mul 0.5 sin mul 1.2 x1 add mul -0.3 x0 add 0.1 tanh mul 0.4 x2 "
    "mul -0.7 add x0 add mul 0.2 pow2 x1 mul 0.9 exp mul -1.1 abs x2 "
    "add mul -0.6 x2 add pow add 2 pow2 x0 0.35 add inv add 1.5 pow2 x1 mul 0.05 log add 3 pow2 x2"
)


@pytest.mark.parametrize(
    ("program", "x0"),
    [
        (LOGISTIC, [0.3]),
        (LOTKA_VOLTERRA, [10.0, 5.0]),
        (PENDULUM, [2.5, 0.0]),
        (MANY_CONSTANTS, [0.5, -0.4, 0.8]),
    ],
)
def test_sensitivities_against_finite_differences(program: Program, x0: list[float]) -> None:
    """Fourth-order differences of tight integrations, for every constant and initial value."""
    tight = {"rtol": 1e-12, "atol": 1e-13}
    t = np.linspace(0.0, 3.0, 23)
    _, s, status = integrate_with_sensitivities(program, x0, t, initial=True, **tight)
    assert status == Status.OK
    parameters = np.concatenate([program.constants, x0])
    n_constants = len(program.constants)
    assert s.shape == (len(t), len(x0), len(parameters))

    def states(p: NDArray) -> NDArray:
        return integrate(program.with_constants(p[:n_constants]), p[n_constants:], t, **tight)[0]

    for i, value in enumerate(parameters):
        step = np.zeros_like(parameters)
        step[i] = 1e-3 * max(abs(value), 0.1)
        difference = 8.0 * (states(parameters + step) - states(parameters - step))
        difference -= states(parameters + 2 * step) - states(parameters - 2 * step)
        difference /= 12.0 * step[i]
        scale = 1.0 + np.abs(difference).max()
        np.testing.assert_allclose(s[:, :, i], difference, rtol=0, atol=1e-6 * scale)

    only_constants = integrate_with_sensitivities(program, x0, t, **tight)[1]
    only_initial = integrate_with_sensitivities(program, x0, t, constants=False, initial=True, **tight)[1]
    np.testing.assert_array_equal(only_constants, s[:, :, :n_constants])
    np.testing.assert_array_equal(only_initial, s[:, :, n_constants:])


def test_states_are_the_same_with_sensitivities() -> None:
    for entry in odebench():
        program = entry.system().program
        for x0 in entry.initial_values:
            plain, status = integrate(program, x0, TIMES)
            for initial in (False, True):
                x, s, same_status = integrate_with_sensitivities(program, x0, TIMES, initial=initial)
                assert status == same_status
                np.testing.assert_array_equal(x, plain)
                assert np.isfinite(s).all()


def test_a_system_without_constants_has_no_sensitivities() -> None:
    x, s, status = integrate_with_sensitivities(words("mul x0 x1  x0"), [-1.0, 0.5], TIMES)
    assert status == Status.OK
    assert s.shape == (150, 2, 0)
    np.testing.assert_array_equal(x, integrate(words("mul x0 x1  x0"), [-1.0, 0.5], TIMES)[0])


def test_sensitivities_end_where_the_states_end() -> None:
    x, s, status = integrate_with_sensitivities(BLOW_UP, [1.0], TIMES / 5.0, initial=True)
    assert status == Status.DIVERGED
    np.testing.assert_array_equal(np.isnan(x[:, 0]), np.isnan(s[:, 0, 0]))
    reached = ~np.isnan(x[:, 0])
    np.testing.assert_allclose(s[reached, 0, 0], (1.0 - TIMES[reached] / 5.0) ** -2.0, rtol=1e-4)


def batch() -> tuple[list[Program], list[NDArray], list[NDArray]]:
    """All systems of ODEBench and a few that end early, each with times of its own."""
    rng = np.random.default_rng(1)
    systems = [(entry.system().program, x0) for entry in odebench() for x0 in entry.initial_values]
    systems += [(BLOW_UP, (1.0,)), (words("log x0"), (0.0,)), (LORENZ, (1.0, 1.0, 1.0))]
    times = [np.sort(rng.uniform(0.0, 5.0, rng.integers(1, 40))) for _ in systems]
    return [p for p, _ in systems], [np.array(x0) for _, x0 in systems], times


@pytest.mark.parametrize("n_threads", [1, 2, 7, None])
def test_batch_is_the_same_as_one_by_one(n_threads: int | None) -> None:
    programs, x0s, ts = batch()
    results = integrate_batch(programs, x0s, ts, n_threads=n_threads, rtol=1e-7)
    assert len(results) == len(programs)
    for (x, status), program, x0, t in zip(results, programs, x0s, ts, strict=True):
        single, single_status = integrate(program, x0, t, rtol=1e-7)
        assert status == single_status
        np.testing.assert_array_equal(x, single)
    assert integrate_batch([], [], []) == []


def test_batches_within_threads() -> None:
    programs, x0s, ts = batch()
    expected = integrate_batch(programs, x0s, ts, n_threads=1)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(integrate_batch, programs, x0s, ts, n_threads=2) for _ in range(3)]
        for future in futures:
            for (x, _), (same, _) in zip(future.result(), expected, strict=True):
                np.testing.assert_array_equal(x, same)


def test_solve_from_compiled_code() -> None:
    @njit
    def end_points(ops: NDArray, values: NDArray, starts: NDArray, t: NDArray) -> NDArray:
        work = workspace(100, 5)  # larger than needed, and used again
        out = np.empty((len(t), starts.shape[1]))
        ends = np.empty_like(starts)
        for i in range(len(starts)):
            solve(ops, values, len(ops), starts[i], t, Tolerance(1e-8, 1e-10, 10_000, 1e12), work, out)
            ends[i] = out[-1]
        return ends

    starts = np.random.default_rng(0).uniform(-5, 5, size=(4, 3))
    ends = end_points(LORENZ.ops, LORENZ.values, starts, TIMES[:20])
    for start, end in zip(starts, ends, strict=True):
        np.testing.assert_array_equal(integrate(LORENZ, start, TIMES[:20])[0][-1], end)
    small, end, loose = workspace(3, 1), np.empty((2, 1)), Tolerance(1e-8, 1e-10, 10, 1e12)
    with pytest.raises(ValueError, match="does not fit"):
        solve_with_sensitivities(
            GROWTH.ops, GROWTH.values, 3, starts[0, :1], TIMES[:2], small.no_signals, loose,
            Wanted(True, True), small, end, np.empty((2, 1, 2)),
        )  # fmt: skip
    with pytest.raises(ValueError, match="too small"):
        solve(LORENZ.ops, LORENZ.values, 25, starts[0], TIMES, loose, small, np.empty((150, 3)))


def test_wrong_input_is_named() -> None:
    with pytest.raises(DataError, match="sort them"):
        integrate(GROWTH, [1.0], [0.0, 2.0, 1.0])
    with pytest.raises(DataError, match="remove repeated"):
        integrate(GROWTH, [1.0], [0.0, 1.0, 1.0])
    with pytest.raises(DataError, match="times contain NaN"):
        integrate(GROWTH, [1.0], [0.0, np.nan, 1.0])
    with pytest.raises(DataError, match="initial values contain NaN"):
        integrate(GROWTH, [np.nan], TIMES)
    with pytest.raises(DataError, match="no times"):
        integrate(GROWTH, [1.0], [])
    with pytest.raises(DataError, match="lists of numbers"):
        integrate(GROWTH, [[1.0]], TIMES)
    with pytest.raises(ExpressionError, match="2 variables need 2 equations"):
        integrate(GROWTH, [1.0, 2.0], TIMES)
    with pytest.raises(ExpressionError, match="variable number 3"):
        integrate(words("x3"), [1.0], TIMES)
    with pytest.raises(DataError, match="one x0 and one t per program"):
        integrate_batch([GROWTH], [[1.0]], [])
    with pytest.raises(SettingsError, match="atol"):
        integrate(GROWTH, [1.0], TIMES, atol=0.0)
    with pytest.raises(SettingsError, match="max_steps"):
        integrate_with_sensitivities(GROWTH, [1.0], TIMES, max_steps=0)
    with pytest.raises(SettingsError, match="n_threads"):
        integrate_batch([GROWTH], [[1.0]], [TIMES], n_threads=0)


def right_hand_side(entry: BenchSystem) -> Callable[[float, NDArray], list[float]]:
    """A way of its own from the published text to numbers: SymPy, nothing of ours."""
    names = list(entry.variables)
    symbols = sympy.symbols(names)
    known = dict(zip(names, symbols, strict=True))
    known |= {name: sympy.Float(value) for name, value in entry.parameters.items()}
    expressions = [sympy.sympify(text, locals=known) for text in entry.equations]
    function = sympy.lambdify([symbols], expressions, modules="math", cse=True)
    return lambda _, x: function(x.tolist())


@pytest.mark.parametrize("entry", odebench(), ids=lambda entry: str(entry.id))
def test_odebench_against_scipy(entry: BenchSystem) -> None:
    program = entry.system().program
    derivative = right_hand_side(entry)
    for x0 in entry.initial_values:
        reference = solve_ivp(
            derivative, (0.0, 10.0), x0, method="DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-14
        )
        assert reference.success
        x, status = integrate(program, x0, TIMES, rtol=1e-10, atol=1e-12)
        assert status == Status.OK
        error = np.abs(x - reference.y.T) / np.ptp(reference.y, axis=1)
        assert error.max() < (1e-4 if entry.id in SENSITIVE else 1e-8)
