"""Draw, integrate, filter, corrupt, scale and tokenize: examples without returning to Python (compiled).

Example number `index` of a seed is drawn from a random stream of its own, so it is the same whoever
computes it.  Its dimension and family are fixed first, then systems are drawn until one passes the
filters: what is accepted is distributed as the preset says, whatever is rejected on the way.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odefinder.canonical import canonicalise, make_pool
from odefinder.compiled import compiled
from odefinder.corruption import RHO_MAX, SIGMA_MAX, add_noise, keep_points
from odefinder.errors import SettingsError
from odefinder.prior.draft import assemble, clear, make_draft
from odefinder.prior.examples import (
    ACCEPTED,
    CONSTANT,
    DISCONNECTED,
    MAX_POINTS,
    MAX_PROGRAM,
    MAX_TOKENS,
    MAX_TRAJECTORIES,
    MONOTONE,
    NO_TARGET,
    QUIET,
    STATIONARY,
    UNDERSAMPLED,
    Example,
    Examples,
)
from odefinder.prior.families import (
    GROWTH,
    INTERACTIONS,
    PHASES,
    REACTIONS,
    REGULATION,
    TREES,
    WAVES,
    draw_family,
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
from odefinder.prior.trees import random_tree
from odefinder.program import Ops, Values
from odefinder.randomness import (
    Stream,
    chance,
    integer,
    log_uniform,
    normal,
    pick,
    seed_stream,
    uniform,
)
from odefinder.scaling import T_END, T_START, change_units
from odefinder.solver import Workspace, solve, workspace
from odefinder.tokens import MAX_DIMENSION, Layout, encode_program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]

MAX_RAW = 2048  # nodes of a system as drawn
MAX_DENSE = 512  # points of one trajectory before subsampling
FAMILY_PATIENCE = 400  # tries before another family is drawn
MAX_TRIES = 20_000  # systems drawn for one example before giving up
SETTLES_EARLY = 0.4  # share of the time span before which a trajectory should not have arrived
START_PATIENCE = 8  # tries for another trajectory of an accepted system


@compiled
def draw_system(
    s: Stream, prior: Prior, family: int, dimension: int, drafts: Records, ops: Ops, values: Values
) -> int:
    """Write a random system; its length, or -1 if it is too long."""
    if family != TREES:
        draft = drafts[0]
        clear(draft)
        if not draw_family(draft, s, family, dimension):
            return -1
        return assemble(draft, dimension, ops, values)
    scratch_ops = np.empty(64, np.int8)
    scratch_values = np.empty(64)
    n = 0
    for _ in range(dimension):
        if n + 192 > len(ops):
            return -1
        n += random_tree(s, prior.tree, dimension, scratch_ops, scratch_values, ops[n:], values[n:])
    return n


@compiled
def draw_start(s: Stream, varied: bool, family: int, out: Floats) -> None:
    """Initial values: N(0, 1) as in the paper, or such as suit the family."""
    if not varied:
        for j in range(len(out)):
            out[j] = normal(s)
        return
    positive = family in (REACTIONS, INTERACTIONS, REGULATION, GROWTH) or chance(s, 0.35)
    scale = log_uniform(s, 0.3, 5.0)
    for j in range(len(out)):
        if family in (PHASES, WAVES) and not positive:
            out[j] = math.pi * (2.0 * uniform(s) - 1.0)
        elif positive:
            out[j] = scale * log_uniform(s, 0.05, 3.0)
        else:
            out[j] = scale * normal(s)
        if chance(s, 0.04):
            out[j] = 0.0


@compiled
def judge(s: Stream, prior: Prior, ops: Ops, values: Values, n: int, x: Floats) -> int:
    """ACCEPTED, or the reason to reject a system by its first trajectory."""
    if is_stationary(x, prior.still, prior.still_relative) and chance(s, prior.drop_stationary):
        return STATIONARY
    if prior.drop_constant > 0.0 and has_constant(x, 1e-4) and chance(s, prior.drop_constant):
        return CONSTANT
    if prior.drop_undersampled > 0.0 and is_undersampled(x) and chance(s, prior.drop_undersampled):
        return UNDERSAMPLED
    if x.shape[1] > 1 and prior.drop_monotone > 0.0:
        turns = most_turns(x)
        if turns == 0 and chance(s, prior.drop_monotone):
            return MONOTONE
        if 0 < turns < OSCILLATES and chance(s, prior.drop_quiet):
            return QUIET
    unwanted = prior.drop_disconnected > 0.0 and chance(s, prior.drop_disconnected)
    if unwanted and not is_connected(ops, values, n, x.shape[1]):
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
    s: Stream,
    t: Floats,
    x: Floats,
    kept: int,
    which: int,
    from_zero: bool,
    example: Example,
    noisy: Floats,
    indices: Ints,
) -> None:
    """Corrupt one clean trajectory and append what remains to the example; its times may begin at 0."""
    noisy[: len(t)] = x
    add_noise(noisy[: len(t)], example.sigma, s)
    keep_points(len(t), kept, s, indices)
    base = example.n_points
    origin = t[indices[0]] if from_zero else 0.0
    for i in range(kept):
        example.times[base + i] = t[indices[i]] - origin
        example.trajectory[base + i] = which
        for j in range(x.shape[1]):
            example.states[base + i, j] = noisy[indices[i], j]
    for j in range(x.shape[1]):
        example.starts[which, j] = x[indices[0], j]
    example.n_points = base + kept


@compiled
def rescale(example: Example, dimension: int, factors: Floats) -> float:
    """Bring what was observed to canonical units; writes the factors, returns the rate of time."""
    n = example.n_points
    duration = 0.0
    factors[:] = 0.0
    for i in range(n):
        duration = max(duration, example.times[i])
        for j in range(dimension):
            factors[j] = max(factors[j], abs(example.states[i, j]))
    for j in range(dimension):
        if not factors[j] > 0.0:
            factors[j] = 1.0
    rate = (T_END - T_START) / duration
    for i in range(n):
        example.times[i] = T_START + rate * example.times[i]
        for j in range(dimension):
            example.states[i, j] /= factors[j]
    for k in range(example.n_trajectories):
        for j in range(dimension):
            example.starts[k, j] /= factors[j]
    return rate


@compiled
def write_target(
    prior: Prior, ops: Ops, values: Values, n: int, factors: Floats, rate: float, layout: Layout,
    max_tokens: int, pools: Records, example: Example,
) -> bool:  # fmt: skip
    """The system in the example's units as program and tokens; False if it does not fit."""
    scaled_ops = np.empty(3 * n + 2 * len(factors) + 5, np.int8)
    scaled_values = np.empty(len(scaled_ops))
    if prior.canonical_units:
        n = change_units(ops, values, n, factors, rate, scaled_ops, scaled_values)
    else:
        scaled_ops[:n] = ops[:n]
        scaled_values[:n] = values[:n]
    if prior.canonical_target:
        n = canonicalise(pools, scaled_ops, scaled_values, n, True, example.ops, example.values)
    elif n <= MAX_PROGRAM:
        example.ops[:n] = scaled_ops[:n]
        example.values[:n] = scaled_values[:n]
    if n < 0 or n > MAX_PROGRAM:
        return False
    example.n_nodes = n
    length = encode_program(example.ops, example.values, n, layout, example.tokens[:max_tokens])
    example.n_tokens = length
    return length > 0


@compiled
def draw_trajectory(
    s: Stream, prior: Prior, family: int, ops: Ops, values: Values, n: int, t: Floats, first: bool,
    work: Workspace, x: Floats,
) -> int:  # fmt: skip
    """Integrate from a random start; ACCEPTED or what went wrong.

    The first trajectory of a system decides on its fate and on the time span, which is written into t; later
    ones have several tries for a start from which something happens.
    """
    x0 = np.empty(x.shape[1])
    reason = ACCEPTED
    for _ in range(1 if first else START_PATIENCE):
        draw_start(s, prior.varied_starts, family, x0)
        reason = solve(ops, values, n, x0, t, prior.rtol, prior.atol, prior.max_steps, prior.bound, work, x)
        if reason == ACCEPTED and (first or prior.drop_constant == 0.0 or not has_constant(x, 1e-4)):
            break
    if not first or reason != ACCEPTED:
        return reason
    settled = settling_row(x)
    if prior.fit_horizon and 0 < settled < SETTLES_EARLY * len(t):
        longer = 1.2 + 1.8 * uniform(s)
        t[:] = t[0] + (t - t[0]) * (longer * settled / (len(t) - 1))
        reason = solve(ops, values, n, x0, t, prior.rtol, prior.atol, prior.max_steps, prior.bound, work, x)
        if reason != ACCEPTED:
            return reason
    return judge(s, prior, ops, values, n, x)


@compiled
def draw_example(
    seed: int, index: int, prior: Prior, points: int, layout: Layout, max_tokens: int, work: Workspace,
    pools: Records, drafts: Records, example: Example, counts: Ints,
) -> bool:  # fmt: skip
    """Example number `index` of a seed; False if nothing was accepted after very many tries.

    `points` observed points, or as the prior draws them for 0.
    """
    s = np.empty(4, np.uint64)
    seed_stream(s, seed, index)
    dimension = 1 + pick(s, prior.dimension_weights)
    family = pick(s, prior.family_weights)
    n_trajectories = 1 + pick(s, prior.trajectory_weights)
    example.sigma = 0.0 if chance(s, prior.clean_share) else SIGMA_MAX * uniform(s)
    example.rho = rho = 0.0 if chance(s, prior.dense_share) else RHO_MAX * uniform(s)
    total = points if points > 0 else integer(s, prior.points_min, prior.points_max)
    example.index = index
    example.dimension = dimension
    example.n_trajectories = n_trajectories
    ops = np.empty(MAX_RAW, np.int8)
    values = np.empty(MAX_RAW)
    factors = np.empty(dimension)
    times = np.empty(MAX_DENSE)
    dense = np.empty((MAX_DENSE, dimension))
    noisy = np.empty((MAX_DENSE, dimension))
    indices = np.empty(MAX_DENSE, np.int64)
    for tries in range(1, MAX_TRIES + 1):
        if tries % FAMILY_PATIENCE == 0:
            family = pick(s, prior.family_weights)
        n = draw_system(s, prior, family, dimension, drafts, ops, values)
        start, end = T_START, T_END
        if prior.varied_starts:
            start, end = 0.0, 10.0 if chance(s, 0.4) else log_uniform(s, 1.0, 40.0)
        reason = ACCEPTED if n > 0 else NO_TARGET
        example.n_points = 0
        for k in range(n_trajectories):
            if reason != ACCEPTED:
                break
            share = total // n_trajectories + (k < total % n_trajectories)
            n_dense = points_before_dropping(share, rho) if points > 0 else share
            kept = share if points > 0 else share - int(rho * share)
            t, x = times[:n_dense], dense[:n_dense]
            t[:] = np.linspace(start, end, n_dense)
            reason = draw_trajectory(s, prior, family, ops, values, n, t, k == 0, work, x)
            end = t[n_dense - 1]
            if reason == ACCEPTED:
                observe(s, t, x, kept, k, prior.canonical_units, example, noisy, indices)
        if reason == ACCEPTED:
            rate = rescale(example, dimension, factors) if prior.canonical_units else 1.0
            if not write_target(prior, ops, values, n, factors, rate, layout, max_tokens, pools, example):
                reason = NO_TARGET
        counts[reason, dimension] += 1
        if reason == ACCEPTED:
            example.family = family
            example.tries = tries
            return True
    return False


@compiled
def _fill(
    seed: int, indices: Ints, prior: Prior, points: int, layout: Layout, max_tokens: int, pools: Records,
    drafts: Records, examples: Examples, counts: Ints,
) -> bool:  # fmt: skip
    work = workspace(MAX_RAW, MAX_DIMENSION)
    for i in range(len(examples)):
        if not draw_example(
            seed, indices[i], prior, points, layout, max_tokens, work, pools, drafts, examples[i], counts
        ):
            return False
    return True


def fill(
    examples: Examples, counts: Ints, *, seed: int, prior: Prior, layout: Layout, first: int = 0,
    indices: Ints | None = None, points: int = 0, max_tokens: int = MAX_TOKENS,
) -> None:  # fmt: skip
    """Write examples number first, first + 1, ... of a seed, or the given ones; adds to the counts.

    points: observed points of every example, or 0 to draw them, too.  Runs without the GIL.
    """
    if points != 0 and not 2 * MAX_TRAJECTORIES <= points <= MAX_POINTS:
        raise SettingsError(f"points is {2 * MAX_TRAJECTORIES} to {MAX_POINTS}, or 0 for any, got {points}")
    if indices is None:
        indices = np.arange(first, first + len(examples))
    complete = _fill(
        seed, indices, prior, points, layout, max_tokens, make_pool(), make_draft(), examples, counts
    )
    if not complete:
        raise SettingsError(
            f"of {MAX_TRIES:,} systems drawn none passed the filters of this prior with targets of at most "
            f"{max_tokens} tokens; raise max_tokens or loosen the filters"
        )
