"""Standard errors and intervals mean what they say, and say where the data do not determine a constant."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.expressions.canonical import canonical
from odefinder.inference.certainty import Certainty, certainty_of, constants_table
from odefinder.inference.fit.constants import explicit_form, pinned_constants
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.residuals import checks, dependence, residuals_of
from odefinder.inference.prepared import Prepared, prepared
from odefinder.system import ODESystem

TIMES = np.linspace(0.0, 6.0, 60)
GROWTH = ODESystem.from_text("x' = 1.2*x - 0.3*x^2")


def observed(
    system: ODESystem, start: list[float], sigma: float, seed: int = 0, times: np.ndarray = TIMES
) -> tuple[Prepared, np.ndarray]:
    states = system.simulate(start, times)
    noise = sigma * states.std(axis=0) * np.random.default_rng(seed).normal(size=states.shape)
    return prepared(from_arrays(states + noise, times, list(system.variables))), np.array([start])


def certain(system: ODESystem, start: list[float], sigma: float, seed: int = 0) -> tuple[Certainty, Prepared]:
    given, starts = observed(system, start, sigma, seed)
    return certainty_of(system, starts, given), given


def test_errors_are_the_spread_of_estimates_over_many_experiments() -> None:
    found, errors = [], []
    for seed in range(60):
        one, _ = certain(GROWTH, [0.3], 0.03, seed)
        found.append(one.constants.in_users_units(one.best.program.constants))
        errors.append(one.errors)
    assert np.mean(found, axis=0) == pytest.approx(GROWTH.constants, rel=0.01)
    assert np.std(found, axis=0) == pytest.approx(np.mean(errors, axis=0), rel=0.25)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    inside = []
    for seed in range(60):
        one, given = certain(GROWTH, [0.3], 0.05, seed)
        table = constants_table(one, given, level=0.8)
        # The truth is shown, and what is shown is inside; so look at the ends before that.
        centres = one.constants.in_users_units(one.best.program.constants)
        halves = np.array([max(row.high - c, c - row.low) for row, c in zip(table, centres, strict=True)])
        inside += list(np.abs(centres - GROWTH.constants) < 1.28 * one.errors)
        assert (halves > 0.0).all()
    assert 0.7 < np.mean(inside) < 0.9


def test_errors_do_not_depend_on_units() -> None:
    states = GROWTH.simulate([0.3], TIMES)
    states += 0.03 * np.random.default_rng(0).normal(size=states.shape)
    small = ODESystem.from_text("x' = 1.2e3*x - 0.3e15*x^2")
    here = certainty_of(GROWTH, np.array([[0.3]]), prepared(from_arrays(states, TIMES)))
    there = certainty_of(small, np.array([[0.3e-12]]), prepared(from_arrays(1e-12 * states, 1e-3 * TIMES)))
    assert there.errors / np.abs(small.constants) == pytest.approx(
        here.errors / np.abs(GROWTH.constants), rel=1e-3
    )


def test_a_product_of_two_constants_is_not_two_constants() -> None:
    system = ODESystem.from_text("x' = 0.5*y; y' = -0.8*x")  # y is never seen: any scale of it will do
    states = system.simulate([1.0, 0.3], TIMES)[:, :1]
    given = prepared(from_arrays(states, TIMES, ["x"]).with_roles(hidden=1))
    named = ODESystem(system.program, given.dataset.variables)
    found = certainty_of(named, np.array([[1.0, 0.3]]), given)
    assert np.isinf(found.errors).all()
    for row in constants_table(found, given):
        assert not row.determined
        assert np.isinf(row.high) or np.isinf(row.low)


def test_saturation_that_was_never_seen_has_no_upper_end() -> None:
    """Michaelis-Menten far below its constant: only the ratio matters, and the profile says so."""
    system = ODESystem.from_text("s' = -0.8*s/(1 + 0.02*s)")
    found, given = certain(system, [1.0], 0.02)
    rate, half = (row for row in constants_table(found, given) if not row.given)
    assert rate.determined
    assert half.low < 0.0 < half.high  # it may as well be 0
    assert half.error > abs(half.value)


def test_the_one_below_a_fraction_is_given() -> None:
    system = ODESystem.from_text("x' = y - 2*x/(1 + 3*x); y' = 1 - (x - 1)^2*y")
    explicit, written = explicit_form(canonical(system.program))
    pinned = pinned_constants(explicit)
    assert explicit.constants[pinned].tolist() == [1.0]
    assert explicit.constants[~written].tolist() == [1.0]  # of y


def test_rounded_constants_keep_their_error() -> None:
    found, given = certain(ODESystem.from_text("x' = y; y' = -1.234567*x"), [1.0, 0.0], 0.02)
    one, other = constants_table(found, given)
    assert (one.value, one.rounded, one.written) == (1.0, True, False)
    assert (other.rounded, other.written) == (False, True)
    assert 0.0 < one.error < 0.05
    assert one.low < 1.0 < one.high


def test_residuals_that_are_alike_count_as_fewer() -> None:
    wrong = ODESystem.from_text("x' = 0.9*x - 0.2*x^2")
    right, given = certain(GROWTH, [0.3], 0.03)
    assert dependence(residuals_of(right.best, given.data), given.data) < 2.0
    program = given.scaling.to_scaled(wrong.program)
    left = residuals_of(Fit(program, given.scaling.states(np.array([[0.3]])), 0.0), given.data)
    assert dependence(left, given.data) > 5.0
    (check,) = checks(left, given.data)
    assert check is not None
    assert check.correlated
    (check,) = checks(residuals_of(right.best, given.data), given.data)
    assert check is not None
    assert not check.correlated
    assert not check.drifts
    assert check.outliers == 0
