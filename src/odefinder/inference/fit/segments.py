"""The compiled part of multiple shooting: segments integrated, and the normal equations of a step.

Each segment's start meets only its neighbours and the constants, so the matrix is block tridiagonal with a
border, and a step takes time in proportion to the number of segments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints
from odefinder.expressions.program import Ops, Values
from odefinder.inference.fit.cholesky import backward, factorise, forward
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.trajectories import Observed
from odefinder.numerics.signals import signals_of
from odefinder.numerics.solver import Tolerance, Wanted, Workspace, solve_with_sensitivities


class Segments(NamedTuple):
    """Where segments lie in the data: the last row of one is the first of the next."""

    first: Ints  # (segments,)
    last: Ints  # (segments,): included
    trajectory: Ints  # (segments,)
    joins: Bools  # (segments,): whether the next segment continues this one


class StepEquations(NamedTuple):
    """The normal equations of a step: K segments, D states, C constants."""

    diagonal: Floats  # (K, D, D)
    below: Floats  # (K, D, D): row k + 1, column k
    border: Floats  # (K, D, C)
    corner: Floats  # (C, C)
    nodes: Floats  # (K, D): half the gradient
    constants: Floats  # (C,)
    node_sizes: Floats  # (K, D): what the data alone contribute to the diagonal; damping is relative to it
    constant_sizes: Floats  # (C,)


def step_equations(segments: int, dimension: int, constants: int) -> StepEquations:
    return StepEquations(
        np.empty((segments, dimension, dimension)), np.empty((segments, dimension, dimension)),
        np.empty((segments, dimension, constants)), np.empty((constants, constants)),
        np.empty((segments, dimension)), np.empty(constants), np.empty((segments, dimension)),
        np.empty(constants),
    )  # fmt: skip


@compiled
def _shoot(
    ops: Ops, values: Values, start: Floats, k: int, data: Observed, segments: Segments, tolerance: Tolerance,
    work: Workspace, states: Floats, slopes: Floats,
) -> bool:  # fmt: skip
    """Integrate one segment; whether it went to its end."""
    a, b = segments.first[k], segments.last[k] + 1
    status = solve_with_sensitivities(
        ops, values, len(ops), start, data.times[a:b], signals_of(data.driving, segments.trajectory[k]),
        tolerance, Wanted(slopes.shape[2] > slopes.shape[1], True), work, states[: b - a], slopes[: b - a],
    )  # fmt: skip
    return bool(status == 0)


@compiled
def carry_states(
    ops: Ops, values: Values, nodes: Floats, data: Observed, segments: Segments, tolerance: Tolerance,
    work: Workspace, states: Floats, slopes: Floats,
) -> None:  # fmt: skip
    """Fill in unknown states (NaN) at the starts of segments: 0 at first, then where the model has led."""
    for k in range(len(nodes)):
        continued = k > 0 and segments.joins[k - 1]
        reached = continued and _shoot(
            ops, values, nodes[k - 1], k - 1, data, segments, tolerance, work, states, slopes
        )
        for d in range(nodes.shape[1]):
            if np.isnan(nodes[k, d]):
                nodes[k, d] = 0.0
                if reached:
                    nodes[k, d] = states[segments.last[k - 1] - segments.first[k - 1], d]
                elif continued:
                    nodes[k, d] = nodes[k - 1, d]


@compiled
def expand_segments(
    ops: Ops, values: Values, nodes: Floats, data: Observed, segments: Segments, held: Bools, penalty: Floats,
    tolerance: Tolerance, work: Workspace, states: Floats, slopes: Floats, into: StepEquations,
) -> float:  # fmt: skip
    """The cost of data and jumps, inf if a segment cannot be integrated, and its normal equations."""
    dimension, n_constants = nodes.shape[1], len(held)
    for part in (into.diagonal, into.below, into.border):
        part[:] = 0.0
    into.corner[:] = 0.0
    into.nodes[:] = 0.0
    into.constants[:] = 0.0
    into.node_sizes[:] = 0.0
    into.constant_sizes[:] = 0.0
    cost = 0.0
    for k in range(len(nodes)):
        if not _shoot(ops, values, nodes[k], k, data, segments, tolerance, work, states, slopes):
            return np.inf
        a, end = segments.first[k], segments.last[k] - segments.first[k]
        for c in range(n_constants):
            if held[c]:
                slopes[: end + 1, :, c] = 0.0
        # The row where two segments meet belongs to the second one.
        for i in range(end if segments.joins[k] else end + 1):
            for d in range(dimension):
                w = data.weights[a + i, d]
                if w != 0.0:
                    r = w * (states[i, d] - data.states[a + i, d])
                    cost += r * r
                    _add(into, k, n_constants, w, r, slopes[i, d])
        for d in range(dimension):
            into.node_sizes[k, d] = into.diagonal[k, d, d]
        if segments.joins[k]:
            cost += _join(into, k, n_constants, penalty, states[end] - nodes[k + 1], slopes[end])
    for c in range(n_constants):
        into.constant_sizes[c] += into.corner[c, c]
        if held[c]:
            into.corner[c, c] = 1.0
    return cost if np.isfinite(cost) else np.inf


@compiled
def _add(into: StepEquations, k: int, n_constants: int, w: float, r: float, slopes: Floats) -> None:
    """One residual r with weight w; slopes (C + D,) by the constants and the segment's start."""
    dimension = len(slopes) - n_constants
    for c in range(n_constants):
        s = w * slopes[c]
        into.constants[c] += s * r
        for e in range(c + 1):
            into.corner[c, e] += s * w * slopes[e]
    for d in range(dimension):
        s = w * slopes[n_constants + d]
        into.nodes[k, d] += s * r
        for e in range(d + 1):
            into.diagonal[k, d, e] += s * w * slopes[n_constants + e]
        for c in range(n_constants):
            into.border[k, d, c] += s * w * slopes[c]


@compiled
def _join(
    into: StepEquations, k: int, n_constants: int, penalty: Floats, jumps: Floats, slopes: Floats
) -> float:
    """The jumps (D,) from the end of a segment to the next; slopes (D, C + D) of the end."""
    cost = 0.0
    for d in range(len(jumps)):
        w = penalty[d]
        r = w * jumps[d]
        cost += r * r
        _add(into, k, n_constants, w, r, slopes[d])
        into.nodes[k + 1, d] -= w * r
        into.diagonal[k + 1, d, d] += w * w
        for e in range(len(jumps)):
            into.below[k, d, e] -= w * w * slopes[d, n_constants + e]
        for c in range(n_constants):
            into.border[k + 1, d, c] -= w * w * slopes[d, c]
    return cost


class Elimination(NamedTuple):
    """The normal equations after the starts of segments were eliminated, one after the other."""

    factors: Floats  # (K, D, D): Cholesky factors of the diagonal blocks
    across: Floats  # (K, D, D): from each start to the one before
    right: Floats  # (K, D, C + 1): what meets the constants, then the gradient
    corner: Floats  # (C, C): the matrix of the constants alone
    constants: Floats  # (C,): minus half their gradient
    definite: bool


@compiled
def eliminate(equations: StepEquations, damping: float, joins: Bools) -> Elimination:
    """Node by node up to the constants."""
    count, dimension = equations.nodes.shape
    n_constants = len(equations.constants)
    mean = (equations.node_sizes.sum() + equations.constant_sizes.sum()) / (count * dimension + n_constants)
    factors = equations.diagonal.copy()
    right = np.empty((count, dimension, n_constants + 1))
    right[:, :, :n_constants] = equations.border
    right[:, :, n_constants] = equations.nodes
    across = np.zeros((count, dimension, dimension))
    corner = np.empty((n_constants, n_constants))
    last = -equations.constants
    definite = True
    for c in range(n_constants):
        for e in range(n_constants):
            corner[c, e] = equations.corner[max(c, e), min(c, e)]
        corner[c, c] += damping * (equations.constant_sizes[c] + 1e-3 * mean) + 1e-14 * mean
    for k in range(count):
        for d in range(dimension):
            factors[k, d, d] += damping * (equations.node_sizes[k, d] + 1e-3 * mean) + 1e-14 * mean
        if k > 0 and joins[k - 1]:
            for d in range(dimension):
                for e in range(dimension):
                    across[k, d, e] = equations.below[k - 1, e, d]
            forward(factors[k - 1], across[k])
            for m in range(dimension):
                for d in range(dimension):
                    for e in range(d + 1):
                        factors[k, d, e] -= across[k, m, d] * across[k, m, e]
                    for c in range(n_constants + 1):
                        right[k, d, c] -= across[k, m, d] * right[k - 1, m, c]
        definite = definite and factorise(factors[k])
        if not definite:
            break
        forward(factors[k], right[k])
        for d in range(dimension):
            for c in range(n_constants):
                for e in range(n_constants):
                    corner[c, e] -= right[k, d, c] * right[k, d, e]
                last[c] += right[k, d, c] * right[k, d, n_constants]
    return Elimination(factors, across, right, corner, last, definite)


@compiled
def solve_step(
    equations: StepEquations, damping: float, joins: Bools, step: Floats, constant_step: Floats
) -> bool:
    """The damped step: node by node up to the constants, and back; False if the matrix is not definite."""
    count, dimension = step.shape
    n_constants = len(constant_step)
    found = eliminate(equations, damping, joins)
    if not found.definite or not factorise(found.corner):
        return False
    last = found.constants.reshape(n_constants, 1)
    forward(found.corner, last)
    for c in range(n_constants):
        constant_step[c] = last[c, 0]
    backward(found.corner, constant_step)
    for k in range(count - 1, -1, -1):
        for d in range(dimension):
            total = -found.right[k, d, n_constants]
            for c in range(n_constants):
                total -= found.right[k, d, c] * constant_step[c]
            if joins[k]:
                for e in range(dimension):
                    total -= found.across[k + 1, d, e] * step[k + 1, e]
            step[k, d] = total
        backward(found.factors[k], step[k])
    return True
