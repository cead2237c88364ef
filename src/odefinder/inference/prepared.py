"""Data as they are fitted: not too many points, in canonical units, with errors and without outliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from odefinder.data.dataset import Dataset
from odefinder.data.observations import Ints, Observations
from odefinder.data.thinning import points_for, thinned
from odefinder.data.units import Scaling
from odefinder.inference.fit.noise import least_error, observation_errors, without_outliers
from odefinder.inference.fit.states import StateEstimate, estimate_states
from odefinder.inference.known_parts import with_varied
from odefinder.inference.warmup import prepare
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import Deadline

SECONDS = 5.0  # that preparing data again after a fit may take
LARGE = 5000  # values: the fit keeps more as it read them, because preparing them again would take long
OUTLIER_PASSES, FAR_LESS = 3, 0.5  # the share of the noise that is left without outliers, at most


@dataclass(frozen=True)
class Prepared:
    """What a fit reads."""

    dataset: Dataset  # perhaps with fewer points than the user's
    scaling: Scaling
    data: Observations  # in canonical units
    estimate: StateEstimate
    outliers: int  # values that are left out
    chosen: Ints  # which of the user's trajectories are in it

    def varied(self, constants: Mapping[str, object], names: Sequence[str]) -> Prepared:
        """The same for a system that reads constants that vary between trajectories, after all others.

        constants: those that vary have a value for each of the user's trajectories.
        """
        own = {
            name: tuple(one[k] for k in self.chosen) if isinstance(one, tuple) else one
            for name, one in constants.items()
        }
        return replace(self.wider(constants, names), data=with_varied(self.data, own, names))

    def wider(self, constants: Mapping[str, object], names: Sequence[str]) -> Prepared:
        """The same with units for constants that vary: the user's."""
        more = sum(isinstance(constants.get(name), tuple) for name in names)
        if not more:
            return self
        factors = np.concatenate([self.scaling.factors, np.ones(more)])
        scaling = replace(self.scaling, factors=factors, known=self.scaling.known + more)
        return replace(self, scaling=scaling)


def prepared(dataset: Dataset) -> Prepared:
    """The data as a fit reads them."""
    prepare()  # after loading a model, nothing may be compiled yet; that must not use up the time
    fewer, chosen, _ = thinned(dataset, points_for(dataset.dimension, SECONDS))
    scaling = fewer.scaling()
    with Deadline(SECONDS):
        data, estimate, outliers = estimated(fewer.observations(scaling))
    return Prepared(fewer, scaling, data, estimate, outliers, chosen)


def estimated(data: Observations) -> tuple[Observations, StateEstimate, int]:
    """The data with the errors of all values and without outliers, the states behind them, the outliers."""
    first = estimate = estimate_states(data)
    cleaned, outliers = data, 0
    for _ in range(OUTLIER_PASSES if not alarm_rings() else 0):  # large ones hide the others
        cleaned, count = without_outliers(cleaned, estimate)
        if not count:
            break
        estimate, outliers = estimate_states(cleaned), outliers + count
    if np.all(estimate.noise[_differ(data, cleaned)] < FAR_LESS * first.noise[_differ(data, cleaned)]):
        data = cleaned
    else:  # spikes: without them, the rest is no smoother
        estimate, outliers = first, 0
    errors = observation_errors(data, estimate)
    return replace(data, errors=errors, least_error=least_error(data)), estimate, outliers


def _differ(one: Observations, other: Observations) -> NDArray[np.bool_]:
    """Which variables (D,) have values missing in one of the two."""
    return (np.isnan(one.states) != np.isnan(other.states)).any(axis=0)
