"""Chaos in data, without a model: how fast records that come close to each other part again.

Each point has a nearest neighbour from another time; the mean logarithm of their distance rises along a line
whose slope is the largest Lyapunov exponent (Rosenstein, Collins and De Luca, 1993).  Against noise, points
are delay-embedded, the first steps are left out (a nearest neighbour is chosen for noise that happens to
cancel), and the slope is read far below the distance of random points, which it cannot exceed.

Random processes also part.  Their distance grows as a power of the time, which is steep first and then flat:
only growth that is closer to an exponential counts as evidence of chaos.  The test errs on the side of "no
evidence", and under noise its exponent is too small: neighbours start further apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.numerics.chaos.records import delay_embedded, even_grid, mean_period

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COORDINATES = 6  # of an embedded point, at least
SHORTEST = 5.0  # periods that a record must last
MOST_PERIODS = 12.0  # over which neighbours are followed
REFERENCES = 1200  # points whose neighbours are followed
BLOCKS = 8  # of references: the scatter of their slopes gives the error
UPPER = 0.6  # of the way from the first distance to that of random points: where the line ends
GROWTH = np.log(2.0)  # the least growth that can be told from none
SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Divergence:
    """What neighbours in the data say about the largest Lyapunov exponent."""

    exponent: float  # per unit of time; NaN if there is none
    error: float  # standard error, and how much the line bends
    reason: str  # why there is no evidence of chaos; empty if there is

    @property
    def chaotic(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        if not self.chaotic:
            return f"no evidence of chaos in the data: {self.reason}"
        return (
            "chaotic, as far as the data show: neighbouring pieces part by a factor of e every "
            f"{1.0 / self.exponent:.2g} time units (exponent {self.exponent:.2g} +- {self.error:.1g})"
        )


def divergence_of_neighbours(times: Sequence[ArrayLike], states: Sequence[ArrayLike]) -> Divergence:
    """The largest exponent from trajectories: times (N,) and states (N, D) of each."""
    longest = int(np.argmax([np.ptp(np.asarray(t, np.float64)) for t in times]))
    step, _ = even_grid(times[longest], states[longest])
    records = [even_grid(t, x, step)[1] for t, x in zip(times, states, strict=True)]
    joined = np.concatenate(records)
    moving = np.ptp(joined, axis=0) > 0.0
    if not moving.any():
        return _nothing("nothing moves")
    period = mean_period(times[longest], states[longest]) / step  # in steps
    if len(records[longest]) < SHORTEST * period:
        return _nothing(f"a record should last {SHORTEST:g} periods or more, of {period * step:.2g} each")
    spread = joined[:, moving].std(axis=0)
    delays = -(-COORDINATES // int(moving.sum())) - 1
    lag = max(1, round(period / 8.0))
    pieces = [record[:, moving] / spread for record in records if len(record) > delays * lag]
    curve = _follow([delay_embedded(piece, delays, lag) for piece in pieces], period)
    if curve is None:
        return _nothing("too few points have a neighbour from another time")
    return _judge(curve, max(1 + delays * lag, round(0.5 * period)), period, step)


@dataclass(frozen=True, eq=False)
class _Curve:
    logs: Floats  # (steps, references): logarithms of the distances of neighbours
    random: float  # mean logarithm of the distance of random points


def _follow(points: list[Floats], period: float) -> _Curve | None:
    """The distances of neighbours as they move on; None if there are too few."""
    lengths = np.array([len(piece) for piece in points])
    steps = int(min(MOST_PERIODS * period, 0.5 * lengths.max()))
    cloud = np.concatenate(points)
    record = np.repeat(np.arange(len(points)), lengths)
    place = np.concatenate([np.arange(length) for length in lengths])
    usable = np.flatnonzero(lengths[record] - place > steps)
    references = usable[np.unique(np.linspace(0, len(usable) - 1, REFERENCES).astype(int))]
    if len(references) < 10 * BLOCKS:
        return None
    neighbours = _nearest(cloud, references, usable, record, place, period)
    found = neighbours >= 0
    if np.count_nonzero(found) < 10 * BLOCKS:
        return None
    references, neighbours = references[found], neighbours[found]
    tiny = np.finfo(float).tiny
    logs = np.stack(
        [
            np.log(np.linalg.norm(cloud[references + k] - cloud[neighbours + k], axis=1) + tiny)
            for k in range(steps)
        ]
    )
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, len(cloud), (2, 4000))
    apart = np.linalg.norm(cloud[one] - cloud[other], axis=1)
    return _Curve(logs, float(np.log(apart[apart > 0.0]).mean()))


def _nearest(cloud: Floats, references: Ints, usable: Ints, record: Ints, place: Ints, period: float) -> Ints:
    """The nearest usable point from another record, or at least a period away; -1 if there is none."""
    squares = (cloud[usable] ** 2).sum(axis=1)
    nearest = np.full(len(references), -1)
    for number, i in enumerate(references):
        distance = squares - 2.0 * (cloud[usable] @ cloud[i])
        distance[(record[usable] == record[i]) & (np.abs(place[usable] - place[i]) < period)] = np.inf
        best = int(distance.argmin())
        if np.isfinite(distance[best]):
            nearest[number] = usable[best]
    return nearest


def _judge(curve: _Curve, first: int, period: float, step: float) -> Divergence:
    """Slope, error and verdict."""
    mean = curve.logs.mean(axis=1)
    if first + 4 >= len(mean):
        return _nothing("the records are too short to follow neighbours")
    room = curve.random - mean[first]
    if room < 2.0 * GROWTH:
        return _nothing("neighbours are hardly closer than random points (noise, or too few points)")
    beyond = np.flatnonzero(mean[first:] > mean[first] + UPPER * room)
    last = first + int(beyond[0]) if len(beyond) else len(mean)
    if last - first < 4 or last - first < 0.5 * period:
        return _nothing("neighbours part within half a period, as random motion does")
    time: Floats = np.arange(first, last, dtype=np.float64) * step
    slope, line = _line(time, mean[first:last])
    blocks = np.array_split(curve.logs[first:last], BLOCKS, axis=1)
    scatter = np.std([_line(time, block.mean(axis=1))[0] for block in blocks], ddof=1) / np.sqrt(BLOCKS)
    half = len(time) // 2
    bend = abs(
        _line(time[:half], mean[first : first + half])[0] - _line(time[half:], mean[first + half : last])[0]
    )
    error = float(np.hypot(scatter, 0.25 * bend))
    if slope * (time[-1] - time[0]) < GROWTH or slope < SURE * scatter:
        return Divergence(slope, error, "neighbours stay neighbours")
    _, power = _line(np.log(time), mean[first:last])
    if power < line:
        return Divergence(
            slope, error, "neighbours part as in random motion, fast first and then ever slower"
        )
    return Divergence(slope, error, "")


def _line(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Slope of the line through points, and the sum of squares that it leaves."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    return slope, float(((y - y.mean() - slope * centred) ** 2).sum())


def _nothing(reason: str) -> Divergence:
    return Divergence(np.nan, np.nan, reason)
