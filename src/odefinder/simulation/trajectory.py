"""Trajectories for users: to the same relative accuracy whatever the units, with an implicit method at hand.

The integrator runs in units of the solution itself: every variable is divided by its size, and time begins at
0 and lasts about 1.  All factors are powers of two, so the change of units costs no accuracy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.thinning import evenly
from odefinder.data.units import in_units
from odefinder.expressions.program import Program
from odefinder.numerics.evaluate import evaluate, evaluate_gradients
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]

ATOL = 1e-10  # error of a step, relative to the size of a variable
BOUND = 1e12  # times that size: divergence, where a first look did not reach the end
FAR_BEYOND = 10.0  # times the largest value of the other
FIRST_LOOK, MOST_LOOKED_AT = 100, 20_000  # rows, at least and at most
ROUGHLY = 1e-3  # rtol of the first look
SMALL = 0.1  # share of the rows by which the size of a variable that begins at 0 is judged
MOST_SLOPES, FEWEST_ROWS = 250_000, 10  # of all rows of a first look: fewer rows are read of many variables
ROUNDING = 1e-6  # of what its equation adds up in one step: below, a variable may be rounding errors only


class Task(NamedTuple):
    """A trajectory to be computed."""

    program: Program
    start: Floats  # (D,)
    times: Floats  # (N,)
    signals: Signals
    rtol: float
    max_steps: int


class Units(NamedTuple):
    """x = sizes * x~ and t = t0 + t~ / rate; above the bound, x~ counts as divergent."""

    sizes: Floats  # (D,)
    rate: float
    bound: float


class Trajectory(NamedTuple):
    """The result."""

    states: Floats  # (N, D), rows not reached are NaN
    status: Status
    stiff: bool  # whether the implicit method was needed
    units: Units


def trajectory(task: Task, atol: float | None = None) -> Trajectory:
    """The states at the times of the task; without atol, it is relative to the size of every variable."""
    if atol is None:
        return _run(task, _units_of(task), ATOL)
    return _run(task, _plain_units(task), atol)


def nearby_trajectory(task: Task, like: Trajectory) -> Trajectory:
    """One that should hardly differ from another: in its units, by its method, without a first look.

    It ends where it is far beyond the other.
    """
    largest = float(np.nanmax(np.abs(like.states) / like.units.sizes, initial=1.0))
    units = like.units._replace(bound=min(like.units.bound, FAR_BEYOND * largest))
    return _run(task, units, ATOL) if like.stiff else _explicit(task, units, ATOL)


def _plain_units(task: Task) -> Units:
    return Units(np.ones(len(task.start)), 1.0, BOUND * max(1.0, float(np.abs(task.start).max())))


def _units_of(task: Task) -> Units:
    """The units of the solution, by a first look at it."""
    duration = float(task.times[-1] - task.times[0])
    if duration == 0.0:
        return _plain_units(task)
    rate = float(_power_of_two(np.array(1.0 / duration)))
    sizes = _rough_sizes(task, duration)
    rough = Units(sizes, rate, _largest(sizes))
    some = task.times[evenly(len(task.times), MOST_LOOKED_AT)]
    grid = np.union1d(some, np.linspace(task.times[0], task.times[-1], FIRST_LOOK))
    look = task._replace(times=grid, rtol=max(task.rtol, ROUGHLY))
    seen = _explicit(look, rough, ATOL)
    sizes = _sizes(look, seen.states, rough.sizes, duration)
    return Units(sizes, rate, _largest(sizes) if seen.status == Status.OK else BOUND)


def _run(task: Task, units: Units, atol: float) -> Trajectory:
    found = _explicit(task, units, atol)
    if found.status not in (Status.TOO_MANY_STEPS, Status.STEP_TOO_SMALL):
        return found
    from odefinder.numerics.stiff import integrate_stiff

    program, start, times, signals = _scaled(task, units)
    states, status = integrate_stiff(
        program, start, times, task.rtol, atol,
        signals=signals, max_evaluations=task.max_steps, bound=units.bound,
    )  # fmt: skip
    # Near a singularity both fail; the system is stiff only if the implicit method does better.
    if rows_reached(states) > rows_reached(found.states):
        return Trajectory(states * units.sizes, status, True, units)
    return found


def _explicit(task: Task, units: Units, atol: float) -> Trajectory:
    program, start, times, signals = _scaled(task, units)
    states, status = integrate(
        program,
        start,
        times,
        signals=signals,
        rtol=task.rtol,
        atol=atol,
        max_steps=task.max_steps,
        bound=units.bound,
    )
    return Trajectory(states * units.sizes, status, False, units)


def _scaled(task: Task, units: Units) -> tuple[Program, Floats, Floats, Signals]:
    """The task in these units; inputs keep theirs."""
    program, signals, begin = task.program, task.signals, task.times[0]
    factors = np.concatenate([units.sizes, np.ones(signals.before.shape[1])])
    if units.rate != 1.0 or (units.sizes != 1.0).any():
        program = in_units(program, factors, units.rate)
    doses = signals.doses / units.sizes if signals.doses.shape[1] else signals.doses
    moved = signals._replace(knots=(signals.knots - begin) * units.rate, doses=doses)
    return program, task.start / units.sizes, (task.times - begin) * units.rate, moved


# ---------------------------------------------------------------------------------------- sizes


def _rough_sizes(task: Task, duration: float) -> Floats:
    """Before anything is known: the initial values, or what doses or the equations make of a 0."""
    signals, start = task.signals, np.abs(task.start)
    given = np.abs(signals.doses).sum(axis=0) if signals.doses.shape[1] else np.zeros(len(start))
    inputs = np.concatenate([signals.before, signals.after, values_at(signals, task.times[:1])])
    points = np.hstack([np.tile(task.start, (len(inputs), 1)), inputs])
    with np.errstate(all="ignore"):
        moved = duration * np.nan_to_num(np.abs(evaluate(task.program, points)), posinf=0.0).max(axis=0)
    sizes = np.select([start > 0.0, given > 0.0, moved > 0.0], [start, given, moved], 0.0)
    others = float(sizes.max())
    return _safe(np.where(sizes > 0.0, sizes, others if others > 0.0 else 1.0), duration)


def _sizes(look: Task, states: Floats, rough: Floats, duration: float) -> Floats:
    """After a first look: initial values, or what a variable that begins at 0 usually is.

    Sizes that are too small cost a little time, and those that are too large would cost accuracy.
    """
    reached = rows_reached(states)
    magnitudes = np.abs(states[:reached])
    usual = _usual(magnitudes)
    sizes = np.where(look.start != 0.0, np.abs(look.start), np.where(usual > 0.0, usual, rough))
    count = int(np.clip(MOST_SLOPES // len(look.start) ** 2, FEWEST_ROWS, FIRST_LOOK))
    rows = np.unique(np.linspace(0, reached - 1, count).astype(np.int64))
    points = np.hstack([states[rows], values_at(look.signals, look.times[rows])])
    with np.errstate(all="ignore"):
        slopes = evaluate_gradients(look.program, points)
        terms = (np.abs(slopes.jacobian) * magnitudes[rows][:, None, :]).sum(axis=2)  # what f adds up
        for column, component in enumerate(slopes.components.tolist()):
            terms[:, component] += np.abs(slopes.constants[:, column] * look.program.constants[column])
        fastest = np.nan_to_num(np.abs(np.diagonal(slopes.jacobian, axis1=1, axis2=2)), posinf=0.0).max()
        step = min(duration, 1.0 / fastest) if fastest > 0.0 else duration
        floor = ROUNDING * step * _usual(np.nan_to_num(terms, posinf=0.0))
    return _safe(np.maximum(sizes, floor), duration)


def _usual(magnitudes: Floats) -> Floats:
    """A small one of the magnitudes (n, D) of each variable, 0 aside."""
    usual = np.zeros(magnitudes.shape[1])
    plain = (magnitudes > 0.0).all(axis=0)
    if plain.any():
        usual[plain] = np.quantile(magnitudes[:, plain], SMALL, axis=0)
    for k in np.flatnonzero(~plain & magnitudes.any(axis=0)).tolist():
        own = magnitudes[:, k]
        usual[k] = np.quantile(own[own > 0.0], SMALL)
    return usual


def _safe(sizes: Floats, duration: float) -> Floats:
    """Powers of two near the sizes, with which no change of units overflows."""
    with np.errstate(over="ignore"):
        return _power_of_two(np.clip(sizes, max(1e-290, 1e-290 * duration), min(1e290, 1e290 * duration)))


def _power_of_two(values: Floats) -> Floats:
    return np.exp2(np.round(np.log2(values)))


def _largest(sizes: Floats) -> float:
    """A bound that only overflow reaches."""
    return float(1e290 / max(1.0, sizes.max()))


def rows_reached(states: Floats) -> int:
    """The number of rows before the solution ends."""
    return int(np.isfinite(states).all(axis=1).sum())
