"""Data as they are fitted: not too many points, in canonical units, with errors and without outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odefinder.data.advice import MIN_POINTS
from odefinder.data.dataset import Dataset
from odefinder.data.observations import Observations
from odefinder.data.units import Scaling
from odefinder.inference.fit.noise import observation_errors, without_outliers
from odefinder.inference.fit.states import StateEstimate, estimate_states

FITTED_POINTS = 5000  # points that a fit reads at most: more cost time without adding much
OUTLIER_PASSES, FAR_LESS = 3, 0.5  # the share of the noise that is left without outliers, at most


@dataclass(frozen=True)
class Prepared:
    """What a fit reads."""

    dataset: Dataset  # perhaps with fewer points than the user's
    scaling: Scaling
    data: Observations  # in canonical units
    estimate: StateEstimate
    outliers: int  # values that are left out


def prepared(dataset: Dataset) -> Prepared:
    """The data as a fit reads them."""
    fewer, _ = thinned(dataset)
    scaling = fewer.scaling()
    data, estimate, outliers = estimated(fewer.observations(scaling))
    return Prepared(fewer, scaling, data, estimate, outliers)


def thinned(dataset: Dataset) -> tuple[Dataset, list[str]]:
    """The data, or evenly chosen points of them where there are very many, and what to say about it."""
    total = sum(map(len, dataset.times))
    share = FITTED_POINTS / total
    if share >= 1.0:
        return dataset, []
    fewer = dataset.with_points(
        [
            np.unique(np.linspace(0, len(t) - 1, max(MIN_POINTS, int(share * len(t)))).astype(int))
            for t in dataset.times
        ]
    )
    if any(np.isnan(x).all(axis=0).any() for x in fewer.states):  # a variable with few values lost them all
        return dataset, []
    return fewer, [f"{sum(map(len, fewer.times))} of {total} points are used, evenly chosen."]


def estimated(data: Observations) -> tuple[Observations, StateEstimate, int]:
    """The data with the errors of all values and without outliers, the states behind them, the outliers."""
    first = estimate = estimate_states(data)
    cleaned, outliers = data, 0
    for _ in range(OUTLIER_PASSES):  # large ones hide the others
        cleaned, count = without_outliers(cleaned, estimate)
        if not count:
            break
        estimate, outliers = estimate_states(cleaned), outliers + count
    if np.all(estimate.noise[_differ(data, cleaned)] < FAR_LESS * first.noise[_differ(data, cleaned)]):
        data = cleaned
    else:  # spikes: without them, the rest is no smoother
        estimate, outliers = first, 0
    return replace(data, errors=observation_errors(data, estimate)), estimate, outliers


def _differ(one: Observations, other: Observations) -> NDArray[np.bool_]:
    """Which variables (D,) have values missing in one of the two."""
    return (np.isnan(one.states) != np.isnan(other.states)).any(axis=0)
