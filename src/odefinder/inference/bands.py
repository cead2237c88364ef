"""Where trajectories may run: constants, initial values and candidates drawn by their probability.

Each candidate gets a share of the draws according to its weight.  Its constants and initial values are drawn
from the quadratic approximation of the likelihood, with a wide prior where the data say nothing, and drawn
again with the weights that the trajectories over the data really deserve.  Every draw is simulated; beyond
the data, those of candidates other than the first are moved further away from it.  A band holds the wanted
share of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from odefinder.data.observations import Floats, Ints
from odefinder.expressions.program import Program
from odefinder.inference.certainty import Certainty
from odefinder.inference.fit.refine import fit_constants, limits_of, starts_within
from odefinder.inference.prepared import Prepared
from odefinder.limits.deadline import Deadline
from odefinder.numerics.integrate import integrate
from odefinder.numerics.signals import Signals

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9  # of bands
DRAWS = 200  # trajectories behind a band
# If the first candidate is wrong, the truth is often none of the others either: they were found by the same
# search in the same data.  So they count with this many times their distance from the first, but not over the
# data, which hold them together.  Chosen on 90 fits of `benchmarks/bands.py` (seed 4711): without it, 84 % of
# the values from elsewhere and 89 % of those later are inside bands of 90 %, with it 90 and 93 %.
FURTHER = 2.0
SOON = 0.1  # durations of the data after which it is that much, so that a forecast does not begin with a jump
MOST, LEAST = 20, 0.01  # candidates that take part, and their weight relative to the first
SECONDS = 20.0  # that a band may take
MOST_VALUES = 100_000  # of a band, times and variables: each takes some 7 KB
PROPOSED = 2  # parameters proposed for each that is drawn
WIDTH = 1.0  # of the prior: standard deviation of a constant relative to its value, of a start in its scale
NARROWER = 0.3  # factor of the proposals' width where hardly any of them fits the data
TRIED = 3  # widths
ALONG = 0.02  # width of the prior along directions in which the data say nothing, where the usual one fails
FEW = 0.1  # share of the proposals that should count
MAX_STEPS, RTOL, ATOL, BOUND = 5000, 1e-6, 1e-9, 1e6  # of a drawn trajectory, in canonical units


@dataclass(frozen=True)
class Draws:
    """Systems in canonical units with their initial values."""

    programs: Sequence[Program]  # constants that vary between trajectories are variables, after all others
    starts: Floats  # (draws, trajectories, D)
    varied: Sequence[Floats] = ()  # (trajectories, constants that vary) of each draw, counted in units
    units: Sequence[Floats] = ()  # (constants that vary,): of each draw
    first: int = 0  # how many of them, the first, are of the first candidate


@dataclass(frozen=True, repr=False)
class Bands:
    """A trajectory and the band around it."""

    times: Floats  # (N,)
    states: Floats  # (N, D): of the chosen system
    lower: Floats  # (N, D); -inf where too many draws run away
    upper: Floats  # (N, D)
    level: float  # the chance that the true value is inside, if the candidates and the noise are as found
    lost: Floats  # (N,): share of the draws that have no solution at that time
    variables: tuple[str, ...]
    clock: str = "t"  # the name of the time

    def since(self, time: float) -> Bands:
        """The part from this time on."""
        own = self.times >= time
        return replace(
            self,
            times=self.times[own],
            states=self.states[own],
            lower=self.lower[own],
            upper=self.upper[own],
            lost=self.lost[own],
        )

    def frame(self) -> pd.DataFrame:
        """A table with the columns t, x, x_lower, x_upper, ..."""
        import pandas as pd

        columns = {self.clock: self.times}
        for d, name in enumerate(self.variables):
            columns |= {
                name: self.states[:, d],
                f"{name}_lower": self.lower[:, d],
                f"{name}_upper": self.upper[:, d],
            }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        first, last = self.times[[0, -1]]
        share = f"{100 * self.level:g} %"
        return f"Bands of {', '.join(self.variables)} ({share}), {self.clock} from {first:g} to {last:g}"


def draw(
    candidates: Sequence[Certainty],
    weights: Sequence[float],
    count: int = DRAWS,
    seed: int = 0,
    deadline: Deadline | None = None,
    temperature: float = 1.0,
) -> Draws:
    """Systems with constants and initial values, as probable as the data say.

    temperature: what a nat of the likelihood counts; less than 1 if it is surer than it should be.
    """
    rng = np.random.default_rng(seed)
    deadline = deadline or Deadline(SECONDS)
    programs, starts = list[Program](), list[Floats]()
    varied, units = list[Floats](), list[Floats]()
    for found, own in zip(candidates, shares(weights, count), strict=True):
        if own == 0:
            continue
        curvature = replace(found.curvature, variance=found.curvature.variance / temperature)
        parameters = _parameters(replace(found, curvature=curvature), int(own), rng, deadline)
        n_constants = len(found.constants.scaled.constants)
        known = found.data.given
        vary = np.flatnonzero(() if known is None else known.varied)
        for one in parameters:
            program = found.constants.scaled.with_constants(one[:n_constants])
            programs.append(program if known is None else known.symbolic(program))
            starts.append(one[n_constants:].reshape(found.best.starts.shape))
            varied.append(
                np.empty((0, 0)) if known is None else known.named(known.numbers_of(program))[vary].T
            )
            units.append(np.empty(0) if known is None else known.units[vary])
    return Draws(programs, np.array(starts), varied, units, int(shares(weights, count)[0]))


def likely_rows(weights: Sequence[float]) -> list[int]:
    """Which candidates take part: those that would get a draw, at most MOST."""
    order = np.argsort(-np.asarray(weights), kind="stable")[:MOST]
    best = weights[order[0]]
    return [int(k) for k in order if weights[k] >= LEAST * best]


def shares(weights: Sequence[float], count: int) -> Ints:
    """How many of `count` draws each candidate gets.

    The weight of the first is the chance that it is right, and its share.  The others have the rest, in
    proportion to the roots of their weights: if the first is wrong, they are less certain, too.
    """
    first, others = min(float(weights[0]), 1.0), np.sqrt(np.asarray(weights[1:], np.float64))
    total = float(others.sum())
    exact = count * np.concatenate([[first], (1.0 - first) * others / total]) if total > 0.0 else None
    if exact is None:
        return np.where(np.arange(len(weights)) == 0, count, 0).astype(np.int64)
    numbers = np.floor(exact).astype(np.int64)
    largest = np.argsort(-(exact - numbers), kind="stable")
    numbers[largest[: count - int(numbers.sum())]] += 1
    return numbers


def _parameters(found: Certainty, count: int, rng: np.random.Generator, deadline: Deadline) -> Floats:
    """Constants and initial values (count, P) of one candidate, all of them, free or held."""
    best, curvature, data = found.best, found.curvature, found.data
    centre = np.concatenate([best.program.constants, best.starts.ravel()])
    free = np.zeros(len(centre), np.bool_)
    free[: len(curvature.free)] = curvature.free
    own = np.flatnonzero(free)
    certain = np.tile(centre, (count, 1))
    if len(own) == 0 or not np.isfinite(best.error):
        return certain
    width = WIDTH * np.ones(len(centre))
    with np.errstate(divide="ignore", invalid="ignore"):  # of variables that never change
        width[found.constants.places] *= np.abs(found.constants.values / found.constants.units)
    width = np.where(width > 0.0, width, WIDTH)[own]
    if not (np.isfinite(curvature.variance) and curvature.variance > 0.0):
        return certain
    matrix = curvature.matrix[np.ix_(own, own)] / curvature.variance
    wide, blind = np.diag(1.0 / width**2), curvature.blind
    tries = [(NARROWER**k, wide) for k in range(TRIED)]
    if len(blind):  # a valley that bends, such as that of a product: hardly any steps along it
        tight = wide + blind.T @ blind / ALONG**2
        tries = [(1.0, wide), *((share, tight) for share, _ in tries)]
    chances, proposals = np.zeros(0), certain
    for share, prior in tries:
        try:
            factor = np.linalg.cholesky(matrix + prior)
        except np.linalg.LinAlgError:
            return certain
        normal = rng.normal(size=(PROPOSED * count, len(own)))
        steps = share * np.linalg.solve(factor.T, normal.T).T
        proposals = np.tile(centre, (len(steps), 1))
        proposals[:, own] += steps
        costs = np.full(len(steps), np.inf)
        for k, one in enumerate(proposals):
            if deadline.over:
                break
            costs[k] = _cost(one, found)
        likely = -0.5 * (costs - best.error * data.count) / curvature.variance
        likely += -0.5 * ((steps @ prior) * steps).sum(axis=1) + 0.5 * (normal**2).sum(axis=1)
        chances = np.exp(likely - likely.max()) if np.isfinite(likely).any() else np.zeros(len(likely))
        if chances.sum() ** 2 > FEW * len(chances) * (chances**2).sum():
            break
    if not chances.sum() > 0.0:
        return certain
    chances = np.minimum(chances / chances.sum(), 1.0 / np.sqrt(len(chances)))  # none may count for all
    return proposals[_resampled(chances / chances.sum(), count, rng)]


def _cost(parameters: Floats, found: Certainty) -> float:
    """The sum of squares of the weighted residuals; inf beyond the bounds of a constant."""
    program, data = found.constants.scaled, found.data
    count = len(program.constants)
    low, high = limits_of(program, data)
    if len(low) and bool(((parameters[:count] < low) | (parameters[:count] > high)).any()):
        return np.inf
    starts = parameters[count:].reshape(found.best.starts.shape)
    if not np.array_equal(starts_within(starts, data), starts):
        return np.inf
    fit = fit_constants(program.with_constants(parameters[:count]), data, starts=starts, iterations=0)
    return fit.error * data.count


def _resampled(chances: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Systematic resampling: places (count,) with these chances."""
    points = (rng.random() + np.arange(count)) / count
    return np.minimum(np.searchsorted(np.cumsum(chances), points), len(chances) - 1)


def simulated(
    draws: Draws,
    given: Prepared,
    times: Floats,
    signals: Signals,
    start: Floats | None = None,
    trajectory: int = 0,
    deadline: Deadline | None = None,
    own: bool = True,
) -> Floats:
    """Trajectories (draws, N, D) in the user's units; NaN where there is no solution.

    start (D,): where all of them begin, at the first time; without it, at their own initial values of an
    observed trajectory.  own: whether constants that vary are drawn, too, as those of that trajectory;
    otherwise the signals have them.
    """
    scaling = given.scaling
    deadline = deadline or Deadline(SECONDS)
    driven, moments = scaling.signals(signals, float(times[0])), scaling.times(times)
    paths = np.full((len(draws.programs), len(times), scaling.dimension), np.nan)
    for k, program in enumerate(draws.programs):
        if deadline.over:
            return paths[:k]
        begin = draws.starts[k, trajectory] if start is None else scaling.states(start)
        size = max(1.0, float(np.abs(begin).max()))
        inputs = _driven(driven, draws, k, trajectory if own else None)
        paths[k], _ = integrate(
            program, begin, moments, signals=inputs, rtol=RTOL, atol=ATOL * size, max_steps=MAX_STEPS,
            bound=BOUND * size,
        )  # fmt: skip
    return scaling.original_states(paths)


def _driven(signals: Signals, draws: Draws, number: int, trajectory: int | None) -> Signals:
    """What drives a draw: its own constants of a trajectory, or those of the signals in its units."""
    units = draws.units[number] if draws.units else np.empty(0)
    if not len(units):
        return signals
    first = signals.before.shape[1] - len(units)
    columns = []
    for side in (signals.before, signals.after):
        changed = side.copy()
        changed[:, first:] /= units
        if trajectory is not None:
            changed[:, first:] = draws.varied[number][trajectory]
        columns.append(changed)
    return signals._replace(before=columns[0], after=columns[1])


def widening(times: Floats, seen: Floats) -> Floats:
    """How many times their distance from the first others count with (N,): once over the observed times."""
    return np.asarray(1.0 + (FURTHER - 1.0) * np.clip((times - seen[-1]) / (SOON * np.ptp(seen)), 0.0, 1.0))


def further(paths: Floats, first: int, factors: Floats) -> Floats:
    """Trajectories (draws, N, D), those after the first few further away from these.

    first: how many are of the first candidate.  factors (N,): of the others' distance from it.  What is
    positive in all draws stays so.
    """
    if not 0 < first < len(paths):
        return paths
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where none of them has a solution
        middle = np.nanmedian(paths[:first], axis=0)
    middle = np.where(np.isfinite(middle), middle, paths[first:])
    factor = factors[:, None]
    moved = middle + factor * (paths[first:] - middle)
    positive = np.nanmin(paths, axis=(0, 1), initial=np.inf) >= 0.0
    moved = np.where(positive, np.maximum(moved, np.minimum(paths[first:], middle) / factor), moved)
    return np.concatenate([paths[:first], moved])


def quantiles(paths: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Lower and upper ends (N, D) of the band that holds this share of all draws, and the share lost (N,).

    Draws that have no solution may be anywhere: where they are too many, the band has no ends.
    """
    there = np.asarray(np.isfinite(paths).all(axis=2))
    lost = 1.0 - there.mean(axis=0) if len(paths) else np.ones(paths.shape[1])
    lower = np.full(paths.shape[1:], -np.inf)
    upper = np.full(paths.shape[1:], np.inf)
    for i in np.flatnonzero(lost <= 1.0 - level).tolist():
        inside = min(level / (1.0 - lost[i]), 1.0)
        ends = [0.5 - 0.5 * inside, 0.5 + 0.5 * inside]
        lower[i], upper[i] = np.quantile(paths[there[:, i], i], ends, axis=0)
    return lower, upper, lost
