"""Multiple shooting: constants fitted over segments that must join, for records that defeat a single shot.

Over a long chaotic record, or with states that nobody measured, the error of one long trajectory has
countless local minima.  Segments of it have few.  The parameters are the constants and the state at the start
of every segment; jumps from the end of a segment to the start of the next cost more and more, until the
segments are one trajectory (Bock, 1983; as penalties, Voss, Timmer and Kurths, 2004).  Each state only
meets its neighbours, so a step takes time in proportion to the length of the record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import CONST, Program
from odefinder.inference.fit.least_squares import DAMPING_MAX, DAMPING_MIN, NOT_DEFINITE, Bools
from odefinder.inference.fit.refine import (
    Fit,
    fit_constants,
    given_constants,
    residual_weights,
    tolerance_of,
)
from odefinder.inference.fit.segments import (
    Segments,
    StepEquations,
    carry_states,
    eliminate,
    expand_segments,
    solve_step,
    step_equations,
)
from odefinder.inference.fit.trajectories import Observed
from odefinder.limits.deadline import Deadline
from odefinder.numerics.solver import Tolerance, sensitivity_workspace

PENALTIES = (1.0, 30.0, 1000.0)  # factors of the scaled jumps, one after the other
DAMPING, SHRINK, GROW = 1e-2, 0.1, 10.0
TOLERANCE = 1e-6  # relative decrease of the cost below which a step counts as no progress
EXACT = 1e-20  # cost per value below which nothing is left to gain
JOINED = 1e-3  # root mean square of the scaled jumps below which segments count as one trajectory
MOST_STEPS = 1000  # of the integrator, in a segment


@dataclass(frozen=True)
class Shots:
    """Constants fitted over segments."""

    program: Program
    nodes: Floats  # (segments, D): the states at their starts
    error: float  # mean squared scaled residual of the data; inf if a segment cannot be integrated
    jump: float  # root mean square of the jumps between segments, in units of each variable's scale
    cost: float  # sum of squares: residuals of the data, and jumps times the last penalty


@dataclass(frozen=True)
class Outlook:
    """The cost around a fit, by the constants alone: cost + 2 g d + d H d, the starts following them."""

    cost: float
    gradient: Floats  # (C,): half of it
    hessian: Floats  # (C, C)


def cut(data: Observations, intervals: int) -> Segments:
    """Segments of about this many intervals, as even as possible within each trajectory."""
    first, last, trajectory, joins = [], [], [], []
    for k, (begin, end) in enumerate(data.spans()):
        count = max(1, round((end - begin - 1) / max(intervals, 1)))
        cuts = np.unique(np.linspace(begin, end - 1, count + 1).round().astype(np.int64))
        if len(cuts) == 1:
            cuts = np.repeat(cuts, 2)
        first += cuts[:-1].tolist()
        last += cuts[1:].tolist()
        trajectory += [k] * (len(cuts) - 1)
        joins += [True] * (len(cuts) - 2) + [False]
    return Segments(np.array(first), np.array(last), np.array(trajectory), np.array(joins))


def fit_shots(
    program: Program,
    data: Observations,
    states: Floats,
    segments: Segments,
    *,
    fixed: Bools | None = None,
    penalties: tuple[float, ...] = PENALTIES,
    iterations: int = 20,
    rtol: float = 1e-6,
    deadline: Deadline | None = None,
) -> Shots:
    """Constants and states at the starts of segments, first with loose and then with tight joints.

    states (N, D): where to begin; NaN where nothing is known, as in a column that was never observed: there
    each segment begins where the one before ends.  fixed (constants,): which constants stay as they are.
    iterations: for each penalty.  The deadline ends the fit with the best so far.
    """
    held = given_constants(program, data) | (False if fixed is None else fixed)
    problem = _Problem(program, data, segments, held, tolerance_of(data, rtol, MOST_STEPS))
    constants, nodes = program.constants.copy(), problem.first_nodes(program.constants, states)
    cost = np.inf
    for penalty in penalties:
        constants, nodes, cost = problem.minimise(constants, nodes, penalty, iterations, deadline)
        if not np.isfinite(cost) or (deadline is not None and deadline.over):
            break
    error, jump = problem.errors(constants, nodes)
    return Shots(program.with_constants(constants), nodes, error, jump, cost)


def outlook(
    program: Program,
    data: Observations,
    nodes: Floats,
    segments: Segments,
    penalty: float,
    rtol: float = 1e-6,
) -> Outlook | None:
    """How the cost depends on the constants near a fit, for all of them; None if it cannot be integrated."""
    held = given_constants(program, data)
    problem = _Problem(program, data, segments, held, tolerance_of(data, rtol, MOST_STEPS))
    equations = step_equations(*problem.size)
    cost = problem.expand(program.constants.copy(), nodes, penalty, equations)
    if not np.isfinite(cost):
        return None
    found = eliminate(equations, 0.0, segments.joins)
    gain = float((found.right[:, :, -1] ** 2).sum())  # what better starts alone would gain
    return Outlook(cost - gain, -found.constants, found.corner) if found.definite else None


def fit_shooting(
    program: Program,
    data: Observations,
    states: Floats,
    *,
    intervals: int | None = None,
    fit_starts: bool = True,
    fixed: Bools | None = None,
    iterations: int = 20,
    deadline: Deadline | None = None,
) -> Fit:
    """Multiple shooting, then one shot from the starts that it found; see `fit_shots`.

    intervals: of a segment; by default a tenth of the longest trajectory, but at least four.
    """
    if data.given is not None:  # segments integrate what is found, without what is known
        return fit_constants(
            program, data, starts=states[data.bounds[:-1]], fit_starts=fit_starts, fixed=fixed
        )
    longest = int(np.diff(data.bounds).max()) - 1
    segments = cut(data, max(4, longest // 10) if intervals is None else intervals)
    shots = fit_shots(program, data, states, segments, fixed=fixed, iterations=iterations, deadline=deadline)
    starts = shots.nodes[np.r_[True, ~segments.joins[:-1]]]
    if not fit_starts:  # exact data: only what was not seen is free
        seen = data.states[data.bounds[:-1]]
        starts = np.where(np.isfinite(seen), seen, starts)
    if deadline is not None and deadline.over:
        iterations = 0
    return fit_constants(
        shots.program, data, starts=starts, fit_starts=fit_starts, fixed=fixed, iterations=2 * iterations
    )


class _Problem:
    """One system over one set of segments."""

    def __init__(
        self, program: Program, data: Observations, segments: Segments, held: Bools, tolerance: Tolerance
    ):
        self.ops, self.values = program.ops, program.values.copy()
        self.places = np.flatnonzero(program.ops == CONST)
        self.data = Observed(data.times, data.states, data.bounds, residual_weights(data), data.driving)
        self.count, self.scale = max(data.count, 1), data.scale
        self.segments, self.held, self.tolerance = segments, held, tolerance
        self.size = len(segments.first), data.dimension, len(self.places)
        variables = data.dimension + self.data.driving.before.shape[1]
        columns = len(self.places) + data.dimension
        self.work = sensitivity_workspace(len(program.ops), variables, columns)
        rows = int((segments.last - segments.first).max()) + 1
        self.states, self.slopes = np.empty((rows, data.dimension)), np.empty((rows, data.dimension, columns))

    def first_nodes(self, constants: Floats, states: Floats) -> Floats:
        """States at the starts of segments; unknown ones are those that the segment before leads to."""
        nodes = states[self.segments.first].astype(np.float64)
        if np.isnan(nodes).any():
            self.values[self.places] = constants
            carry_states(self.ops, self.values, nodes, self.data, self.segments, self.tolerance, self.work,
                   self.states, self.slopes)  # fmt: skip
        return nodes

    def minimise(
        self, constants: Floats, nodes: Floats, penalty: float, iterations: int, deadline: Deadline | None
    ) -> tuple[Floats, Floats, float]:
        """Levenberg-Marquardt with one penalty: constants, states and cost."""
        now, new = step_equations(*self.size), step_equations(*self.size)
        step, constant_step = np.empty_like(nodes), np.empty_like(constants)
        cost = self.expand(constants, nodes, penalty, now)
        damping, stalled = DAMPING, 0
        for _ in range(iterations):
            if not np.isfinite(cost) or cost < EXACT * self.count or damping > DAMPING_MAX:
                break
            if deadline is not None and deadline.over:
                break
            if not solve_step(now, damping, self.segments.joins, step, constant_step):
                damping *= NOT_DEFINITE
                continue
            new_cost = self.expand(constants + constant_step, nodes + step, penalty, new)
            if new_cost < cost:
                stalled = stalled + 1 if new_cost > cost * (1.0 - TOLERANCE) else 0
                constants, nodes, cost = constants + constant_step, nodes + step, new_cost
                now, new = new, now
                damping = max(damping * SHRINK, DAMPING_MIN)
            else:
                damping *= GROW
                stalled += damping > 1.0 and stalled > 0
            if stalled > 1:
                break
        return constants, nodes, cost

    def expand(self, constants: Floats, nodes: Floats, penalty: float, into: StepEquations) -> float:
        """The cost, and the normal equations there."""
        self.values[self.places] = constants
        return expand_segments(
            self.ops, self.values, nodes, self.data, self.segments, self.held, penalty / self.scale,
            self.tolerance, self.work, self.states, self.slopes, into,
        )  # fmt: skip

    def errors(self, constants: Floats, nodes: Floats) -> tuple[float, float]:
        """Mean squared scaled residual, and root mean square of the scaled jumps."""
        room = step_equations(*self.size)
        data = self.expand(constants, nodes, 0.0, room)
        jumps = self.expand(constants, nodes, 1.0, room) - data
        joints = int(self.segments.joins.sum()) * nodes.shape[1]
        if not np.isfinite(data):
            return np.inf, np.inf
        return data / self.count, float(np.sqrt(max(jumps, 0.0) / max(joints, 1)))
