"""Units of time and dates: counting times in another unit or from another date, and dates back again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from odefinder.data.dataset import Clock, Dataset
from odefinder.edge.arrays import numbers
from odefinder.edge.rules import shown
from odefinder.errors import DataError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

SECONDS = {
    "weeks": 7 * 86400.0, "years": 365.25 * 86400.0, "days": 86400.0, "hours": 3600.0, "minutes": 60.0,
    "seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9,
}  # fmt: skip
_SHORT = {
    "weeks": ("week", "w", "wk"), "years": ("year", "a", "y", "yr", "yrs"), "days": ("day", "d"),
    "hours": ("hour", "h", "hr", "hrs"), "minutes": ("minute", "min", "mins"),
    "seconds": ("second", "s", "sec", "secs"), "milliseconds": ("millisecond", "ms", "msec"),
    "microseconds": ("microsecond", "us", "µs", "μs"), "nanoseconds": ("nanosecond", "ns"),
}  # fmt: skip
FARTHEST = 3e11  # seconds, some 10,000 years
_FULL = {short: full for full, shorts in _SHORT.items() for short in (full, *shorts)}


def unit_name(text: str) -> str:
    """`h` -> hours; an empty text if it is no unit that we know."""
    return _FULL.get(text.strip(), _FULL.get(text.strip().lower(), ""))


def with_time_unit(dataset: Dataset, unit: str) -> Dataset:
    """The data with times in this unit; where theirs is not known, it is this one from now on."""
    wanted = unit_name(unit) if isinstance(unit, str) else ""
    if not wanted:
        raise SettingsError(f"{shown(unit)} is not a unit of time; choose one of {', '.join(SECONDS)}")
    clock = dataset.clock
    known = unit_name(clock.unit)
    if not known:
        return replace(dataset, clock=replace(clock, unit=wanted))
    if known == wanted:
        return dataset
    notes = tuple(
        note.replace(f" converted to {clock.unit} since", f" converted to {wanted} since")
        for note in dataset.notes
    )
    moved = _moved(dataset, SECONDS[known] / SECONDS[wanted], 0.0)
    return replace(moved, clock=replace(clock, unit=wanted), notes=notes)


def on_clock(dataset: Dataset, clock: Clock, name: str) -> Dataset:
    """The data with times that count as those of another clock do; `name` is for messages."""
    own = dataset.clock
    if bool(own.origin) != bool(clock.origin):
        have, need = ("dates", "numbers") if own.origin else ("numbers", "dates")
        raise DataError(f"the times of {name} are {have}, those before are {need}; give the same kind")
    length, unit = SECONDS.get(unit_name(own.unit)), SECONDS.get(unit_name(clock.unit))
    if length is None or unit is None:
        if unit_name(own.unit) != unit_name(clock.unit):
            raise DataError(
                f"the times of {name} are in {own.unit or 'an unknown unit'}, those before in "
                f"{clock.unit or 'an unknown unit'}; give the same unit"
            )
        return replace(dataset, clock=clock)
    later = 0.0
    if own.origin:
        import pandas as pd

        later = (pd.Timestamp(own.origin) - pd.Timestamp(clock.origin)).total_seconds()
    return replace(_moved(dataset, length / unit, later / unit), clock=clock)


def in_units_of(dataset: Dataset, clock: Clock) -> Dataset:
    """The data as they count on another clock, where it is known what both count."""
    known = unit_name(dataset.clock.unit) and unit_name(clock.unit)
    alike = bool(dataset.clock.origin) == bool(clock.origin)
    return on_clock(dataset, clock, "the data") if known and alike else dataset


def dates(clock: Clock, times: ArrayLike) -> pd.DatetimeIndex:
    """The dates that times on this clock stand for."""
    import pandas as pd

    unit = SECONDS.get(unit_name(clock.unit))
    if not clock.origin or unit is None:
        raise DataError("the times of these data are numbers, not dates")
    seconds = numbers(times, "times") * unit
    if seconds.ndim != 1:
        raise DataError(f"the times have shape {seconds.shape}; give a list of numbers")
    far = DataError("a time is missing, or too far away to have a date; give times nearer to the data's")
    if not (np.abs(seconds) < FARTHEST).all():  # NaN is not
        raise far
    with_parts = pd.to_timedelta(np.round(seconds * 1e3).astype("int64"), unit="ms")
    try:
        return pd.DatetimeIndex(pd.Timestamp(clock.origin) + with_parts)
    except (OverflowError, ValueError):  # pandas has no such years
        raise far from None


def _moved(dataset: Dataset, factor: float, later: float) -> Dataset:
    """Times multiplied by a factor, and then some more."""
    if (factor, later) == (1.0, 0.0):
        return dataset
    return replace(
        dataset,
        times=tuple(factor * times + later for times in dataset.times),
        signals=tuple(one._replace(knots=factor * one.knots + later) for one in dataset.signals),
        doses=tuple(
            tuple(dose._replace(time=factor * dose.time + later) for dose in doses) for doses in dataset.doses
        ),
    )
