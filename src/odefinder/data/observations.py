"""The observed trajectories of one system, as every stage of a fit reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from odefinder.data.roles import Role
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Observations:
    """Trajectories of one system, one after the other; missing entries are NaN.

    D states have equations; velocities and hidden ones are columns of NaN.  K known variables (inputs,
    conditions, time) have none: `known` holds their values at the observed times, `signals` all of them.
    """

    times: Floats  # (N,), strictly increasing within each trajectory
    states: Floats  # (N, D)
    bounds: Ints  # (trajectories + 1,): where each begins, and the end
    roles: tuple[Role, ...] = ()  # of the D + K variables; empty: all are observed states
    known: Floats | None = None  # (N, K)
    signals: tuple[Signals, ...] = ()  # of each trajectory; empty: nothing drives it
    errors: Floats | None = None  # (N, D): standard errors, NaN where they are not known

    @classmethod
    def joined(cls, times: Sequence[Floats], states: Sequence[Floats]) -> Observations:
        """From times (n,) and states (n, D) of each trajectory."""
        bounds = np.cumsum([0, *map(len, times)], dtype=np.int64)
        return cls(np.concatenate(times), np.concatenate(states), bounds)

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return self.states.shape[1]

    @property
    def count(self) -> int:
        """The number of observed values: points times variables, without the missing ones."""
        return int(np.isfinite(self.states).sum())

    @cached_property
    def scale(self) -> Floats:
        """The standard deviation of every variable, by which residuals are measured."""
        seen = np.isfinite(self.states).any(axis=0)
        spread = np.zeros(self.dimension)
        spread[seen] = np.nanstd(self.states[:, seen], axis=0)
        return np.where(spread > 0.0, spread, 1.0)

    def trajectories(self) -> Iterator[tuple[Floats, Floats]]:
        """Times (n,) and states (n, D) of each trajectory."""
        for first, last in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            yield self.times[first:last], self.states[first:last]
