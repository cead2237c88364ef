"""How far two attractors are from each other, whatever the phase: a distance between clouds of points.

The energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'| of two distributions is zero if and only if they are
the same (Székely and Rizzo, 2013).  Divided by 2 E|X - Y| it lies between 0 and 1; its square root, used
here, is proportional to a small difference.  Points are delay-embedded, so that not only the places count
but also the order in which they are visited.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import DataError
from odefinder.numerics.chaos.records import delay_embedded

Floats = NDArray[np.float64]

DELAYS = 2  # of an embedded point
PIECES = 4  # of the true record, for the distance by chance
MOST_POINTS = 1000  # of each cloud: the cost grows as their square


class AttractorDistance(NamedTuple):
    """The distance of a model's attractor from the true one, with what it has to be compared with."""

    distance: float  # 0: the same, 1: nothing in common
    reference: float  # what two records of this length, both of the true system, may be apart by chance


def attractor_distance(
    truth: ArrayLike, model: ArrayLike, lag: int, delays: int = DELAYS
) -> AttractorDistance:
    """The distance between two records (N, D) with the same even time step.

    lag: steps between the embedded states, about a quarter of the period.  Each variable is measured in its
    true standard deviations.  A model's record that is not finite is as far away as can be.
    """
    x, y = np.asarray(truth, np.float64), np.asarray(model, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise DataError(f"give two records (N, D) with the same variables, not {x.shape} and {y.shape}")
    spread = np.nanstd(x, axis=0)
    unit = np.where(spread > 0.0, spread, 1.0)
    reference = _distance_by_chance(x / unit, delays, lag)
    if not np.isfinite(y).all():
        return AttractorDistance(1.0, reference)
    return AttractorDistance(
        cloud_distance(_cloud(x / unit, delays, lag), _cloud(y / unit, delays, lag)), reference
    )


def cloud_distance(one: Floats, other: Floats) -> float:
    """The square root of the normalised energy distance of two clouds of points (N, D), from 0 to 1."""
    between = _mean_distance(one, other)
    if between == 0.0:
        return 0.0
    within = sum(_mean_distance(cloud, cloud) * len(cloud) / max(len(cloud) - 1, 1) for cloud in (one, other))
    return float(np.sqrt(max(0.0, 1.0 - within / (2.0 * between))))


def _distance_by_chance(states: Floats, delays: int, lag: int) -> float:
    """From the distances between pieces of one record: their squares fall as one over the length."""
    pieces = [_cloud(piece, delays, lag) for piece in np.array_split(states, PIECES)]
    squares = [cloud_distance(one, other) ** 2 for one, other in combinations(pieces, 2)]
    return float(np.sqrt(np.mean(squares) / PIECES))


def _cloud(states: Floats, delays: int, lag: int) -> Floats:
    """Embedded points without gaps, evenly thinned to `MOST_POINTS`."""
    points = delay_embedded(states, delays, lag)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 10:
        raise DataError("too few complete points for a distance between attractors; give a longer record")
    return points[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(int))]


def _mean_distance(one: Floats, other: Floats) -> float:
    from scipy.spatial.distance import cdist

    return float(cdist(one, other).mean())
