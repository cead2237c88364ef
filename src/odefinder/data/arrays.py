"""What a notebook has (arrays, lists of trajectories, DataFrames) -> a Dataset."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.inputs import is_pandas
from odefinder.data.known import Extras
from odefinder.data.names import chosen_names, read_time_title
from odefinder.data.raw import RawTrajectory
from odefinder.data.validation import assemble
from odefinder.errors import DataError, SettingsError

if TYPE_CHECKING:  # imported only where there are tables: plain arrays do not need it
    import pandas as pd

SHAPES = "give X as (points, variables) and t as (points,)"
MOST_AXES = 64  # as in NumPy
SWAPPED = "X and t look swapped: the values come first, then the times, as in fit(X, t)"


def from_arrays(
    X: Any,
    t: Any = None,
    variables: Sequence[Hashable] | None = None,
    trajectory: Hashable | None = None,
    *,
    inputs: Any = None,
    conditions: Any = None,
    errors: Any = None,
) -> Dataset:
    """The data behind `fit(X, t)`.

    X is an array (n, D) or (n,), a DataFrame, a Series, a mapping name -> values, or a list of these, one per
    trajectory (also an array (trajectories, n, D)).  t is an array of numbers or dates, or a list of arrays;
    for DataFrames it may also be the name of a column, or be left out if a column or the index is named like
    a time.  NaN, None and masked entries are missing.  `variables` names the columns of arrays, and chooses
    those of DataFrames; `trajectory` is a column of a DataFrame that tells trajectories apart.

    `inputs` are known signals: columns by name, an array (n,) or (n, I) on the times of X, a table with its
    own times, a function u(t), or a mapping name -> one of these, a pair (times, values) or a number; `Hold`
    around values keeps each until the next.  `conditions` are constant within a trajectory: columns by name,
    or a mapping name -> value.  `errors` are standard errors: a mapping variable -> column, values or number,
    or an array like X.  For several trajectories all of them may be lists, one entry each.
    """
    extras = Extras(inputs, conditions, errors)
    if isinstance(X, (str, Path)):
        raise DataError(f"X is text, {str(X)[:60]!r}; to read a file use odefinder.data.read(path)")
    if X is None:
        raise DataError(f"X is missing; {SHAPES}")
    variables = chosen_names(variables)
    table = _as_frame(X)
    if table is not None:
        from odefinder.data.tables import from_frame

        frame, time = _with_times(table, t)
        return from_frame(frame, time, trajectory, variables, extras=extras)
    if trajectory is not None:
        raise SettingsError("trajectory names a column of a DataFrame; give trajectories of arrays as a list")
    several = _trajectories(X, t)
    if several is not None:
        return _from_several(*several, variables, extras)
    states, times = _array_pair(X, t)
    own = extras.spread([np.arange(len(states))])[0]
    return assemble([RawTrajectory(times, states, extras=own)], _titles(states, variables), _time_title(t))


def _from_several(
    tables: list[Any], times: list[Any], variables: Sequence[Hashable] | None, extras: Extras
) -> Dataset:
    """Several trajectories of one system."""
    ends = np.cumsum([0, *(_length(X) for X in tables)])
    spread = extras.spread([np.arange(first, last) for first, last in pairwise(ends)])
    raw: list[RawTrajectory] = []
    titles: list[Hashable] | None = None
    time_title, notes = "t", dict[str, None]()
    for number, (X, t, own) in enumerate(zip(tables, times, spread, strict=True), start=1):
        try:
            table = _as_frame(X)
            if table is None:
                states, seen = _array_pair(X, t)
                mine = _titles(states, variables)
                one = RawTrajectory(seen, states, str(number), extras=own)
            else:
                from odefinder.data.columns import plain_columns, split_time, state_columns
                from odefinder.data.tables import take_extras

                frame, time = _with_times(table, t)
                frame, known = take_extras(plain_columns(frame), variables, own)
                seen, time_title, rest, more = split_time(frame, time, variables)
                states, mine = state_columns(rest), list(rest.columns)
                notes.update(dict.fromkeys(more + known.notes))
                one = known.trajectory(seen, states, np.arange(len(states)), known.extras, str(number))
        except DataError as error:
            raise DataError(f"in trajectory {number}: {error}") from None
        if titles is not None and mine != titles:
            raise DataError(
                f"trajectory {number} has the variables {_listed(mine)}, trajectory 1 has {_listed(titles)}; "
                "all must have the same, in the same order"
            )
        titles = mine
        raw.append(one)
    return assemble(raw, titles or [], time_title, list(notes))


# ---------------------------------------------------------------------------------------- what was given


def _trajectories(X: Any, t: Any) -> tuple[list[Any], list[Any]] | None:
    """The trajectories and their times if X holds several; None if it holds one."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        X = list(X)
    elif not isinstance(X, (list, tuple)) or not X:
        return None
    elif not all(_dimensions(one) == 2 or _as_frame(one) is not None for one in X):
        # Runs of a single variable may be plain lists if each has its own times.
        own_times = isinstance(t, (list, tuple)) and len(t) > 0 and all(_dimensions(one) == 1 for one in t)
        if not own_times or not all(_dimensions(one) == 1 for one in X):
            return None
    if t is None or isinstance(t, str):
        return list(X), [t] * len(X)
    if _dimensions(t) == 1 and not (isinstance(t, (list, tuple)) and t and _dimensions(t[0]) == 1):
        return list(X), [t] * len(X)  # one clock for all
    if _dimensions(t) == 0:
        raise DataError("t is a single value; give the time of every point")
    if len(t) != len(X):
        raise DataError(
            f"there are {len(X)} trajectories and {len(t)} arrays of times; give one for each, or one for all"
        )
    return list(X), list(t)


def _dimensions(values: Any) -> int:
    """The number of axes, judging by first elements: rows may have different lengths."""
    axes = 0
    while isinstance(values, (list, tuple)) and not hasattr(values, "ndim"):
        axes += 1
        if axes > MOST_AXES or not values:  # a list may hold itself
            return axes
        values = values[0]
    own = getattr(values, "ndim", None)
    if isinstance(own, int):
        return axes + own
    return axes + isinstance(values, range)


def _length(X: Any) -> int:
    """The number of rows."""
    if isinstance(X, Mapping):
        X = next(iter(X.values()), ())
    return len(X) if hasattr(X, "__len__") else 0


def _as_frame(X: Any) -> pd.DataFrame | None:
    """X as a table if it has names."""
    if is_pandas(X, "DataFrame"):
        return X
    if is_pandas(X, "Series"):
        return X.to_frame("x" if X.name is None else X.name)
    if isinstance(X, Mapping):
        import pandas as pd

        try:
            return pd.DataFrame({name: np.asarray(_unmasked(values)) for name, values in X.items()})
        except Exception as error:  # an object that poses as an array may raise anything
            raise DataError(f"the columns do not fit together: {error}; give lists of equal length") from None
    return None


def _with_times(table: pd.DataFrame, t: Any) -> tuple[pd.DataFrame, Hashable | None]:
    """The table with the times as a column, and the name of that column if it is known."""
    import pandas as pd

    if t is None or isinstance(t, (str, int, float)):
        return table, t
    times, title = _times(t), _time_title(t)
    if times.ndim != 1:
        raise DataError(f"t has shape {times.shape}; give one time for every row of X")
    if len(times) != len(table):
        raise DataError(f"X has {len(table)} rows and t has {len(times)} times; give one time for every row")
    if isinstance(table.columns, pd.MultiIndex):
        from odefinder.data.columns import plain_columns

        table = plain_columns(table)
    if title in table.columns and read_time_title(title)[0] is None:
        title = next(name for name in ("t", "time", "time_given") if name not in table.columns)
    try:
        return table.assign(**{title: pd.Series(times).array}), title
    except (NotImplementedError, TypeError, ValueError) as error:  # such as an index of several levels
        raise DataError(f"t cannot be a column: {error}; give one number or date for every row") from None


def _array_pair(X: Any, t: Any) -> tuple[Floats, Any]:
    """States (n, D) and times (n,), or the error that says how they should look."""
    if t is None:
        raise DataError("the times are missing; give them as the second argument, fit(X, t)")
    times, rows = _times(t), _plain_array(X, "X")
    if rows.ndim == 1 and times.ndim == 2:
        raise DataError(f"X has shape {rows.shape} and t has shape {times.shape}: {SWAPPED}")
    if times.ndim != 1:
        raise DataError(f"t has shape {times.shape}; {SHAPES}")
    if rows.dtype.kind in "mM":
        raise DataError(SWAPPED if times.dtype.kind in "biuf" else "X has dates where values should be")
    states = _numbers(rows)
    if states.ndim == 1:
        states = states[:, None]
    if states.ndim != 2:
        raise DataError(f"X has shape {rows.shape}; {SHAPES}")
    if states.shape[1] == 0:
        raise DataError("X has no columns; give at least one variable")
    if len(states) != len(times):
        transposed = states.shape[1] == len(times)
        advice = (
            "transpose X: X.T (several runs of one variable are a list of arrays)" if transposed else SHAPES
        )
        raise DataError(f"X has {len(states)} rows and t has {len(times)} times; {advice}")
    _check_not_swapped(states, times, rows.ndim)
    return states, times


def _times(t: Any) -> Any:
    """The times as an array or Series, with one axis if the others have length 1."""
    if is_pandas(t, "Series") or is_pandas(t, "Index"):
        return t
    if is_pandas(t, "DataFrame"):
        t = t.iloc[:, 0] if t.shape[1] == 1 else t.to_numpy()
    if isinstance(t, str):
        raise DataError(
            f"t is the text {t[:40]!r}; column names work only with DataFrames; arrays need their times"
        )
    times = _plain_array(t, "t")
    if times.ndim == 0:
        raise DataError("t is a single value; give the time of every point, such as step * np.arange(len(X))")
    return times.ravel() if times.ndim == 2 and 1 in times.shape else times


def _time_title(t: Any) -> str:
    """The name of a Series or index of times."""
    name = getattr(t, "name", None)
    return "t" if name is None else str(name)


def _plain_array(values: Any, what: str) -> Any:
    values = _unmasked(values)
    if hasattr(values, "toarray"):
        raise DataError(f"{what} is a sparse matrix, which is not supported; give {what}.toarray()")
    try:
        array = np.asarray(values)
    except Exception:  # an object that poses as an array may raise anything
        raise DataError(f"{what} is not an array with rows of equal length; {SHAPES}") from None
    if array.dtype.names:
        raise DataError(f"{what} is a structured array; give pandas.DataFrame({what}), which keeps the names")
    return array


def _unmasked(values: Any) -> Any:
    """A masked array with NaN, NaT or None where the mask is; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.names:
        return values
    mask = np.ma.getmaskarray(values)
    if values.dtype.kind in "biuf":
        return np.where(mask, np.nan, values.data.astype(np.float64))
    if values.dtype.kind in "mM":
        return np.where(mask, np.array("NaT", values.dtype), values.data)
    if values.dtype.kind == "c":
        return values.data  # which is an error of its own
    plain = values.data.astype(object)
    plain[mask] = None
    return plain


def _numbers(rows: Any) -> Floats:
    """Real numbers; an error says what else was found."""
    if rows.dtype.kind in "biuf":
        return rows.astype(np.float64)
    if rows.dtype.kind == "c":
        raise DataError("X has complex numbers; give real and imaginary parts as two variables")
    if rows.ndim > 2:
        raise DataError(f"X has shape {rows.shape}; {SHAPES}")
    import pandas as pd

    from odefinder.data.columns import column_numbers

    columns = rows[:, None] if rows.ndim == 1 else rows
    if columns.ndim != 2 or columns.shape[1] == 0:
        raise DataError(f"X has shape {rows.shape}; {SHAPES}")
    return np.column_stack(
        [column_numbers(pd.Series(list(column), dtype=object), f"x{j}") for j, column in enumerate(columns.T)]
    )


def _check_not_swapped(states: Floats, times: Any, dimensions: int) -> None:
    """Raise if the times go up and down while values only increase."""
    if getattr(times, "dtype", np.dtype(object)).kind not in "biuf":
        return
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(np.asarray(times, dtype=np.float64))
        if not ((steps < 0).any() and (steps > 0).any()):
            return
        increasing = (np.diff(states, axis=0) > 0).all(axis=0)
    if not increasing.any():
        return
    if dimensions == 1:
        raise DataError(f"the times go up and down while X only increases: {SWAPPED} (if not, sort by time)")
    column = int(np.argmax(increasing))
    raise DataError(
        f"the times go up and down while column {column} of X only increases: is that column the time? "
        f"{SHAPES} (if all is right, sort the rows by time)"
    )


def _titles(states: Floats, variables: Sequence[Hashable] | None) -> list[Hashable]:
    """The names of an array's columns; numbers stand for x0, x1, ..."""
    if variables is None:
        return list(range(states.shape[1]))
    if len(variables) != states.shape[1]:
        raise DataError(
            f"there are {len(variables)} names for {states.shape[1]} variables; give one for each column of X"
        )
    if len(set(map(str, variables))) < len(variables):
        raise DataError(f"the names {_listed(variables)} are not all different; give every variable its own")
    return [str(name) for name in variables]


def _listed(names: Sequence[Hashable]) -> str:
    return ", ".join(str(name) for name in names[:12]) + (", ..." if len(names) > 12 else "")
