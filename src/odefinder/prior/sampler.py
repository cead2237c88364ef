"""Draw, integrate, filter, corrupt, scale and tokenize: examples without returning to Python (compiled).

Example number `index` of a seed is drawn from a random stream of its own, so it is the same whoever
computes it.  Its dimension and family are fixed first, then systems are drawn until one passes the
filters: what is accepted is distributed as the preset says, whatever is rejected on the way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.corruption import RHO_MAX, SIGMA_MAX
from odefinder.data.units import T_END, T_START
from odefinder.errors import SettingsError
from odefinder.expressions.canonical import make_pool
from odefinder.expressions.program import Ops, Values
from odefinder.language.tokens import Layout
from odefinder.limits.sizes import MAX_DIMENSION, MAX_POINTS, MAX_TOKENS, MAX_TRAJECTORIES
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, pick, seed_stream, uniform
from odefinder.numerics.solver import Workspace, workspace
from odefinder.prior.assembly import assemble, clear, make_assembly, tie
from odefinder.prior.casting import (
    CONDITION,
    KIND,
    ORDER,
    SIGNALS,
    STATES,
    Cast,
    cast_system,
    draw_kind,
    draw_sizes,
    draw_ways,
    no_cast,
    plain_cast,
)
from odefinder.prior.driving import stretched
from odefinder.prior.examples import ACCEPTED, NO_TARGET, Example, Examples
from odefinder.prior.families import TREES, draw_family
from odefinder.prior.laboratory import Measurement, draw_measurement, measure, perfect
from odefinder.prior.observing import (
    Request,
    System,
    draw_trajectory,
    hide,
    observe,
    points_before_dropping,
    rescale,
    write_target,
)
from odefinder.prior.presets import Prior
from odefinder.prior.trees import random_tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.void]

MAX_RAW = 2048  # nodes of a system as drawn
MAX_DENSE = 512  # points of one trajectory before subsampling
FAMILY_PATIENCE = 400  # tries before another family is drawn
MAX_TRIES = 20_000  # systems drawn for one example before giving up
SIBLING_PATIENCE = 12  # tries for another example of an accepted system
LEAST_POINTS = 4  # of every trajectory
FEW_POINTS = 40  # at most, where points are few
ANY_KIND = -1
OF_SECOND_ORDER = 0.65  # second-order examples of families that are so by nature


class Scratch(NamedTuple):
    """Everything that drawing an example writes to on the way."""

    times: Floats  # (MAX_DENSE,)
    dense: Floats  # (MAX_DENSE * MAX_DIMENSION,)
    work: Workspace
    pools: Records
    assemblies: Records
    ops: Ops  # (MAX_RAW,): a system before it is cast
    values: Values


# Fields of `Found.facts`; the group is the number of the examples that share a system, -1 for none.
GROUP, LENGTH, DIMENSION, FAMILY = 0, 1, 2, 3


class Found(NamedTuple):
    """The system that was accepted last."""

    ops: Ops  # (MAX_RAW,)
    values: Values
    facts: Ints  # (4,): by GROUP, LENGTH, DIMENSION and FAMILY
    span: Floats  # first and last time
    cast: Cast


@compiled
def draw_system(
    s: Stream, prior: Prior, family: int, dimension: int, assemblies: Records, ops: Ops, values: Values
) -> int:
    """Write a random system; its length, or -1 if it is too long."""
    if family != TREES:
        assembly = assemblies[0]
        clear(assembly)
        if not draw_family(assembly, s, family, dimension):
            return -1
        if prior.ties > 0.0 and chance(s, prior.ties):
            tie(assembly, s, 0.25)
        return assemble(assembly, dimension, ops, values)
    scratch_ops = np.empty(64, np.int8)
    scratch_values = np.empty(64)
    n = 0
    for _ in range(dimension):
        if n + 192 > len(ops):
            return -1
        n += random_tree(s, prior.tree, dimension, scratch_ops, scratch_values, ops[n:], values[n:])
    return n


@compiled
def draw_family_number(s: Stream, prior: Prior, kind: int) -> int:
    """The family of an example of this kind."""
    if kind & ORDER and chance(s, OF_SECOND_ORDER):
        return pick(s, prior.order_families)
    return pick(s, prior.family_weights)


@compiled
def draw_cast_system(s: Stream, prior: Prior, family: int, scratch: Scratch, found: Found) -> int:
    """Write a random system with roles to `found`, of the sizes there; its length, or -1 if it has none."""
    ways = np.empty(MAX_DIMENSION, np.int64)
    own = draw_ways(s, found.cast, ways)
    variables = found.cast.facts[STATES] + own
    n = draw_system(s, prior, family, variables, scratch.assemblies, scratch.ops, scratch.values)
    if n < 0:
        return -1
    return cast_system(s, found.cast, ways, own, scratch.ops, scratch.values, n, found.ops, found.values)


@compiled
def assign(cast: Cast, example: Example) -> None:
    """Write the roles into an example."""
    example.dimension, example.n_known = cast.facts[STATES], cast.facts[SIGNALS]
    example.roles[:] = cast.roles


class Conditions(NamedTuple):
    """How an example is observed, apart from what it says about that itself."""

    total: int  # points of all trajectories, before any are dropped unless their number is given
    measurement: Measurement


@compiled
def draw_conditions(s: Stream, request: Request, kind: int, example: Example) -> Conditions:
    """Noise, dropped points and number of trajectories of an example."""
    prior = request.prior
    example.n_trajectories = 1 + pick(s, prior.trajectory_weights)
    if kind & CONDITION:  # one trajectory says nothing about a condition
        example.n_trajectories = integer(s, 2, MAX_TRAJECTORIES)
    example.sigma = 0.0 if chance(s, prior.clean_share) else SIGMA_MAX * uniform(s)
    example.rho = 0.0 if chance(s, prior.dense_share) else RHO_MAX * uniform(s)
    total = request.points
    if total == 0:
        total = integer(s, prior.points_min, prior.points_max)
    if not prior.in_laboratory:
        return Conditions(total, perfect())
    if request.points == 0 and chance(s, prior.few_points):
        total = integer(s, prior.points_min, FEW_POINTS)
    kept = total if request.points > 0 else total - int(example.rho * total)
    if kept < 2 * LEAST_POINTS:  # too few to drop any
        example.rho = 0.0
    while example.n_trajectories > 1 and kept < LEAST_POINTS * example.n_trajectories:
        example.n_trajectories -= 1
    if example.sigma == 0.0:
        return Conditions(total, perfect())
    return Conditions(total, draw_measurement(s, prior.laboratory))


@compiled
def observe_system(
    s: Stream, request: Request, system: System, conditions: Conditions, span: Floats, scratch: Scratch,
    example: Example,
) -> int:  # fmt: skip
    """Trajectories of a system, corrupted and scaled, and the target; ACCEPTED, or the reason to reject it.

    span: first and last time, of which the last may change.
    """
    prior, given = request.prior, request.points > 0
    dimension, trajectories, rho = example.dimension, example.n_trajectories, example.rho
    example.n_points = 0
    for k in range(trajectories):
        share = conditions.total // trajectories + (k < conditions.total % trajectories)
        n_dense = points_before_dropping(share, rho) if given else share
        kept = share if given else share - int(rho * share)
        t, x = scratch.times[:n_dense], scratch.dense[: n_dense * dimension].reshape(n_dense, dimension)
        t[:] = np.linspace(span[0], span[1], n_dense)
        reason, signals = draw_trajectory(s, prior, system, t, k == 0, scratch.work, x)
        if reason != ACCEPTED:
            return reason
        span[1] = t[n_dense - 1]
        if len(signals.knots) > 0:
            signals = stretched(signals, system.cast, span[0], span[1])
        observe(s, prior, t, x, signals, kept, k, example)
    if prior.in_laboratory:
        measure(s, conditions.measurement, example)
    factors = np.empty(dimension + example.n_known)
    rate = rescale(example, system, factors) if prior.canonical_units else 1.0
    fits = write_target(request, system, factors, rate, scratch.pools, example)
    hide(example)
    return ACCEPTED if fits else NO_TARGET


@compiled
def draw_new(
    request: Request, index: int, dimension: int, kind: int, scratch: Scratch, found: Found,
    example: Example, counts: Ints,
) -> bool:  # fmt: skip
    """An example of a system of its own, which is kept in `found`; False after very many tries.

    dimension, kind: as the prior draws them for 0 and ANY_KIND.
    """
    prior = request.prior
    s = np.empty(4, np.uint64)
    seed_stream(s, request.seed, index)
    example.index = index
    drawn = 1 + pick(s, prior.dimension_weights)
    kind = draw_kind(s, prior.role_weights) if kind == ANY_KIND else kind
    dimension = dimension if dimension > 0 else drawn
    plain_cast(dimension, found.cast)
    if kind != 0:
        draw_sizes(s, kind, found.cast)
        dimension = found.cast.facts[STATES]
    family = draw_family_number(s, prior, kind)
    conditions = draw_conditions(s, request, kind, example)
    for tries in range(1, MAX_TRIES + 1):
        if tries % FAMILY_PATIENCE == 0:
            family = draw_family_number(s, prior, kind)
        if kind == 0:
            n = draw_system(s, prior, family, dimension, scratch.assemblies, found.ops, found.values)
        else:
            n = draw_cast_system(s, prior, family, scratch, found)
        found.span[0], found.span[1] = T_START, T_END
        if prior.varied_starts:
            found.span[0], found.span[1] = 0.0, 10.0 if chance(s, 0.4) else log_uniform(s, 1.0, 40.0)
        reason = NO_TARGET
        if n > 0:
            system = System(found.ops, found.values, n, family, found.cast)
            assign(found.cast, example)
            reason = observe_system(s, request, system, conditions, found.span, scratch, example)
        counts[reason, dimension] += 1
        if reason == ACCEPTED:
            found.facts[GROUP], found.facts[LENGTH] = index // prior.siblings, n
            found.facts[DIMENSION], found.facts[FAMILY] = dimension, family
            example.family = family
            example.tries = tries
            return True
    return False


@compiled
def draw_sibling(
    request: Request, index: int, scratch: Scratch, found: Found, example: Example, counts: Ints
) -> bool:
    """Another example of the system in `found`, from elsewhere, under other conditions; False if it fails."""
    s = np.empty(4, np.uint64)
    seed_stream(s, request.seed, index)
    dimension, family = found.facts[DIMENSION], found.facts[FAMILY]
    example.index = index
    example.family = family
    assign(found.cast, example)
    conditions = draw_conditions(s, request, found.cast.facts[KIND], example)
    system = System(found.ops, found.values, found.facts[LENGTH], family, found.cast)
    span = np.empty(2)
    for tries in range(1, SIBLING_PATIENCE + 1):
        span[0] = found.span[0]
        span[1] = found.span[0] + (found.span[1] - found.span[0]) * log_uniform(s, 0.7, 1.4)
        reason = observe_system(s, request, system, conditions, span, scratch, example)
        counts[reason, dimension] += 1
        if reason == ACCEPTED:
            example.tries = tries
            return True
    return False


@compiled
def _wipe(example: Example) -> None:
    example.times[:] = 0.0
    example.states[:] = 0.0
    example.trajectory[:] = 0
    example.starts[:] = 0.0
    example.ops[:] = 0
    example.values[:] = 0.0
    example.tokens[:] = 0


@compiled
def draw_example(
    request: Request, index: int, scratch: Scratch, found: Found, other: Found, example: Example, counts: Ints
) -> bool:
    """Example number `index` of a seed; False if nothing was accepted after very many tries.

    The first of every `prior.siblings` examples has a new system (in `found`), the others observe it again;
    where that fails, they have one of their own with as many variables, or with the same roles.
    """
    siblings = request.prior.siblings
    first = index - index % siblings
    if index == first:
        return draw_new(request, index, 0, ANY_KIND, scratch, found, example, counts)
    if found.facts[GROUP] != index // siblings:
        if not draw_new(request, first, 0, ANY_KIND, scratch, found, example, np.zeros_like(counts)):
            return False
        _wipe(example)  # nothing of the first example may stay
    if draw_sibling(request, index, scratch, found, example, counts):
        return True
    dimension, kind = found.facts[DIMENSION], found.cast.facts[KIND]
    drawn = draw_new(request, index, dimension, kind, scratch, other, example, counts)
    example.tries += SIBLING_PATIENCE
    return drawn


@compiled
def _nothing_found() -> Found:
    facts = np.full(4, -1, np.int64)
    return Found(np.empty(MAX_RAW, np.int8), np.empty(MAX_RAW), facts, np.empty(2), no_cast())


@compiled
def _fill(
    request: Request, indices: Ints, pools: Records, assemblies: Records, examples: Examples, counts: Ints
) -> bool:
    scratch = Scratch(
        np.empty(MAX_DENSE),
        np.empty(MAX_DENSE * MAX_DIMENSION),
        workspace(MAX_RAW, MAX_DIMENSION),
        pools,
        assemblies,
        np.empty(MAX_RAW, np.int8),
        np.empty(MAX_RAW),
    )
    found, other = _nothing_found(), _nothing_found()
    for i in range(len(examples)):
        if not draw_example(request, indices[i], scratch, found, other, examples[i], counts):
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
    request = Request(seed, prior, points, layout, max_tokens)
    complete = _fill(request, indices, make_pool(), make_assembly(), examples, counts)
    if not complete:
        raise SettingsError(
            f"of {MAX_TRIES:,} systems drawn none passed the filters of this prior with targets of at most "
            f"{max_tokens} tokens; raise max_tokens or loosen the filters"
        )
