"""The columns of tables: which one is the time, which are values, and their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.data.advice import LEAVE_OUT, MIN_POINTS
from odefinder.data.cells import number_of
from odefinder.data.clock import read_times
from odefinder.data.names import check_name, did_you_mean, names_a_row_number, read_time_title, split_unit
from odefinder.errors import DataError, SettingsError

Floats = NDArray[np.float64]
_DATE_PARTS = ("year", "month", "day", "hour", "minute", "second")
Table = tuple[Any, str, pd.DataFrame, list[str]]  # times, their title, the other columns, notes


def plain_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with columns of one level, all different."""
    if isinstance(frame.columns, pd.MultiIndex):
        frame = frame.set_axis([" ".join(map(str, levels)).strip() for levels in frame.columns], axis=1)
    if any(map(callable, frame.columns)):  # a table would call such a name
        frame = frame.set_axis([str(name) if callable(name) else name for name in frame.columns], axis=1)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(f"two columns are called {twice[0]!r}; give each column its own name")
    if len(frame) == 0:
        raise DataError("the table has no rows; give at least four points")
    if frame.shape[1] == 0:
        raise DataError("the table has no columns; give one with the times and one for every variable")
    return frame


def split_time(
    frame: pd.DataFrame,
    time: Hashable | None,
    variables: Sequence[Hashable] | None,
    labels: pd.Series | None = None,
    guess_first_column: bool = False,
) -> Table:
    """The times, and the columns of the variables."""
    notes: list[str] = []
    if time is not None:
        times = find_column(frame, time, "time")
        title, rest = str(time), frame.drop(columns=[times.name], errors="ignore")
    else:
        times, title, rest = _found_time(frame, variables, labels, guess_first_column, notes)
    values, more = _value_columns(rest, variables)
    return times, title, values, notes + more


def _value_columns(
    frame: pd.DataFrame, variables: Sequence[Hashable] | None
) -> tuple[pd.DataFrame, list[str]]:
    """The columns asked for, or all except further times and row numbers; with notes."""
    if variables is not None:
        if not variables:
            raise SettingsError("variables is a list of names of columns; name at least one, or leave it out")
        wanted = {name: find_column(frame, name, "variables").array for name in variables}
        if len(wanted) < len(variables):
            raise SettingsError("a column is named twice among the variables; name each once")
        return pd.DataFrame(wanted), []
    notes = []
    for name in frame.columns:
        like_time = read_time_title(str(name))[0] is not None
        if like_time or (names_a_row_number(str(name)) and _counts_rows(frame[name])):
            what = "looks like a time" if like_time else "only numbers the rows"
            notes.append(f"The column {name!r} {what} and was left out; name it in variables to use it.")
            frame = frame.drop(columns=[name])
    if frame.shape[1] == 0:
        raise DataError("there is no column of values besides the time; give at least one")
    return frame, notes


def state_columns(frame: pd.DataFrame) -> Floats:
    """The columns as numbers, (n, D)."""
    return np.column_stack([column_numbers(frame[name], str(name)) for name in frame.columns])


def column_numbers(column: pd.Series, title: str) -> Floats:
    """One column as numbers; missing entries are NaN."""
    kinds, problem = pd.api.types, ""
    if kinds.is_complex_dtype(column.dtype):
        problem = "has complex numbers; give real and imaginary parts as two columns"
    elif kinds.is_datetime64_any_dtype(column.dtype) or isinstance(column.dtype, pd.PeriodDtype):
        problem = f"has dates; if it is the time, say time={title!r} (command line: --time)"
    elif kinds.is_timedelta64_dtype(column.dtype):
        problem = "has durations; convert it to numbers, or " + LEAVE_OUT
    if problem:
        raise DataError(f"the column {title!r} {problem}")
    try:
        if kinds.is_numeric_dtype(column.dtype) or kinds.is_bool_dtype(column.dtype):
            return column.to_numpy(np.float64, na_value=np.nan)
        values = pd.to_numeric(column.astype(object), errors="coerce")
        numbers = values.to_numpy(np.float64, copy=True, na_value=np.nan)  # pandas' own may be read-only
        for row in np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy()).tolist():
            if not isinstance(text := column.iloc[row], str) or (found := number_of(text)) is None:
                break  # which is an error
            numbers[row] = found
    except Exception:  # an entry's own methods may raise anything
        raise DataError(f"the column {title!r} has entries that are not numbers; {LEAVE_OUT}") from None
    bad = np.isnan(numbers) & column.notna().to_numpy()
    if bad.any():
        value, row = column.iloc[int(np.argmax(bad))], int(np.argmax(bad)) + 1
        kind = "text" if isinstance(value, str) else f"a value that is not a number ({type(value).__name__})"
        few = bad.sum() < 0.5 * column.notna().sum()
        advice = "correct it, or leave the cell empty if the value is not known" if few else LEAVE_OUT
        if not few and len(set(map(repr, column))) <= len(column) / MIN_POINTS:
            advice += (
                f"; if it tells trajectories apart, say trajectory={title!r} (command line: --trajectory)"
            )
        raise DataError(f"the column {title!r} has {kind}, {str(value)[:40]!r} in row {row}; {advice}")
    return numbers


# ---------------------------------------------------------------------------------------- finding columns


def find_column(frame: pd.DataFrame, name: Hashable, option: str) -> pd.Series:
    check_name(name, option)
    if name in frame.columns:
        return frame[name]
    if name == frame.index.name and name is not None:
        return frame.index.to_series()
    by_text = {split_unit(str(column))[0]: column for column in frame.columns}  # c for c (mM), too
    by_text |= {str(column): column for column in frame.columns}
    if str(name) in by_text:
        return frame[by_text[str(name)]]
    raise SettingsError(
        f"there is no column {name!r} for {option}{did_you_mean(str(name), frame.columns)}; the columns are "
        f"{_listed(frame)}"
    )


def _found_time(
    frame: pd.DataFrame,
    variables: Sequence[Hashable] | None,
    labels: pd.Series | None,
    guess_first_column: bool,
    notes: list[str],
) -> tuple[pd.Series, str, pd.DataFrame]:
    dates = _dates_of_parts(frame, variables)
    if dates is not None:
        times, used = dates
        notes.append(f"The columns {', '.join(used)} together are the time.")
        return times, "date", frame.drop(columns=used)
    ranked = []
    for place, name in enumerate(frame.columns):
        rank = read_time_title(str(name))[0]
        if rank is not None and name not in (variables or ()):
            ranked.append((rank, place, name))
    if ranked:
        name = min(ranked)[2]
        return frame[name], str(name), frame.drop(columns=[name])
    index = frame.index
    if _is_time_index(index):
        return index.to_series(), str("t" if index.name is None else index.name), frame
    first = next((name for name in frame.columns if name not in (variables or ())), None)
    if guess_first_column and first is not None and _increases(frame[first], labels):
        notes.append(f"The first column, {first!r}, is taken as the time.")
        return frame[first], str(first), frame.drop(columns=[first])
    raise DataError(
        f"no column looks like the time; the columns are {_listed(frame)}. Say which one it is: time='NAME' "
        "(command line: --time NAME), or in Python give the times as the second argument"
    )


def _dates_of_parts(
    frame: pd.DataFrame, variables: Sequence[Hashable] | None
) -> tuple[pd.Series, list[str]] | None:
    """Dates that are spread over columns year, month, day, ..., and these columns."""
    columns = {name.strip().lower(): name for name in frame.columns if isinstance(name, str)}
    parts = {part: columns[part] for part in _DATE_PARTS if part in columns}
    if not {"year", "month"} <= parts.keys() or set(parts.values()) & set(variables or ()):
        return None
    numbers = {part: frame[name] for part, name in parts.items()}
    try:
        return pd.to_datetime(pd.DataFrame({"day": 1, **numbers})), list(parts.values())
    except (TypeError, ValueError) as error:
        raise DataError(f"the columns {', '.join(parts.values())} are not dates: {error}") from None


def _is_time_index(index: pd.Index) -> bool:
    """Whether it holds dates, numbers named like a time, or increasing numbers other than 0, 1, 2, ..."""
    if isinstance(index, (pd.DatetimeIndex, pd.PeriodIndex, pd.TimedeltaIndex)):
        return True
    if index.nlevels > 1:
        return False
    if index.name is not None and read_time_title(str(index.name))[0] is not None:
        return True
    return pd.api.types.is_float_dtype(index.dtype) and index.is_monotonic_increasing


def has_times(frame: pd.DataFrame) -> bool:
    """Whether a column is named like a time, or the index is one."""
    named = any(read_time_title(str(name))[0] is not None for name in frame.columns)
    return named or _is_time_index(frame.index)


def _increases(column: pd.Series, labels: pd.Series | None) -> bool:
    """Whether the column increases, within every trajectory."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        try:
            numbers = pd.Series(read_times(column, str(column.name))[0], column.index)
        except DataError:
            return False
    else:
        numbers = column
    groups = [numbers] if labels is None else [part for _, part in _groups(numbers, labels)]
    return all(part.is_monotonic_increasing and part.is_unique for part in groups)


def _groups(column: pd.Series, labels: pd.Series) -> Iterator[tuple[Any, pd.Series]]:
    return iter(column.groupby(labels.to_numpy(), sort=False))


def _counts_rows(column: pd.Series) -> bool:
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.isna().any():
        return False
    values = column.to_numpy(np.float64)
    return bool(np.isfinite(values[0])) and np.array_equal(values, values[0] + np.arange(len(values)))


def _listed(frame: pd.DataFrame) -> str:
    shown = [repr(str(name)) for name in frame.columns[:12]]
    return ", ".join(shown) + (", ..." if frame.shape[1] > 12 else "")
