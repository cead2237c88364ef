"""Fewer points of very long data, evenly chosen; what was measured rarely is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from odefinder.data.advice import MIN_POINTS
from odefinder.data.dataset import Dataset, Floats

MOST_POINTS = 5000  # that a fit reads: more cost time without adding much
MOST_VALUES = 50_000  # points times variables for each second of the time budget
FEWEST_POINTS = 200  # however short the time
MOST_TRAJECTORIES = 400
RARE = 100  # values of a variable in a trajectory: if it has no more, none of them is left out

T = TypeVar("T")


def points_for(dimension: int, seconds: float) -> int:
    """How many points a fit with this time budget reads."""
    return int(np.clip(MOST_VALUES * seconds / dimension, FEWEST_POINTS, MOST_POINTS))


def thinned(dataset: Dataset, most: int = MOST_POINTS) -> tuple[Dataset, NDArray[np.int64], list[str]]:
    """The data, or evenly chosen points of them where there are more; which trajectories; what to say."""
    total = sum(map(len, dataset.times))
    count = len(dataset)
    chosen = evenly(count, max(1, min(MOST_TRAJECTORIES, most // MIN_POINTS)))
    if total <= most and len(chosen) == count:
        return dataset, chosen, []
    fewer = dataset if len(chosen) == count else _with_trajectories(dataset, chosen)
    share = most / sum(map(len, fewer.times))
    if share < 1.0:
        fewer = fewer.with_points([_rows(states, share) for states in fewer.states])
    notes = [f"{sum(map(len, fewer.times))} of {total} points are used, evenly chosen."]
    if len(chosen) < count:
        notes = [f"{len(chosen)} of {count} trajectories are used, evenly chosen.", *notes[: share < 1.0]]
    return fewer, chosen, notes


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """At most this many of 0, ..., count - 1, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _rows(states: Floats, share: float) -> NDArray[np.int64]:
    """Evenly chosen rows, and more where a variable would be left with fewer values than it needs."""
    rows = evenly(len(states), max(MIN_POINTS, int(share * len(states))))
    needed = [rows]
    for values in states.T:
        if (left := int(np.isfinite(values[rows]).sum())) < RARE:
            seen = np.flatnonzero(np.isfinite(values))
            if left < min(len(seen), RARE):
                needed.append(seen[evenly(len(seen), RARE)])
    return rows if len(needed) == 1 else np.unique(np.concatenate(needed))


def _some(chosen: NDArray[np.int64], parts: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(parts[k] for k in chosen) if parts else ()


def _with_trajectories(dataset: Dataset, chosen: NDArray[np.int64]) -> Dataset:
    """Some of the trajectories."""
    return replace(
        dataset,
        times=_some(chosen, dataset.times),
        states=_some(chosen, dataset.states),
        labels=_some(chosen, dataset.labels),
        signals=_some(chosen, dataset.signals),
        settings=None if dataset.settings is None else dataset.settings[chosen],
        doses=_some(chosen, dataset.doses),
        errors=_some(chosen, dataset.errors),
    )
