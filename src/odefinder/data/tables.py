"""Tables (pandas DataFrames) -> a Dataset: which column is the time, and which tells trajectories apart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.data.advice import MIN_POINTS
from odefinder.data.columns import column_numbers, find_column, plain_columns, split_time, state_columns
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.dosing import AMOUNT, Dosing, dosing_columns, read_dosing
from odefinder.data.known import NOTHING_ELSE, Extras, error_column, may_hold_errors, pick
from odefinder.data.long_tables import pivoted
from odefinder.data.names import check_name, chosen_names, names_a_trajectory, read_time_title, split_unit
from odefinder.data.raw import RawTrajectory
from odefinder.data.unit_rows import without_unit_row
from odefinder.data.validation import assemble
from odefinder.errors import DataError, SettingsError


def from_frame(
    frame: pd.DataFrame,
    time: Hashable | None = None,
    trajectory: Hashable | None = None,
    variables: Sequence[Hashable] | None = None,
    guess_first_column: bool = False,
    extras: Extras = NOTHING_ELSE,
) -> Dataset:
    """The data of a table: one row per point, one column per variable.

    Without `time`, the time is the column (or the index) that is named like one; if there is none, with
    `guess_first_column`, it is the first column if that increases.  `extras` are inputs, conditions and
    errors.
    """
    frame, notes = without_unit_row(plain_columns(frame))
    variables = chosen_names(variables)
    check_name(time, "time")
    check_name(trajectory, "trajectory")
    taken = {str(name) for name in (time, trajectory, *(variables or ()))} | extras.columns()
    frame, more = pivoted(frame, taken)
    notes += more
    label_column, more = _trajectory_column(frame, trajectory, taken)
    notes += more
    labels = None if label_column is None else frame[label_column]
    if labels is not None and str(label_column) not in extras.columns():  # it may be a condition, too
        frame = frame.drop(columns=[label_column])
    frame, known = take_extras(frame, variables, extras)
    times, title, rest, more = split_time(frame, time, variables, labels, guess_first_column)
    notes += more + known.notes
    states = state_columns(rest)
    if labels is None:
        everything = np.arange(len(states))
        only = known.trajectory(times, states, everything, known.extras.spread([everything])[0])
        return assemble([only], list(rest.columns), title, notes)
    if labels.isna().any():
        row = int(np.argmax(labels.isna())) + 1
        raise DataError(
            f"row {row} belongs to no trajectory: its {label_column!r} is empty; fill it in or remove the row"
        )
    if not _is_hashable(labels):
        raise DataError(
            f"the column {label_column!r} has lists or similar, which cannot tell trajectories apart"
        )
    codes, values = pd.factorize(labels)
    where = [np.flatnonzero(codes == code) for code in range(len(values))]
    times = pd.Series(times).reset_index(drop=True)
    names = [_label(value) for value in values]
    spread = known.extras.spread(where, names, label_column)
    raw = [
        known.trajectory(times[rows], states[rows], rows, one, name if len(values) > 1 else "")
        for rows, name, one in zip(where, names, spread, strict=True)
    ]
    return assemble(raw, list(rest.columns), title, notes)


@dataclass(frozen=True)
class TakenExtras:
    """What a table has besides times and values."""

    extras: Extras
    columns: dict[str, Floats]
    dosing: Dosing | None
    notes: list[str]

    def trajectory(
        self, times: Any, states: Floats, rows: NDArray[np.int64], extras: Extras, label: str = ""
    ) -> RawTrajectory:
        """A trajectory that is in these rows of the table, counted from 0."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        dosing = None if self.dosing is None else self.dosing.rows(rows)
        return RawTrajectory(times, states, label, rows + 1, extras, columns, dosing)


def take_extras(
    frame: pd.DataFrame, variables: Sequence[Hashable] | None, extras: Extras
) -> tuple[pd.DataFrame, TakenExtras]:
    """The table without the columns of inputs, conditions and errors, and these columns."""
    titles = [str(name) for name in frame.columns]
    without_unit = {split_unit(title)[0]: name for title, name in zip(titles, frame.columns, strict=True)}
    by_text = {**without_unit, **dict(zip(titles, frame.columns, strict=True))}  # u for u (V), too
    chosen = {str(name) for name in variables or ()}
    dosing, left_out = None, list[Hashable]()
    for name in sorted(extras.columns()):
        pick(by_text, name, "inputs, conditions or errors")
        if str(by_text[name]) in chosen:
            raise SettingsError(
                f"the column {name!r} is named as a variable and as an input, condition or error; name "
                "it once"
            )
    doses = {name for name in extras.columns() if name.strip().lower() == AMOUNT}
    if doses:
        dosing = read_dosing(frame)
        left_out = [name for name in dosing_columns(frame).values() if str(name) not in chosen]
        extras = extras.without_input(next(iter(doses)))
    taken = {str(by_text[name]) for name in extras.columns()}
    found = _error_columns([title for title in titles if title not in taken], chosen, extras)
    notes = [
        f"The column {column!r} is taken as the standard errors of {title}; name it in variables to use it "
        "as a variable."
        for title, column in found.items()
    ]
    extras = extras.with_errors(found)
    used = extras.columns()
    columns = {name: column_numbers(frame[by_text[name]], name) for name in used}
    rest = frame.drop(columns=list({by_text[name] for name in used}.union(left_out)))
    return rest, TakenExtras(extras, columns, dosing, notes)


def _error_columns(titles: Sequence[str], chosen: set[str], extras: Extras) -> dict[str, str]:
    """Columns that, by their names, have the errors of others, if the user did not say where they are."""
    if extras.errors is not None and not isinstance(extras.errors, Mapping):
        return {}
    variables = [title for title in titles if not chosen or title in chosen]
    others = [title for title in titles if title not in chosen and may_hold_errors(title)]
    found = {title: error_column(title, others) for title in variables if read_time_title(title)[0] is None}
    return {title: column for title, column in found.items() if column and title not in (extras.errors or {})}


def _trajectory_column(
    frame: pd.DataFrame, trajectory: Hashable | None, taken: set[str]
) -> tuple[Hashable | None, list[str]]:
    """The column that names the trajectories: the one asked for, or one with a suitable name."""
    if trajectory is not None:
        return find_column(frame, trajectory, "trajectory").name, []
    for name in frame.columns:
        if str(name) in taken or not names_a_trajectory(str(name)):
            continue
        column = frame[name]
        if not _is_hashable(column):
            continue
        changes = int((column.to_numpy()[1:] != column.to_numpy()[:-1]).sum())
        count = column.nunique()
        blocks = changes + 1 == count and column.value_counts().min() >= MIN_POINTS
        if blocks and not column.isna().any():
            several = f"{count} trajectories" if count > 1 else "one trajectory"
            return name, [f"The column {name!r} tells trajectories apart: {several}."]
    return None, []


def _is_hashable(column: pd.Series) -> bool:
    """Whether its entries can be told apart: lists and dictionaries cannot."""
    return column.dtype != object or all(isinstance(one, Hashable) for one in column)


def _label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
