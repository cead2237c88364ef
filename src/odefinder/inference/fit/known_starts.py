"""What is known of initial values: fixed={"depot(0)": 0} and bounds={"depot(0)": (0, None)}.

"(0)" is the first time of each trajectory, whatever the clock says there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.names import did_you_mean
from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.data.units import Scaling
from odefinder.errors import SettingsError
from odefinder.inference.fit.known_text import with_derivatives
from odefinder.inference.fit.refine import starts_within
from odefinder.inference.fit.states import StateEstimate

_START = re.compile(r"(.*\S)\s*\(\s*0\s*\)")
Interval = tuple[float, float]
T = TypeVar("T")


def without_starts(given: Mapping[str, T] | None) -> dict[str, T] | None:
    """The entries that are about constants."""
    if given is None:
        return None
    return {name: value for name, value in given.items() if not _START.fullmatch(str(name).strip())}


def start_limits(
    fixed: Mapping[str, float] | None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None,
    dataset: Dataset,
    known: Sequence[str] = (),
) -> tuple[Interval, ...]:
    """(D,): lowest and highest initial values in the user's units; none at all if nothing is said about them.

    known: the states with equations in known; the scale of other hidden ones is free.
    """
    found: dict[int, Interval] = {}
    limited = {
        name: (-np.inf if a is None else a, np.inf if b is None else b) for name, (a, b) in _of(bounds)
    }
    for name, (low, high) in limited.items():
        if not low < high:
            raise SettingsError(f"the bounds of {name} leave nothing between {low:g} and {high:g}")
        found[_place(name, dataset, known)] = (low, high)
    for name, value in _of(fixed):
        place = _place(name, dataset, known)
        low, high = found.get(place, (-np.inf, np.inf))
        if not low <= value <= high:
            raise SettingsError(
                f"the bounds of {name} ({low:g} to {high:g}) exclude its fixed value {value:g}; change "
                "one of them"
            )
        found[place] = (value, value)
    if not found:
        return ()
    return tuple(found.get(k, (-np.inf, np.inf)) for k in range(dataset.dimension))


def _of(given: Mapping[str, T] | None) -> list[tuple[str, T]]:
    """The entries that are about initial values."""
    kept = without_starts(given) or {}
    return [(name, value) for name, value in (given or {}).items() if name not in kept]


def _place(name: str, dataset: Dataset, known: Sequence[str]) -> int:
    """The number of the state that is meant by depot(0) or theta'(0)."""
    match = _START.fullmatch(name.strip())
    assert match is not None
    state = with_derivatives(match[1], dataset.variables, name)
    if state not in dataset.variables:
        raise SettingsError(
            f"{name} is no initial value of these data: {state} is no variable"
            f"{did_you_mean(state, dataset.variables)}; there are {', '.join(dataset.variables)}"
        )
    place = dataset.variables.index(state)
    if dataset.roles and dataset.roles[place] == Role.HIDDEN and state not in known:
        raise SettingsError(
            f"{name} is given, but the scale of {state} is free; give its equation, or a part of it, in known"
        )
    return place


def with_starts(
    data: Observations, estimate: StateEstimate, limits: Sequence[Interval], scaling: Scaling
) -> tuple[Observations, StateEstimate]:
    """Data and estimate, in canonical units, with what is known of initial values."""
    if not limits:
        return data, estimate
    ends: Floats = np.sort(scaling.states(np.array(limits, np.float64).T), axis=0)  # (2, D)
    every = np.repeat(ends[:, None], len(data.bounds) - 1, axis=1)
    data = replace(data, start_limits=every)
    errors = np.where(every[0] == every[1], 0.0, estimate.start_errors)
    return data, replace(estimate, starts=starts_within(estimate.starts, data), start_errors=errors)
