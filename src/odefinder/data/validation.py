"""Raw trajectories -> a Dataset: harmless problems are corrected and noted, the rest are errors."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.clock import read_times
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.names import variable_names
from odefinder.errors import DataError
from odefinder.limits.sizes import MAX_DIMENSION

MIN_POINTS = 4  # of a trajectory, and of a variable
LARGEST, SMALLEST = 1e100, 1e-100  # bounds of a variable's largest magnitude: its square must not overflow
CLOSEST = 1e-12  # the shortest step, relative to the duration, that arithmetic can tell from zero

LEAVE_OUT = "leave the column out by naming the others: variables=['NAME', ...] (command line: --variables)"
SEPARATE = (
    "give several trajectories as lists, [X1, X2] and [t1, t2], or name the column that tells them apart: "
    "trajectory='NAME' (command line: --trajectory NAME)"
)


@dataclass
class RawTrajectory:
    """One trajectory as it was given."""

    times: Any  # (n,): numbers, or dates, also as text
    states: Floats  # (n, D)
    label: str = ""
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # counted from 1

    def __post_init__(self) -> None:
        if len(self.rows) == 0:
            self.rows = np.arange(1, len(self.states) + 1)

    @property
    def of(self) -> str:
        """For messages: which trajectory, where there are several."""
        return f" of trajectory {self.label}" if self.label else ""


def assemble(
    raw: Sequence[RawTrajectory], titles: Sequence[Hashable], time_title: str, notes: Sequence[str] = ()
) -> Dataset:
    """The checked data; `titles` name the columns of the states."""
    if not raw:
        raise DataError("there are no trajectories; give at least one")
    if not titles:
        raise DataError("there is no variable besides the time; give at least one column of values")
    for one in raw:
        if len(one.times) != len(one.states):
            raise DataError(
                f"there are {len(one.times)} times for {len(one.states)} rows of values{one.of}; "
                "give one time for every row"
            )
    all_times, clock, time_notes = read_times(_joined([one.times for one in raw]), time_title)
    bounds = np.cumsum([0, *(len(one.states) for one in raw)])
    names, name_notes = variable_names(titles)
    shown = tuple(
        name if isinstance(title, int) else str(title).strip() or name
        for title, name in zip(titles, names, strict=True)
    )
    times, states, done = [], [], [*notes, *time_notes, *name_notes]
    for one, first, last in zip(raw, bounds[:-1], bounds[1:], strict=True):
        t, x, more = _checked(all_times[first:last], one, shown)
        times.append(t)
        states.append(x)
        done += more
    _check_sizes(times, states, names)
    done += _remarks(states, names)
    labels = tuple(one.label for one in raw) if all(one.label for one in raw) else ()
    return Dataset(tuple(times), tuple(states), names, shown, labels, clock, tuple(done))


def _joined(times: Sequence[Any]) -> Any:
    if len(times) == 1:
        return times[0]
    if all(isinstance(one, np.ndarray) and one.dtype.kind in "biuf" for one in times):
        return np.concatenate(times)
    import pandas as pd

    try:
        return pd.concat([pd.Series(one) for one in times], ignore_index=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"the times of the trajectories do not fit together: {error}") from None


# ---------------------------------------------------------------------------------------- one trajectory


def _checked(times: Floats, raw: RawTrajectory, titles: Sequence[str]) -> tuple[Floats, Floats, list[str]]:
    """Times and states without empty rows, in order."""
    states, rows, notes = raw.states, raw.rows, []
    if np.isinf(states).any():
        row, column = np.argwhere(np.isinf(states))[0]
        raise DataError(
            f"the value in row {rows[row]}, column {titles[column]!r}{raw.of} is infinite; correct it, or "
            "leave it empty (NaN) if it is not known"
        )
    if np.isinf(times).any():
        raise DataError(f"the time in row {rows[np.isinf(times)][0]}{raw.of} is infinite; remove the row")
    empty = np.isnan(states).all(axis=1)
    unknown = np.isnan(times) & ~empty
    if unknown.any():
        raise DataError(
            f"the time in row {rows[unknown][0]}{raw.of} is missing; fill it in, or remove the row"
        )
    if empty.any():
        which = f"Row {rows[empty][0]}" if empty.sum() == 1 else f"{empty.sum()} rows"
        notes.append(f"{which}{raw.of} without any value: left out.")
        times, states, rows = times[~empty], states[~empty], rows[~empty]
    if len(times) < MIN_POINTS:
        others = ", or leave this trajectory out" if raw.label else ""
        raise DataError(
            f"{_counted(len(times), 'point')}{raw.of}: too few to find an equation; give at least "
            f"{MIN_POINTS}{others}"
        )
    times, states, more = _in_order(times, states, rows, raw.of)
    if len(times) < MIN_POINTS:
        raise DataError(f"only {len(times)} different points{raw.of}; give at least {MIN_POINTS}")
    for column, title in zip(states.T, titles, strict=True):
        if np.isnan(column).all():
            raise DataError(f"the column {title!r} has no values{raw.of}; fill it in, or {LEAVE_OUT}")
    return times, states, notes + more


def _in_order(
    times: Floats, states: Floats, rows: NDArray[np.int64], of: str
) -> tuple[Floats, Floats, list[str]]:
    """Sorted by time; repeated rows are kept once."""
    if (np.diff(times) > 0.0).all():
        return times, states, []
    again = _where_times_start_over(times)
    if len(again):
        raise DataError(
            f"the times start over in row {rows[again[0]]}{of}: these look like {len(again) + 1} "
            f"trajectories one after the other; {SEPARATE}"
        )
    notes = []
    if (np.diff(times) < 0.0).any():
        order = np.argsort(times, kind="stable")
        times, states, rows = times[order], states[order], rows[order]
        notes.append(f"The rows{of} were sorted by time.")
    same_time = np.diff(times) == 0.0
    same_row = same_time & ((states[1:] == states[:-1]) | np.isnan(states[1:]) & np.isnan(states[:-1])).all(1)
    if (same_time & ~same_row).any():
        place = int(np.argmax(same_time & ~same_row))
        raise DataError(
            f"the time {times[place]:.10g} occurs more than once{of}, with different values (rows "
            f"{rows[place]} and {rows[place + 1]}). If these are repeated measurements, average them "
            f"(pandas: frame.groupby(time).mean()); otherwise {SEPARATE}"
        )
    if same_row.any():
        keep = np.concatenate([[True], ~same_row])
        times, states = times[keep], states[keep]
        notes.append(f"{_counted(int(same_row.sum()), 'repeated row')}{of} left out.")
    return times, states, notes


def _where_times_start_over(times: Floats) -> NDArray[np.int64]:
    """Where each further trajectory begins if the times look like several trajectories in a row."""
    breaks = np.flatnonzero(np.diff(times) <= 0.0) + 1
    blocks = sorted(np.split(times, breaks), key=lambda block: float(block[0]))
    long_enough = all(len(block) >= MIN_POINTS for block in blocks)
    overlap = any(later[0] < earlier[-1] for earlier, later in pairwise(blocks))
    return breaks if long_enough and overlap else breaks[:0]


# ---------------------------------------------------------------------------------------- all trajectories


def _check_sizes(times: Sequence[Floats], states: Sequence[Floats], names: Sequence[str]) -> None:
    """Raise where numbers are too large, too small or too few for arithmetic."""
    with np.errstate(over="ignore"):
        duration = max(float(t[-1] - t[0]) for t in times)
        step = min(float(np.diff(t).min()) for t in times)
    if not SMALLEST < duration < LARGEST:
        size = "large" if duration > 1.0 else "small"
        raise DataError(
            f"the times span {duration:.3g}, which is too {size} to compute with; give them in another unit"
        )
    if step < CLOSEST * duration:
        raise DataError(
            f"two times are only {step:.3g} apart while all span {duration:.3g}: too close to tell apart; "
            "remove one of them, or average their values"
        )
    for name, column in zip(names, np.concatenate(states).T, strict=True):
        known = np.abs(column[~np.isnan(column)])
        if len(known) < MIN_POINTS:
            raise DataError(
                f"the column {name!r} has only {_counted(len(known), 'value')}; give at least {MIN_POINTS}, "
                f"or {LEAVE_OUT}"
            )
        if known.max() > LARGEST or 0.0 < known.max() < SMALLEST:
            size = "large" if known.max() > 1.0 else "small"
            raise DataError(
                f"the values of {name!r} reach {known.max():.3g}, which is too {size} to compute with; give "
                "them in another unit, so that they are near 1"
            )


def _remarks(states: Sequence[Floats], names: Sequence[str]) -> list[str]:
    """What the user should know about data that passed all checks."""
    values, notes = np.concatenate(states), []
    missing = np.isnan(values)
    if missing.any():
        notes.append(f"{missing.sum()} of {missing.size} values are missing; the others are used.")
    for j, name in enumerate(names):
        if any(np.isnan(x[0, j]) for x in states):
            notes.append(f"The first value of {name} is missing: it will be estimated.")
        if all(np.nanmin(x[:, j]) == np.nanmax(x[:, j]) for x in states):
            notes.append(f"{name} never changes: expect {name}' = 0.")
        if code := _code_for_missing(values[:, j]):
            notes.append(
                f"{name} is {code:g} at {int((values[:, j] == code).sum())} points: if that stands for a "
                "missing value, leave the cells empty."
            )
    if len(names) > MAX_DIMENSION:
        notes.append(
            f"There are {len(names)} variables; the network knows up to {MAX_DIMENSION} and is "
            "skipped; the other methods are used."
        )
    return notes


def _code_for_missing(column: Floats) -> float | None:
    """A value such as -999 that occurs several times, far from all others."""
    known = column[~np.isnan(column)]
    farthest = known[np.argmax(np.abs(known))]
    others = np.abs(known[known != farthest])
    looks_like_it = bool(re.fullmatch(r"-?9{2,}([.]9+)?", f"{farthest:g}"))
    if looks_like_it and len(known) - len(others) > 1 and len(others) and 5.0 * others.max() < abs(farthest):
        return float(farthest)
    return None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
