"""Guesses of what nobody measured: paths of hidden states that account for how observed states change.

An observed equation is solved for what is missing.  Where nothing is known about it yet, a frame says how a
hidden state enters: x' = h, or x' = y h with an observed y; then h = x' or h = x' / y.  With a path, a hidden
state can be treated as if it had been seen, and regression finds the other equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.linalg import solveh_banded

from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.program import CONST, MUL, VAR, Program, make_program
from odefinder.inference.fit.interpolation import interpolate
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import evaluate

DEGREE = 5  # of the spline through the values of a path
STIFFNESS, NOISY_STIFFNESS = 1e-9, 1e-3  # how much smoothness counts where an equation says little about h
STEEPER = 4.0  # relative errors of a derivative, compared with those of the values
BENT = 1e-6  # relative: an equation is affine in h if its second difference is smaller
MIDDLE, STEP = 0.5, 0.05  # where and how an equation that is not affine in h is expanded
LARGEST = 20.0  # magnitude of a path in canonical units; beyond that it was divided by almost nothing


@dataclass(frozen=True)
class Frame:
    """How a hidden state enters: the derivative of a state is h, or h times another state."""

    hidden: int
    component: int  # the state whose equation it is
    factor: int = -1  # the state that h is multiplied by; -1: none

    def equation(self) -> Program:
        """The equation of the component."""
        if self.factor < 0:
            return make_program([MUL, CONST, VAR], [0.0, 1.0, self.hidden])
        return make_program([MUL, CONST, MUL, VAR, VAR], [0.0, 1.0, 0.0, self.factor, self.hidden])


def frames(data: Observations) -> Iterator[tuple[Frame, ...]]:
    """One frame for each hidden state, the simplest first.

    The first hidden state drives an observed one.  A further one drives another observed state, or the hidden
    state before it, which is what a scalar equation of higher order amounts to.
    """
    hidden = hidden_states(data)
    free = [k for k in range(data.dimension) if k not in hidden and k not in data.velocities]
    seen = [k for k in range(data.dimension) if k not in hidden]
    first = [Frame(hidden[0], k) for k in free]
    first += [Frame(hidden[0], k, k) for k in free if not data.unseen[k]]
    first += [Frame(hidden[0], k, other) for k in free for other in seen if other != k]
    for one in first:
        chain = tuple(Frame(later, before) for before, later in pairwise(hidden))
        yield (one, *chain)
        if len(hidden) == 2:
            for other in free:
                if other > one.component and one.factor < 0:
                    yield one, Frame(hidden[1], other)


def hidden_states(data: Observations) -> list[int]:
    """The numbers of the states that are hidden."""
    return [k for k, role in enumerate(data.roles[: data.dimension]) if role == Role.HIDDEN]


def with_path(
    data: Observations, estimate: StateEstimate, hidden: int, path: Floats
) -> tuple[Observations, StateEstimate]:
    """Data and states in which a hidden state has the values (N,) of a path, as if it had been seen."""
    states, derivatives, nodes = estimate.states.copy(), estimate.derivatives.copy(), estimate.nodes.copy()
    states[:, hidden] = path
    for first, last in data.spans():
        curve = interpolate(data.times[first:last], path[first:last], DEGREE)
        derivatives[first:last, hidden] = curve.slope(data.times[first:last])
        places = slice(estimate.ends[first], estimate.ends[last - 1])
        nodes[places, hidden] = curve(estimate.node_times[places])
    noise, error = estimate.noise.copy(), estimate.error.copy()
    shares = (estimate.noise / data.scale)[~data.unseen]
    noise[hidden] = error[hidden] = STEEPER * float(shares.max(initial=0.0)) * (float(path.std()) or 1.0)
    observed = data.states.copy()
    observed[:, hidden] = path
    roles = list(data.roles)
    roles[hidden] = Role.OBSERVED
    errors = data.errors
    if errors is not None:
        errors = errors.copy()
        errors[:, hidden] = np.nan
    return (
        replace(data, states=observed, roles=tuple(roles), errors=errors),
        replace(
            estimate, states=states, derivatives=derivatives, nodes=nodes, noise=noise, error=error,
            starts=states[data.bounds[:-1]],
        ),
    )  # fmt: skip


def solved(
    equations: Sequence[tuple[int, Program]], hidden: int, data: Observations, estimate: StateEstimate
) -> Floats | None:
    """The path (N,) of a hidden state that the equations of some states ask for; None if they ask for none.

    Equations in which h is not linear are solved around the middle of what h may be.  Where they hardly
    depend on h, its path is as smooth as it can be.
    """
    weights, targets = np.zeros(len(data.times)), np.zeros(len(data.times))
    with np.errstate(over="ignore", invalid="ignore"):  # slopes may be 1e200
        for component, equation in equations:
            centre, slope, gap = _linear_in(equation, hidden, estimate)
            rest = (estimate.derivatives[:, component] - gap) + slope * centre
            size = 1.0 / max(float(np.var(estimate.derivatives[:, component])), 1e-12)
            weights += size * slope**2
            targets += size * slope * rest
    if not (np.isfinite(weights).all() and np.isfinite(targets).all() and weights.max(initial=0.0) > 0.0):
        return None
    stiffness = (NOISY_STIFFNESS if estimate.smoothed else STIFFNESS) * float(weights.mean())
    path = np.empty(len(data.times))
    for first, last in data.spans():
        path[first:last] = _smooth(weights[first:last], targets[first:last], stiffness)
    return path if np.isfinite(path).all() and np.ptp(path) > 0.0 else None


def _linear_in(equation: Program, hidden: int, estimate: StateEstimate) -> tuple[Floats, Floats, Floats]:
    """Where an equation is expanded in h, its slope there and its value, each (N,).

    If it is not affine in h, that is in the middle of what the network's hidden states are, from 0 to 1.
    """
    variables = estimate.variables.copy()

    def at(value: Floats | float) -> Floats:
        variables[:, hidden] = value
        with np.errstate(all="ignore"):
            return evaluate(equation, variables)[:, 0]

    low, middle, high = at(-1.0), at(0.0), at(1.0)
    slope, bend = (high - low) / 2.0, high + low - 2.0 * middle
    zeros = np.zeros(len(variables))
    if np.all(np.abs(bend) <= BENT * (np.abs(slope) + BENT)):
        return zeros, slope, middle
    slope = (at(MIDDLE + STEP) - at(MIDDLE - STEP)) / (2.0 * STEP)
    return zeros + MIDDLE, slope, at(MIDDLE)


def _smooth(weights: Floats, targets: Floats, stiffness: float) -> Floats:
    """h that minimises the weighted squares of h - targets / weights, plus stiffness times its bending."""
    n = len(weights)
    bands = np.zeros((3, n))
    bands[2] = weights + 1e-12 * weights.mean() + 1e-300
    if n > 2:  # second differences, 1, -2, 1, squared
        bands[2, 2:] += stiffness
        bands[2, 1:-1] += 4.0 * stiffness
        bands[2, :-2] += stiffness
        bands[1, 2:] -= 2.0 * stiffness
        bands[1, 1:-1] -= 2.0 * stiffness
        bands[0, 2:] += stiffness
    try:
        return np.asarray(solveh_banded(bands, targets))
    except (np.linalg.LinAlgError, ValueError):
        return np.full(n, np.nan)
