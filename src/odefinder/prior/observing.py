"""From a system to what is observed of it: start, trajectory, filters, noise, units and target (compiled)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.corruption import add_noise, keep_points
from odefinder.data.roles import UNSEEN
from odefinder.data.units import T_END, T_START, change_units, largest_magnitudes
from odefinder.expressions.canonical import canonicalise
from odefinder.expressions.program import CONST, Ops, Values
from odefinder.language.tokens import Layout, encode_program
from odefinder.numerics.evaluate import eval_system
from odefinder.numerics.randomness import Stream, chance, log_uniform, normal, uniform
from odefinder.numerics.signals import Signals, signal_at
from odefinder.numerics.solver import Tolerance, Workspace, solve, solve_driven
from odefinder.prior.casting import HIDDEN, KIND, SIGNALS, STATES, Cast, equation_bounds
from odefinder.prior.driving import draw_signals, stretched
from odefinder.prior.examples import (
    ACCEPTED,
    CONSTANT,
    DISCONNECTED,
    MAX_PROGRAM,
    MONOTONE,
    QUIET,
    STATIONARY,
    UNDERSAMPLED,
    Example,
)
from odefinder.prior.families import (
    BALANCES,
    COMPARTMENTS,
    GATES,
    GROWTH,
    INTERACTIONS,
    PHASES,
    PROCESSES,
    REACTIONS,
    REGULATION,
    ROTATORS,
    WAVES,
)
from odefinder.prior.filters import (
    OSCILLATES,
    has_constant,
    is_connected,
    is_stationary,
    is_undersampled,
    most_turns,
    settling_row,
)
from odefinder.prior.presets import Prior

Floats = NDArray[np.float64]
Records = NDArray[np.void]

SETTLES_EARLY = 0.4  # share of the time span before which a trajectory should not have arrived
ENOUGH_POINTS = 40  # of a trajectory, to show whether it oscillates
START_PATIENCE = 8  # tries for another trajectory of an accepted system


class System(NamedTuple):
    """A drawn system: a program of n nodes, the family that it belongs to, and the roles of its variables."""

    ops: Ops
    values: Values
    n: int
    family: int
    cast: Cast


class Request(NamedTuple):
    """What all examples of one call have in common."""

    seed: int
    prior: Prior
    points: int  # observed points of every example; 0: as the prior draws them
    layout: Layout
    max_tokens: int


@compiled
def draw_start(s: Stream, varied: bool, family: int, out: Floats) -> None:
    """Initial values: N(0, 1) as in the paper, or values that suit the family."""
    if not varied:
        for j in range(len(out)):
            out[j] = normal(s)
        return
    positive = family in (
        REACTIONS, INTERACTIONS, REGULATION, GROWTH, PROCESSES, COMPARTMENTS, BALANCES,
    ) or chance(s, 0.35)  # fmt: skip
    scale = log_uniform(s, 0.3, 5.0)
    for j in range(len(out)):
        if family in (PHASES, WAVES, ROTATORS) and not positive:
            out[j] = math.pi * (2.0 * uniform(s) - 1.0)
        elif family == GATES:  # gates are between 0 and 1, voltages are not far from there
            out[j] = 1.6 * uniform(s) - 0.6
        elif positive:
            out[j] = scale * log_uniform(s, 0.05, 3.0)
        else:
            out[j] = scale * normal(s)
        if chance(s, 0.04):
            out[j] = 0.0


@compiled
def reason_to_reject(s: Stream, prior: Prior, system: System, x: Floats) -> int:
    """ACCEPTED, or the reason to reject a system by its first trajectory."""
    if is_stationary(x, prior.still, prior.still_relative) and chance(s, prior.drop_stationary):
        return STATIONARY
    if prior.drop_constant > 0.0 and has_constant(x, 1e-4) and chance(s, prior.drop_constant):
        return CONSTANT
    if prior.drop_undersampled > 0.0 and is_undersampled(x) and chance(s, prior.drop_undersampled):
        return UNDERSAMPLED
    if x.shape[1] > 1 and prior.drop_monotone > 0.0:
        turns = most_turns(x)
        # A dozen points show no oscillation: whoever takes so few is looking at something slow.
        strict = min(1.0, len(x) / ENOUGH_POINTS) if prior.in_laboratory else 1.0
        if turns == 0 and chance(s, strict * prior.drop_monotone):
            return MONOTONE
        if 0 < turns < OSCILLATES and chance(s, strict * prior.drop_quiet):
            return QUIET
    unwanted = prior.drop_disconnected > 0.0 and chance(s, prior.drop_disconnected)
    variables = x.shape[1] + system.cast.facts[SIGNALS]
    if unwanted and not is_connected(system.ops, system.values, system.n, variables):
        return DISCONNECTED
    return ACCEPTED


@compiled
def points_before_dropping(kept: int, rho: float) -> int:
    """The smallest number of points of which `kept` remain when int(rho * points) are dropped."""
    n = kept
    while n - int(rho * n) < kept:
        n += 1
    return n


@compiled
def observe(
    s: Stream, prior: Prior, t: Floats, x: Floats, signals: Signals, kept: int, which: int, example: Example
) -> None:
    """Append what is observed of one clean trajectory to the example; in canonical units times begin at 0.

    x is overwritten where the noise is the paper's, which comes before points are dropped; a laboratory's
    comes after all trajectories are there.
    """
    clean = x if prior.in_laboratory else x.copy()
    if not prior.in_laboratory:
        add_noise(x, example.sigma, s)
    indices = np.empty(kept, np.int64)
    keep_points(len(t), kept, s, indices)
    base = example.n_points
    origin = t[indices[0]] if prior.canonical_units else 0.0
    for i in range(kept):
        example.times[base + i] = t[indices[i]] - origin
        example.trajectory[base + i] = which
        for j in range(x.shape[1]):
            example.states[base + i, j] = x[indices[i], j]
        for j in range(signals.before.shape[1]):
            example.states[base + i, x.shape[1] + j] = signal_at(signals, j, t[indices[i]])
    for j in range(x.shape[1]):
        example.starts[which, j] = clean[indices[0], j]
    example.n_points = base + kept


@compiled
def rescale(example: Example, system: System, factors: Floats) -> float:
    """Bring what was observed to canonical units; writes the factors, returns the rate of time.

    The units of a velocity are such that x' = v; those of a hidden state fix its sign, too.
    """
    cast, dimension = system.cast, example.dimension
    n = example.n_points
    duration = 0.0
    for i in range(n):
        duration = max(duration, example.times[i])
    largest_magnitudes(example.states, n, factors)
    rate = (T_END - T_START) / duration
    for j in range(dimension):
        if cast.parent[j] >= 0:
            factors[j] = rate * factors[cast.parent[j]] / cast.slope[j]
    if cast.facts[KIND] & HIDDEN:
        factors[dimension - 1] *= hidden_sign(example, system)
    for i in range(n):
        example.times[i] = T_START + rate * example.times[i]
        for j in range(len(factors)):
            example.states[i, j] /= factors[j]
    for k in range(example.n_trajectories):
        for j in range(dimension):
            example.starts[k, j] /= factors[j]
    return rate


@compiled
def hidden_sign(example: Example, system: System) -> float:
    """1 or -1, the sign that a hidden state gets: it is positive if it never changes its sign.

    Otherwise the first observed equation that reads it rises with it, on the whole.
    """
    hidden, n = example.dimension - 1, example.n_points
    low = high = example.states[0, hidden]
    for i in range(n):
        low, high = min(low, example.states[i, hidden]), max(high, example.states[i, hidden])
    if low >= 0.0 or high <= 0.0:
        return 1.0 if low >= 0.0 else -1.0
    stack, above, below = np.empty(system.n), np.empty(hidden + 1), np.empty(hidden + 1)
    step = 1e-3 * (high - low)
    for equation in range(hidden):
        rise = 0.0
        for i in range(n):
            x = example.states[i].copy()
            x[hidden] += step
            eval_system(system.ops, system.values, system.n, x, stack, above)
            x[hidden] -= 2.0 * step
            eval_system(system.ops, system.values, system.n, x, stack, below)
            rise += above[equation] - below[equation]
        if rise != 0.0 and math.isfinite(rise):
            return 1.0 if rise > 0.0 else -1.0
    return 1.0


@compiled
def hide(example: Example) -> None:
    """Take out what nobody sees."""
    for j in range(example.dimension):
        if example.roles[j] == UNSEEN:
            example.states[: example.n_points, j] = np.nan


@compiled
def _make_exact(ops: Ops, n: int, cast: Cast, values: Values) -> None:
    """x' = v has no coefficient in units that were made for it, but for rounding errors."""
    bounds = np.empty(len(cast.roles) + 1, np.int64)
    equation_bounds(ops, n, bounds)
    for v in range(cast.facts[STATES]):
        if cast.parent[v] >= 0:
            first = bounds[cast.parent[v]]
            for i in range(first, bounds[cast.parent[v] + 1]):
                if ops[i] == CONST:
                    values[i] = 1.0


@compiled
def write_target(
    request: Request, system: System, factors: Floats, rate: float, pools: Records, example: Example
) -> bool:
    """The system in the example's units as program and tokens; False if it does not fit."""
    prior, n = request.prior, system.n
    scaled_ops = np.empty(3 * n + 2 * len(factors) + 5, np.int8)
    scaled_values = np.empty(len(scaled_ops))
    if prior.canonical_units:
        n = change_units(system.ops, system.values, n, factors, rate, scaled_ops, scaled_values)
        if n > 0:
            _make_exact(scaled_ops, n, system.cast, scaled_values)
    else:
        scaled_ops[:n] = system.ops[:n]
        scaled_values[:n] = system.values[:n]
    if prior.canonical_target:
        n = canonicalise(pools, scaled_ops, scaled_values, n, True, example.ops, example.values)
    elif n <= MAX_PROGRAM:
        example.ops[:n] = scaled_ops[:n]
        example.values[:n] = scaled_values[:n]
    if n < 0 or n > MAX_PROGRAM:
        return False
    example.n_nodes = n
    room = example.tokens[: request.max_tokens]
    length = encode_program(example.ops, example.values, n, request.layout, room)
    example.n_tokens = length
    return length > 0


@compiled
def draw_trajectory(
    s: Stream, prior: Prior, system: System, t: Floats, first: bool, work: Workspace, x: Floats
) -> tuple[int, Signals]:
    """Integrate from a random start, under random signals; ACCEPTED or what went wrong, and the signals.

    The first trajectory of a system decides on its fate and on the time span, which is written into t; later
    ones have several tries for a start from which something happens.
    """
    x0 = np.empty(x.shape[1])
    reason, signals = ACCEPTED, work.no_signals
    for _ in range(1 if first else START_PATIENCE):
        draw_start(s, prior.varied_starts, system.family, x0)
        if system.cast.facts[SIGNALS] > 0:
            signals = draw_signals(s, system.cast, t[0] / (t[len(t) - 1] - t[0]))
        reason = _solve(prior, system, x0, t, signals, work, x)
        if reason == ACCEPTED and (first or prior.drop_constant == 0.0 or not has_constant(x, 1e-4)):
            break
    if not first or reason != ACCEPTED:
        return reason, signals
    settled = settling_row(x)
    if prior.fit_horizon and 0 < settled < SETTLES_EARLY * len(t):
        longer = 1.2 + 1.8 * uniform(s)
        t[:] = t[0] + (t - t[0]) * (longer * settled / (len(t) - 1))
        reason = _solve(prior, system, x0, t, signals, work, x)
        if reason != ACCEPTED:
            return reason, signals
    return reason_to_reject(s, prior, system, x), signals


@compiled
def _solve(
    prior: Prior, system: System, x0: Floats, t: Floats, signals: Signals, work: Workspace, x: Floats
) -> int:
    tolerance = Tolerance(prior.rtol, prior.atol, prior.max_steps, prior.bound)
    if len(signals.knots) > 0:
        driven = stretched(signals, system.cast, t[0], t[len(t) - 1])
        return solve_driven(system.ops, system.values, system.n, x0, t, driven, tolerance, work, x)
    return solve(system.ops, system.values, system.n, x0, t, tolerance, work, x)
