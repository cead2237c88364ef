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
from odefinder.data.names import not_one_of
from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.data.units import Scaling
from odefinder.errors import SettingsError
from odefinder.inference.fit.knowledge import NO_BOUNDS
from odefinder.inference.fit.known_text import with_derivatives
from odefinder.inference.fit.refine import starts_within
from odefinder.inference.fit.states import StateEstimate

_START = re.compile(r"(.*\S)\s*\(\s*0\s*\)")
FEW_POINTS = 6  # with fewer, nothing is said about noise
FAR, SURE = 0.5, 10.0  # shares of the range, and times the noise: a first value this far off is another one
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
    values = {_place(name, dataset, known): value for name, value in _of(fixed)}
    found = {place: (value, value) for place, value in values.items()}
    for name, ends in _of(bounds):
        place = _place(name, dataset, known)
        found.setdefault(place, interval(name, ends, values.get(place)))
    for place, ends in found.items():
        _check_start(place, ends, dataset)
    return tuple(found.get(k, NO_BOUNDS) for k in range(dataset.dimension)) if found else ()


def _check_start(place: int, ends: Interval, dataset: Dataset) -> None:
    """Raise where the first value of a trajectory is far from what is said about it."""
    for states in dataset.states:
        values = states[:, place]
        seen = values[np.isfinite(values)]
        if not np.isfinite(values[0]) or len(seen) < FEW_POINTS:
            continue
        apart = abs(values[0] - np.clip(values[0], *ends))
        noise = float(np.sqrt(np.mean(np.diff(seen, 2) ** 2) / 6.0))
        if apart > max(FAR * np.ptp(seen), SURE * noise):
            name, said = dataset.variables[place], f"{ends[0]:g}"
            said = said if ends[0] == ends[1] else f"between {said} and {ends[1]:g}"
            raise SettingsError(
                f"{name}(0) is said to be {said}, but the data begin with {name} = {values[0]:g}; change it, "
                "or leave it out, as what was measured is fitted anyway"
            )


def interval(name: str, ends: tuple[float | None, float | None], fixed: float | None) -> Interval:
    """The bounds of a constant or initial value; None is no bound, and no fixed value."""
    low, high = -np.inf if ends[0] is None else ends[0], np.inf if ends[1] is None else ends[1]
    if not low < high:
        raise SettingsError(
            f"the bounds of {name} leave nothing between {low:g} and {high:g}; give the lowest first"
        )
    if fixed is not None and not low <= fixed <= high:
        raise SettingsError(
            f"the bounds of {name} ({low:g} to {high:g}) exclude its fixed value {fixed:g}; change one of "
            "them"
        )
    return low, high


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
        raise SettingsError(f"{name} is the initial value of {state}, {not_one_of(state, dataset.variables)}")
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
    every = np.repeat(ends[:, None], len(data), axis=1)
    data = replace(data, start_limits=every)
    errors = np.where(every[0] == every[1], 0.0, estimate.start_errors)
    return data, replace(estimate, starts=starts_within(estimate.starts, data), start_errors=errors)
