"""First values of the named constants in known equations, along estimated states: no ODE is solved.

Constants in which the equations are linear follow by least squares; for the others many values over several
orders of magnitude are tried, and the best are polished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from odefinder.data.given import Given
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.data.units import Scaling
from odefinder.expressions.program import VAR, Program
from odefinder.inference.fit.knowledge import Knowledge
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import evaluate

TRIES, MOST_TRIES = 60, 200  # values of the constants that are not linear: for each of them, and in all
POLISHED = 4
DECADES = 3.0  # of the values that are tried, up and down
OPEN_SHARE = 0.1  # what an equation counts of which a part is to be found
STRAIGHT = 1e-7  # relative second difference of what is linear


@dataclass(frozen=True)
class _Target:
    """A known part, and what its integral is compared with."""

    part: Program
    share: float
    observed: Floats  # (N,): NaN where missing
    free: Floats  # (N, depth): see `Observations.integration_constants`
    scale: float


def first_given(knowledge: Knowledge, scaling: Scaling, data: Observations, estimate: StateEstimate) -> Given:
    """What is given, in canonical units, with first values of the named constants."""
    count, trajectories = len(knowledge.constants), len(data)
    if count == 0:
        return knowledge.given(np.empty((0, trajectories)), scaling)
    rough = knowledge.given(np.ones((count, trajectories)), scaling)
    values = _first_values(rough, scaling, data, estimate, np.random.default_rng(0))
    sizes = np.abs(values).max(axis=1)
    units = np.where(np.isfinite(sizes) & (sizes > 1e-100), sizes, 1.0)
    return knowledge.given(values, scaling, units)


def _first_values(
    given: Given, scaling: Scaling, data: Observations, estimate: StateEstimate, rng: np.random.Generator
) -> Floats:
    """(P, trajectories), in the user's units."""
    targets = _targets(given, data)
    trajectories = len(data)
    inside = np.clip(np.ones(len(given.lower)), given.lower, given.upper)
    if not targets:
        return np.tile(inside[:, None], trajectories)

    def residuals(values: Floats, rows: slice | None = None) -> Floats:
        return _residuals(targets, values, data, estimate, rows)

    sizes = np.abs(scaling.factors[: data.dimension])
    shared = _searched(residuals, given, inside, sizes, rng)
    values = np.tile(shared[:, None], trajectories)
    varied = np.flatnonzero(given.varied)
    for k in range(trajectories if len(varied) else 0):
        rows = slice(int(data.bounds[k]), int(data.bounds[k + 1]))

        def own(some: Floats, rows: slice = rows) -> Floats:
            every = shared.copy()
            every[varied] = some
            return residuals(every, rows)

        values[varied, k] = _polished(own, shared[varied], given.lower[varied], given.upper[varied])[1]
    return values


def values_like(given: Given, terms: Mapping[int, Program]) -> Floats | None:
    """The named constants (P,) with which the known parts of these states come closest to these terms.

    None where they have no values: known equations are compared at the given's samples of the variables.
    """
    samples = given.samples
    with np.errstate(all="ignore"):
        wanted = {state: evaluate(one, samples)[:, 0] for state, one in terms.items()}

    def residuals(values: Floats) -> Floats:
        rows = np.hstack([samples, np.tile(values, (len(samples), 1))])
        with np.errstate(all="ignore"):
            parts = {state: given.parts[state] for state in terms}
            left = [
                evaluate(part, rows)[:, 0] - wanted[state]
                for state, part in parts.items()
                if part is not None
            ]
        return np.concatenate(left)

    values = _searched(residuals, given, given.values[:, 0], np.ones(0), np.random.default_rng(0), polished=1)
    return values if np.isfinite(residuals(values)).all() else None


def _targets(given: Given, data: Observations) -> list[_Target]:
    """The known parts that read only states which can be estimated from the data."""
    seen = [bool(np.isfinite(data.states[:, data.lineage(k)[0]]).sum() > 2) for k in range(data.dimension)]
    found = []
    for component, part in enumerate(given.parts):
        if part is None or component in given.sums:
            continue
        state, _ = data.lineage(component)
        read = part.values[part.ops == VAR]
        if seen[component] and all(seen[int(one)] for one in read if one < data.dimension):
            scale = float(data.scale[state])
            share = 1.0 if given.whole[component] else OPEN_SHARE
            observed, free = data.states[:, state] / scale, data.integration_constants[component]
            found.append(_Target(part, share, observed, free, scale))
    return found


def _residuals(
    targets: list[_Target], values: Floats, data: Observations, estimate: StateEstimate, rows: slice | None
) -> Floats:
    """What the integrals of the known parts leave, over all of them or some rows; NaN where not defined."""
    nodes = np.hstack([estimate.nodes, np.tile(values, (len(estimate.nodes), 1))])
    result = []
    for one in targets:
        with np.errstate(all="ignore"):
            f = evaluate(one.part, nodes)[:, 0] / one.scale
        integral = estimate.repeated_integrals(f, one.free.shape[1])
        rest = np.where(np.isnan(one.observed), 0.0, integral - one.observed)
        result.append(one.share * without_free(rest, one.free, data)[rows or slice(None)])
    return np.concatenate(result)


def without_free(values: Floats, free: Floats, data: Observations) -> Floats:
    """Values (N,) without what constants of integration explain, in each trajectory; free (N, depth)."""
    result = values.copy()
    for first, last in data.spans():
        own = free[first:last]
        result[first:last] -= own @ (own.T @ result[first:last])
    return result


def _searched(
    residuals: Callable[[Floats], Floats],
    given: Given,
    inside: Floats,
    sizes: Floats,
    rng: np.random.Generator,
    polished: int = POLISHED,
) -> Floats:
    """The best constants for all trajectories together, of those of several tries that are polished."""
    linear = _linear(residuals, inside)
    bent = np.setdiff1d(np.arange(len(inside)), linear)
    tries = min(max(TRIES * len(bent), 1), MOST_TRIES)
    found: list[tuple[float, Floats]] = []
    for number in range(tries):
        values = inside.copy()
        if number > 0:
            size = rng.choice([1.0, *sizes.tolist()], len(bent))
            drawn = size * 10.0 ** rng.uniform(-DECADES, DECADES, len(bent))
            values[bent] = np.clip(drawn, given.lower[bent], given.upper[bent])
        values = _with_linear(residuals, values, linear, given)
        cost = float((residuals(values) ** 2).sum())
        if np.isfinite(cost):
            found.append((cost, values))
    if not found:
        return inside
    found.sort(key=lambda pair: pair[0])
    near = [_polished(residuals, one, given.lower, given.upper) for _, one in found[:polished]]
    return min([*near, found[0]], key=lambda pair: pair[0])[1]


def _linear(residuals: Callable[[Floats], Floats], values: Floats) -> Ints:
    """The constants in which the residuals are linear, all together."""
    middle = residuals(values)
    found: list[int] = []
    for j in range(len(values)):
        step = np.zeros(len(values))
        step[j] = 0.5
        ends = residuals(values + step), residuals(values - step)
        size = float(np.abs(ends[0] - ends[1]).max())
        straight = np.abs(ends[0] + ends[1] - 2.0 * middle).max() <= STRAIGHT * size
        for other in found:  # a product of two constants is linear in each of them, not in both
            also = np.zeros(len(values))
            also[other] = 0.5
            mixed = residuals(values + step + also) - residuals(values + also) - ends[0] + middle
            straight = straight and np.abs(mixed).max() <= STRAIGHT * size
        if straight and np.isfinite(size):
            found.append(j)
    return np.array(found, np.int64)


def _with_linear(residuals: Callable[[Floats], Floats], values: Floats, linear: Ints, given: Given) -> Floats:
    """The values with the linear ones fitted to the others."""
    if len(linear) == 0:
        return values
    result = values.copy()
    result[linear] = 0.0
    rest = residuals(result)
    columns = []
    for j in linear:
        unit = result.copy()
        unit[j] = 1.0
        columns.append(residuals(unit) - rest)
    matrix = np.array(columns).T
    if not np.isfinite(matrix).all() or not np.isfinite(rest).all():
        return values
    lengths = np.linalg.norm(matrix, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    fitted = np.linalg.lstsq(matrix / lengths, -rest, rcond=1e-10)[0] / lengths
    result[linear] = np.clip(fitted, given.lower[linear], given.upper[linear])
    return result


def _polished(
    residuals: Callable[[Floats], Floats], values: Floats, lower: Floats, upper: Floats
) -> tuple[float, Floats]:
    """Cost and constants after a local fit."""
    from scipy.optimize import least_squares

    def finite(some: Floats) -> Floats:
        return np.nan_to_num(residuals(some), nan=1e3, posinf=1e3, neginf=-1e3)

    size = np.where(values != 0.0, np.abs(values), 1.0)
    start = np.clip(values, lower, upper)
    try:
        found = least_squares(finite, start, bounds=(lower, upper), x_scale=size, max_nfev=40)
    except ValueError:  # a start on the bounds, or numbers that overflow
        return float((finite(start) ** 2).sum()), start
    return float(2.0 * found.cost), np.asarray(found.x, np.float64)
