"""Raw trajectories -> a Dataset: harmless problems are corrected and noted, the rest are errors."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.advice import LARGEST, LEAVE_OUT, MIN_POINTS, SEPARATE, SMALLEST, check_size
from odefinder.data.clock import read_times
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.gather import Gathered, gather
from odefinder.data.known import read_errors
from odefinder.data.names import variable_names
from odefinder.data.raw import RawTrajectory
from odefinder.data.replicates import average_replicates
from odefinder.data.roles import TIME_NAME
from odefinder.errors import DataError
from odefinder.limits.sizes import MAX_DIMENSION

CLOSEST = 1e-12  # the shortest step, relative to the duration, that arithmetic can tell from zero


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
    row_times = [all_times[first:last] for first, last in pairwise(bounds)]
    known = gather(raw, row_times, clock)
    names, name_notes = _names(titles, known)
    n_states, n_inputs = len(titles), len(known.inputs)
    shown = tuple(
        name if isinstance(title, int) else str(title).strip() or name
        for title, name in zip(titles, names[:n_states], strict=True)
    )
    done = [*notes, *time_notes, *name_notes, *known.notes]
    checked = []
    for one, its_times in zip(raw, row_times, strict=True):
        points, more = _checked(its_times, one, titles, shown)
        checked.append(points)
        done += more
    times, states = tuple(one.times for one in checked), tuple(one.states for one in checked)
    _check_sizes(times, states, names[:n_states])
    done += _remarks(states, names[:n_states])
    return Dataset(
        times,
        states,
        names[:n_states],
        shown,
        tuple(one.label for one in raw) if all(one.label for one in raw) else (),
        clock,
        tuple(done),
        inputs=names[n_states : n_states + n_inputs],
        signals=known.signals,
        conditions=names[n_states + n_inputs :],
        settings=known.settings,
        doses=known.doses,
        errors=_errors(checked),
    )


def _names(titles: Sequence[Hashable], known: Gathered) -> tuple[tuple[str, ...], list[str]]:
    """Names for equations of all columns, which must be different."""
    roles = dict.fromkeys(map(str, titles), "a variable")
    for role, names in (("an input", known.inputs), ("a condition", known.conditions)):
        for name in names:
            if name in roles:
                raise DataError(
                    f"{name!r} is both {roles[name]} and {role}; give it one role: leave it out of one of "
                    "them, or rename it (inputs={'NAME': ...})"
                )
            if name == TIME_NAME:
                raise DataError("t is the time itself; for equations in which it occurs, use explicit_time")
            roles[name] = role
    return variable_names([*titles, *known.inputs, *known.conditions])


def _errors(checked: Sequence[_Points]) -> tuple[Floats, ...]:
    """The errors of all trajectories, if any are known."""
    if all(one.errors is None for one in checked):
        return ()
    errors = tuple(np.full_like(one.states, np.nan) if one.errors is None else one.errors for one in checked)
    return errors if any(np.isfinite(one).any() for one in errors) else ()


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


class _Points(NamedTuple):
    """The rows of one trajectory."""

    times: Floats  # (n,)
    states: Floats  # (n, D)
    errors: Floats | None  # (n, D)
    rows: NDArray[np.int64]  # counted from 1

    def take(self, which: Any) -> _Points:
        """Some of the rows, or all in another order."""
        errors = None if self.errors is None else self.errors[which]
        return _Points(self.times[which], self.states[which], errors, self.rows[which])


def _checked(
    times: Floats, raw: RawTrajectory, titles: Sequence[Hashable], shown: Sequence[str]
) -> tuple[_Points, list[str]]:
    """Times and states without empty rows, in order."""
    states, rows, notes = raw.states, raw.rows, []
    if np.isinf(states).any():
        row, column = np.argwhere(np.isinf(states))[0]
        raise DataError(
            f"the value in row {rows[row]}, column {shown[column]!r}{raw.of} is infinite; correct it, or "
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
    names = [name if isinstance(title, int) else title for title, name in zip(titles, shown, strict=True)]
    errors = read_errors(raw.extras.errors, raw.columns, names, len(states), raw.of)
    points = _Points(times, states, errors, rows)
    points = points.take(~empty) if empty.any() else points
    dosed = np.zeros_like(empty) if raw.dosing is None else raw.dosing.amounts > 0.0  # these need no value
    if (idle := empty & ~dosed).any():
        which = f"Row {rows[idle][0]}" if idle.sum() == 1 else f"{idle.sum()} rows"
        notes.append(f"{which}{raw.of} without any value: left out.")
    if len(points.times) < MIN_POINTS:
        others = ", or leave this trajectory out" if raw.label else ""
        raise DataError(
            f"{_counted(len(points.times), 'point')}{raw.of}: too few to find an equation; give at least "
            f"{MIN_POINTS}{others}"
        )
    points, more = _in_order(points, raw.of)
    if len(points.times) < MIN_POINTS:
        raise DataError(f"only {len(points.times)} different points{raw.of}; give at least {MIN_POINTS}")
    for column, title in zip(points.states.T, shown, strict=True):
        if np.isnan(column).all():
            raise DataError(f"the column {title!r} has no values{raw.of}; fill it in, or {LEAVE_OUT}")
    return points, notes + more


def _in_order(points: _Points, of: str) -> tuple[_Points, list[str]]:
    """Sorted by time; repeated rows are kept once, different ones at one time are averaged."""
    times = points.times
    if (np.diff(times) > 0.0).all():
        return points, []
    again = _where_times_start_over(times)
    if len(again):
        raise DataError(
            f"the times start over in row {points.rows[again[0]]}{of}: these look like {len(again) + 1} "
            f"trajectories one after the other; {SEPARATE}.  If they are replicates of one trajectory, sort "
            "the rows by time"
        )
    notes = []
    if (np.diff(times) < 0.0).any():
        points = points.take(np.argsort(times, kind="stable"))
        notes.append(f"The rows{of} were sorted by time.")
    times, states = points.times, points.states
    same_time = np.diff(times) == 0.0
    same_row = same_time & ((states[1:] == states[:-1]) | np.isnan(states[1:]) & np.isnan(states[:-1])).all(1)
    if (same_time & ~same_row).any():
        mean = average_replicates(times, states, points.errors)
        place = int(np.argmax(same_time & ~same_row))
        several = len(np.unique(times[1:][same_time]))
        notes.append(
            f"{several} of {len(mean.times)} times{of} occur more than once, with different values (first in "
            f"rows {points.rows[place]} and {points.rows[place + 1]}): these are taken as replicates and "
            f"averaged; their spread tells the noise. If they are different trajectories, {SEPARATE}."
        )
        return _Points(*mean, np.arange(1, len(mean.times) + 1)), notes
    if same_row.any():
        points = points.take(np.concatenate([[True], ~same_row]))
        notes.append(f"{_counted(int(same_row.sum()), 'repeated row')}{of} left out.")
    return points, notes


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
    for name, columns in zip(names, _columns(states), strict=True):
        count = sum(int(np.isfinite(one).sum()) for one in columns)
        if count < MIN_POINTS:
            raise DataError(
                f"the column {name!r} has only {_counted(count, 'value')}; give at least {MIN_POINTS}, "
                f"or {LEAVE_OUT}"
            )
        check_size(name, abs(_farthest(columns)))


def _columns(states: Sequence[Floats]) -> Iterator[list[Floats]]:
    """Each variable in all trajectories; joining these would be a second copy of the data."""
    return ([one[:, j] for one in states] for j in range(states[0].shape[1]))


def _farthest(columns: Sequence[Floats]) -> float:
    """The value that is farthest from 0."""
    return max((float(end(one)) for one in columns for end in (np.nanmax, np.nanmin)), key=abs)


def _remarks(states: Sequence[Floats], names: Sequence[str]) -> list[str]:
    """What the user should know about data that passed all checks."""
    notes = []
    if missing := sum(int(np.isnan(one).sum()) for one in states):
        total = sum(one.size for one in states)
        notes.append(f"{missing} of {total} values are missing; the others are used.")
    for name, columns in zip(names, _columns(states), strict=True):
        if any(np.isnan(one[0]) for one in columns):
            notes.append(f"The first value of {name} is missing: it will be estimated.")
        if all(np.nanmin(one) == np.nanmax(one) for one in columns):
            notes.append(_never_changes(name, len({float(np.nanmin(one)) for one in columns}) > 1))
        if code := _code_for_missing(columns):
            count = sum(int((one == code).sum()) for one in columns)
            notes.append(
                f"{name} is {code:g} at {count} points: if that stands for a missing value, leave the cells "
                "empty."
            )
    if len(names) > MAX_DIMENSION:
        notes.append(
            f"There are {len(names)} variables; the network knows up to {MAX_DIMENSION} and is "
            "skipped; the other methods are used."
        )
    return notes


def _never_changes(name: str, differs: bool) -> str:
    if not differs:
        return f"{name} never changes: {name}' = 0."
    return (
        f"{name} never changes within a trajectory: {name}' = 0. If it is a condition of the experiments, "
        f"conditions=[{name!r}] (command line: --condition {name}) leaves it out of the equations."
    )


def _code_for_missing(columns: Sequence[Floats]) -> float | None:
    """A value such as -999 that occurs several times, far from all others."""
    farthest = _farthest(columns)
    if not re.fullmatch(r"-?9{2,}([.]9+)?", f"{farthest:g}"):
        return None
    known = np.concatenate([one[~np.isnan(one)] for one in columns])
    others = np.abs(known[known != farthest])
    if len(known) - len(others) > 1 and len(others) and 5.0 * others.max() < abs(farthest):
        return farthest
    return None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
