"""The compiled integrator: adaptive steps, dense output at any times, status instead of exceptions.

The state is advanced first; only when a step is accepted do the sensitivities follow over the same step, so
the states do not depend on whether sensitivities are computed, and rejected steps cost nothing extra.

An alarm (`limits/alarm.py`) ends an integration as if its steps were used up.

Signals (`signals.py`) are variables without equations.  Steps end at their knots, so a signal is linear
within a step; after a jump of a signal or of a state, the derivatives are computed again.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled, inlined, kernel
from odefinder.expressions.program import Ops, Values
from odefinder.limits.alarm import rings
from odefinder.numerics.engine.bytecode import LANES, LAST_STAGE, Bytecode, bytecode, translate
from odefinder.numerics.engine.dormand_prince import (
    NODES,
    attempt_step,
    best_factor,
    dense_weights,
    first_step,
)
from odefinder.numerics.engine.sensitivities import (
    Sensitivities,
    advance,
    fits,
    interpolate,
    sensitivities,
    start,
)
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]


class Status(IntEnum):
    """How an integration ended."""

    OK = 0
    DIVERGED = 1
    TOO_MANY_STEPS = 2
    STEP_TOO_SMALL = 3
    NOT_FINITE = 4

    @property
    def message(self) -> str:
        """What happened, for the user."""
        return _MESSAGES[self]


_MESSAGES = {
    Status.OK: "The integration reached the last time.",
    Status.DIVERGED: "A variable grew beyond the bound: the solution seems to blow up in finite time.",
    Status.TOO_MANY_STEPS: (
        "The number of steps was used up: the system is stiff or the time span is long. "
        "Raise max_steps, loosen rtol or integrate over a shorter time."
    ),
    Status.STEP_TOO_SMALL: (
        "The step became too small for the precision of the time: the solution runs into a singularity "
        "or leaves the domain of the formula (a root or logarithm of a negative number)."
    ),
    Status.NOT_FINITE: "The formula has no finite value at the initial values.",
}
# Plain integers for the compiled code.
_OK, _DIVERGED, _TOO_MANY_STEPS = int(Status.OK), int(Status.DIVERGED), int(Status.TOO_MANY_STEPS)
_STEP_TOO_SMALL, _NOT_FINITE = int(Status.STEP_TOO_SMALL), int(Status.NOT_FINITE)

SHRINK_MOST, GROW_MOST = 0.2, 10.0
SHRINK_NOT_FINITE = 0.25
EPSILON = 2.220446049250313e-16


class Tolerance(NamedTuple):
    """How exactly and how long a trajectory is followed."""

    rtol: float  # tolerated error of a step, relative to the state
    atol: float  # and beyond that
    max_steps: int  # accepted and rejected together
    bound: float  # the largest absolute value of a variable that does not yet count as divergence


class Wanted(NamedTuple):
    """By what a trajectory is differentiated."""

    constants: bool
    initial: bool


class Workspace(NamedTuple):
    """Everything an integration writes to; reused from one system to the next."""

    target: Bytecode
    state: NDArray[np.float64]  # (max_variables,)
    weights: NDArray[np.float64]  # (LANES,): of the dense output
    sensitivities: Sensitivities
    nothing: NDArray[np.float64]  # (0, 0, 0): in place of the sensitivities, where none are asked for
    no_signals: Signals  # of autonomous systems


@compiled
def workspace(max_nodes: int, max_variables: int) -> Workspace:
    """Work arrays of `solve`, for systems with at most this many nodes and variables."""
    return _workspace(max_nodes, max_variables, sensitivities(0, 0, 0))


@compiled
def sensitivity_workspace(max_nodes: int, max_variables: int, max_parameters: int) -> Workspace:
    """Work arrays of `solve_with_sensitivities`, for at most this many parameters (columns)."""
    return _workspace(max_nodes, max_variables, sensitivities(max_nodes, max_variables, max_parameters))


@compiled
def _workspace(max_nodes: int, max_variables: int, sensitivities: Sensitivities) -> Workspace:
    return Workspace(
        bytecode(max_nodes, max_variables),
        np.empty(max_variables),
        np.empty(LANES),
        sensitivities,
        np.empty((0, 0, 0)),
        Signals(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0))),
    )


@inlined
def _next_knot(signals: Signals, time: float) -> int:
    """The first knot after a time; the number of knots if there is none."""
    low, high = 0, len(signals.knots)
    while low < high:
        middle = (low + high) // 2
        if signals.knots[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _jumps(signals: Signals, knot: int) -> bool:
    """Whether a signal or a state jumps at a knot."""
    for i in range(signals.before.shape[1]):
        if signals.before[knot, i] != signals.after[knot, i]:
            return True
    for d in range(signals.doses.shape[1]):
        if signals.doses[knot, d] != 0.0:
            return True
    return False


@inlined
def _drive(signals: Signals, knot: int, now: float, length: float, dimension: int, slots: Floats) -> None:
    """Write the signals of a step that ends at the next knot or before it into all stages."""
    for i in range(signals.before.shape[1]):
        if knot == 0:
            value, slope = signals.before[0, i], 0.0
        elif knot == len(signals.knots):
            value, slope = signals.after[knot - 1, i], 0.0
        else:
            begin, value = signals.knots[knot - 1], signals.after[knot - 1, i]
            slope = (signals.before[knot, i] - value) / (signals.knots[knot] - begin)
            value += slope * (now - begin)
        for stage in range(1, LAST_STAGE + 1):
            slots[(dimension + i) * LANES + stage] = value + slope * (length * NODES[stage])


@kernel
def solve_with_sensitivities(
    ops: Ops,
    values: Values,
    n: int,
    x0: Floats,
    t: Floats,
    signals: Signals,
    tolerance: Tolerance,
    wanted: Wanted,
    work: Workspace,
    out: Floats,
    out_s: Floats,
) -> int:
    """As `solve`, and dx/dp to out_s (N, D, P): P the constants, if asked, then the initial values, if asked.

    `work` comes from `sensitivity_workspace`.  signals: the variables after the states; `work.no_signals` for
    none.  States at the time of a dose are those before it.
    """
    dimension, n_times = len(x0), len(t)
    n_knots, n_signals = len(signals.knots), signals.before.shape[1]
    target, state = work.target, work.state
    rtol, atol, bound = tolerance.rtol, tolerance.atol, tolerance.bound
    if n > len(target.code) or dimension + n_signals > len(state):
        raise ValueError("the workspace is too small for this system")
    k, roots = target.slots, target.roots

    out[:] = np.nan
    translate(ops, values, n, dimension, dimension + n_signals, target)
    n_constants = target.counts[1] if wanted.constants else 0
    n_columns = n_constants + (dimension if wanted.initial else 0)
    with_sensitivities = n_columns > 0
    if with_sensitivities:
        if n_columns != out_s.shape[2] or not fits(work.sensitivities, dimension, n_columns):
            raise ValueError("the workspace or the output does not fit the number of parameters")
        out_s[:] = np.nan
        start(dimension, n_columns, n_constants, work.sensitivities, out_s[0])

    for d in range(dimension):
        out[0, d] = x0[d]
        state[d] = x0[d]
        k[roots[d]] = 0.0
    if n_times == 1:
        return _OK

    # The first pass, and one after every jump, is a step of no length: it fills all stages with the values
    # at that time.
    now = new = t[0]
    end = t[n_times - 1]
    length, h, grow = 0.0, 0.0, GROW_MOST
    row = 1
    steps = 0
    knot = _next_knot(signals, now) if n_knots > 0 else 0
    if knot > 0 and signals.knots[knot - 1] == now:
        for d in range(signals.doses.shape[1]):
            state[d] += signals.doses[knot - 1, d]
    while True:
        if n_signals > 0:
            _drive(signals, knot, now, length, dimension, k)
        error = attempt_step(target, state, dimension, length, rtol, atol)
        if error <= 1.0:
            if with_sensitivities:
                advance(target, dimension, n_columns, n_constants, length, work.sensitivities)
            while row < n_times and t[row] <= new:
                w = work.weights
                dense_weights((t[row] - now) / length, w)
                for d in range(dimension):
                    i = roots[d]
                    change = w[0] * k[i] + w[2] * k[i + 2] + w[3] * k[i + 3]
                    change += w[4] * k[i + 4] + w[5] * k[i + 5] + w[6] * k[i + 6]
                    x = state[d] + length * change
                    if not abs(x) <= bound:
                        out[row] = np.nan
                        return _DIVERGED
                    out[row, d] = x
                if with_sensitivities:
                    interpolate(work.sensitivities, dimension, n_columns, length, w, row, out_s)
                row += 1
            if row == n_times:
                return _OK
            for d in range(dimension):
                x = k[d * LANES + LAST_STAGE]
                if not abs(x) <= bound:
                    return _DIVERGED
                state[d] = x
                k[roots[d]] = k[roots[d] + LAST_STAGE]
            now = new
            if steps == 0:
                h = first_step(target, state, dimension, end - now, rtol, atol)
            elif length > 0.0:
                wish = h
                h = length * (min(grow, best_factor(error)) if error > 0.0 else grow)
                grow = GROW_MOST
                if knot < n_knots and now == signals.knots[knot]:
                    h = max(h, wish)  # only the knot kept the step short
                    knot += 1
                    if _jumps(signals, knot - 1):
                        for d in range(signals.doses.shape[1]):
                            state[d] += signals.doses[knot - 1, d]
                        steps += 1
                        length = 0.0
                        continue
        elif length == 0.0:
            return _NOT_FINITE
        else:
            h = length * (max(SHRINK_MOST, best_factor(error)) if math.isfinite(error) else SHRINK_NOT_FINITE)
            grow = 1.0  # the next accepted step may not grow

        if steps >= tolerance.max_steps or rings():
            return _TOO_MANY_STEPS
        steps += 1
        # Below ten units in the last place of the time, t + h makes no sense.
        if not h >= 10.0 * EPSILON * max(abs(now), 1e-8 * (end - t[0])):
            return _STEP_TOO_SMALL
        new = min(now + h, end)
        if knot < n_knots:
            new = min(new, signals.knots[knot])
        length = new - now


@kernel
def solve(
    ops: Ops,
    values: Values,
    n: int,
    x0: Floats,
    t: Floats,
    tolerance: Tolerance,
    work: Workspace,
    out: Floats,
) -> int:
    """States at the strictly increasing times t to out (N, D), rows not reached NaN; the `Status` code."""
    return solve_with_sensitivities(
        ops, values, n, x0, t, work.no_signals, tolerance, Wanted(False, False), work, out, work.nothing
    )


@kernel
def solve_driven(
    ops: Ops,
    values: Values,
    n: int,
    x0: Floats,
    t: Floats,
    signals: Signals,
    tolerance: Tolerance,
    work: Workspace,
    out: Floats,
) -> int:
    """As `solve`, with signals."""
    return solve_with_sensitivities(
        ops, values, n, x0, t, signals, tolerance, Wanted(False, False), work, out, work.nothing
    )
