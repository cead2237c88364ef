"""What is known besides the observed values: inputs, conditions and errors, for each trajectory.

Readers spread what the user gave over the trajectories (`spread`), take out the columns that it names, and
read the rest with `read_inputs`, `read_conditions` and `read_errors`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.inputs import Hold, Names, as_array, axes, is_pandas, sources
from odefinder.data.names import did_you_mean, not_one_of, split_unit
from odefinder.edge.arrays import numbers
from odefinder.errors import DataError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_ERROR_ENDINGS = ("sd", "std", "se", "sem", "err", "error", "stderr", "sigma")


@dataclass(frozen=True)
class Extras:
    """What the user gave in addition to the values."""

    inputs: Any = None
    conditions: Any = None
    errors: Any = None

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.inputs, self.conditions, self.errors))

    def spread(
        self, parts: Sequence[Rows], labels: Sequence[str] = (), column: Hashable = None
    ) -> list[Extras]:
        """For each trajectory, what is its own; `parts` are its rows among all."""
        each = zip(
            *(spread(one, parts, labels, column) for one in (self.inputs, self.conditions, self.errors)),
            strict=True,
        )
        return [Extras(*one) for one in each]

    def columns(self) -> set[str]:
        """The columns of a table that it names."""
        return {name for one in (self.inputs, self.conditions, self.errors) for name in _named(one)}

    def with_errors(self, columns: Mapping[str, str]) -> Extras:
        """With the errors of further variables: variable -> column."""
        return replace(self, errors={**columns, **(self.errors or {})}) if columns else self

    def without_input(self, name: str) -> Extras:
        """Without the input that is this column."""
        inputs = self.inputs
        if isinstance(inputs, Mapping):
            inputs = {key: one for key, one in inputs.items() if not isinstance(one, str) or one != name}
        else:
            listed = [inputs] if isinstance(inputs, str) else inputs
            inputs = [one for one in listed if not isinstance(one, str) or one != name]
        return replace(self, inputs=inputs or None)


NOTHING_ELSE = Extras()


def _named(given: Any) -> set[str]:
    """The columns that are named."""
    if isinstance(given, str):
        return {given}
    if isinstance(given, Hold):
        return _named(given.values)
    if isinstance(given, Mapping):
        return {name for one in given.values() if isinstance(one, (str, Hold)) for name in _named(one)}
    if isinstance(given, (list, tuple)) and all(isinstance(one, (str, Hold)) for one in given):
        names = [_named(one) for one in given]
        return set().union(*names) if all(names) else set()
    return set()


def spread(
    given: Any, parts: Sequence[Rows], labels: Sequence[str] = (), column: Hashable = None
) -> list[Any]:
    """What was given, for each trajectory: an entry of a list, its rows of an array or table, or all."""
    count, total = len(parts), sum(map(len, parts))
    if given is None or isinstance(given, (str, Real)) or callable(given):
        return [given] * count
    if isinstance(given, Hold):
        return [Hold(one) for one in spread(given.values, parts, labels, column)]
    if isinstance(given, Mapping):
        each = {name: spread(one, parts, labels, column) for name, one in given.items()}
        return [{name: ones[number] for name, ones in each.items()} for number in range(count)]
    if is_pandas(given, "DataFrame") and column is not None and column in given.columns:
        return _by_label(given, labels, column)
    own_times = isinstance(given, tuple) and len(given) == 2 and axes(given[1]) > 0
    if own_times or _named(given):
        return [given] * count
    listed = isinstance(given, (list, tuple)) and len(given) == count
    if listed and not all(isinstance(one, Real) for one in given):
        return list(given)
    if count == 1:
        return [given]
    if is_pandas(given, "DataFrame") or is_pandas(given, "Series"):
        if _has_one_clock(given):
            return [given] * count
        if len(given) == total:
            return [given.iloc[rows] for rows in parts]
        return [given.iloc[[number]] for number in range(count)] if len(given) == count else [given] * count
    array = as_array(given)
    length = len(array) if array.ndim else 0
    if length == total:
        return [array[rows] for rows in parts]
    if length == count:
        return list(array)
    raise DataError(
        f"something of length {length} was given for {count} trajectories with {total} rows; give a list "
        "with one entry per trajectory, or one value for every row"
    )


def _has_one_clock(table: Any) -> bool:
    """Whether a table or series has times of its own that do not start over."""
    from odefinder.data.clock import read_times
    from odefinder.data.columns import has_times, plain_columns, split_time

    frame = table.to_frame("u") if is_pandas(table, "Series") else table
    if not has_times(frame):
        return False
    column, title, _, _ = split_time(plain_columns(frame), None, None)
    times, _, _ = read_times(column, title)
    return bool((np.diff(times) >= 0.0).all())


def _by_label(table: pd.DataFrame, labels: Sequence[str], column: Hashable) -> list[Any]:
    """The part of a table for each trajectory."""
    found = {_text(label): part.drop(columns=[column]) for label, part in table.groupby(column, sort=False)}
    for label in labels:
        if label not in found:
            raise DataError(
                f"the table of inputs or conditions has nothing for trajectory {label}; its column "
                f"{column!r} has {', '.join(list(found)[:8])}"
            )
    return [found[label] for label in labels]


def _text(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def pick(columns: Mapping[str, Any] | None, name: str, option: str) -> Any:
    """A column by name, or an error with the nearest one."""
    if columns is None:
        raise SettingsError(
            f"{option} names a column {name!r}, and arrays have no names; give its values: "
            f"{option}={{{name!r}: values}}"
        )
    if name in columns:
        return columns[name]
    raise SettingsError(
        f"there is no column {name!r} for {option}{did_you_mean(name, columns)}; the columns are "
        f"{', '.join(map(repr, list(columns)[:12]))}"
    )


# ---------------------------------------------------------------------------------------- one trajectory


def read_inputs(given: Any, columns: Mapping[str, Any] | None, start: float) -> dict[Names, Any]:
    """The sources of the inputs of one trajectory by name; text stands for columns of its table."""
    if given is None:
        return {}
    if _named(given):
        given = _by_name(given)
    if isinstance(given, Mapping):
        return {(str(name),): _source(source, columns) for name, source in given.items()}
    return sources(given, start)


def _by_name(given: Any) -> dict[Any, Any]:
    """Columns that were named, alone, in lists, inside of Hold or of a mapping, as a mapping."""
    if isinstance(given, str):
        return {given: given}
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, Hold):
        return {name: Hold(source) for name, source in _by_name(given.values).items()}
    return {name: source for one in given for name, source in _by_name(one).items()}


def _source(source: Any, columns: Mapping[str, Any] | None) -> Any:
    if isinstance(source, Hold):
        return Hold(_source(source.values, columns))
    return pick(columns, source, "inputs") if isinstance(source, str) else source


def read_conditions(given: Any, columns: Mapping[str, Any] | None, of: str) -> dict[str, float]:
    """The conditions of one trajectory by name."""
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    _refuse_hold(given, "conditions")
    if is_pandas(given, "DataFrame"):
        given = {str(name): given[name].to_numpy() for name in given.columns}
    elif is_pandas(given, "Series"):
        given = given.to_dict()
    elif _named(given) and not isinstance(given, Mapping):
        given = {name: name for name in given}
    if not isinstance(given, Mapping):
        raise DataError(
            "conditions need names: conditions={'temperature': [20, 30]} with one value per trajectory, or "
            "the names of columns"
        )
    return {str(name): _condition(str(name), value, columns, of) for name, value in given.items()}


def _refuse_hold(given: Any, option: str) -> None:
    parts = (
        given.values() if isinstance(given, Mapping) else given if isinstance(given, (list, tuple)) else []
    )
    if any(isinstance(one, Hold) for one in (given, *parts)):
        raise SettingsError(f"Hold is about inputs; leave it out of {option}")


def _condition(name: str, value: Any, columns: Mapping[str, Any] | None, of: str) -> float:
    if isinstance(value, str) and columns is not None:
        value = pick(columns, value, "conditions")
    try:
        values = np.unique(numbers(value, name))  # NaN comes last
    except DataError:
        raise DataError(
            f"the condition {name}{of} is not a number; code groups as numbers, such as 0 and 1"
        ) from None
    values = values[np.isfinite(values)]
    if len(values) == 0:
        raise DataError(f"the condition {name}{of} is missing; give its value for every trajectory")
    if len(values) > 1:
        raise DataError(
            f"the condition {name} varies{of or ' within the trajectory'} (from {values[0]:g} to "
            f"{values[-1]:g}); what changes with time is an input: inputs=[{name!r}]"
        )
    return float(values[0])


def read_errors(
    given: Any, columns: Mapping[str, Any] | None, titles: Sequence[Hashable], rows: int, of: str
) -> Floats | None:
    """Standard errors (rows, D) of one trajectory, NaN where they are not known."""
    if given is None:
        return None
    names = [str(title) for title in titles]
    _refuse_hold(given, "errors")
    if is_pandas(given, "DataFrame"):
        given = {str(name): given[name] for name in given.columns}
    if isinstance(given, str):
        given = [given]
    if _named(given) and not isinstance(given, Mapping):
        given = {variable_of(column, names): column for column in given}
    errors = np.full((rows, len(names)), np.nan)
    if isinstance(given, Mapping):
        plain = [split_unit(name)[0] for name in names]  # as in equations: `h`, where the column is `h (m)`
        for name, values in given.items():
            place = names if str(name) in names else plain
            if str(name) not in place:
                raise SettingsError(f"errors are given for {str(name)!r}, {not_one_of(str(name), names)}")
            if isinstance(values, str):
                values = pick(columns, values, "errors")
            errors[:, place.index(str(name))] = _error_values(values, (rows,), str(name), of)
    else:
        errors[:] = _error_values(given, (rows, len(names)), ", ".join(names), of)
    if (errors < 0.0).any() or np.isinf(errors).any():
        row, column = np.argwhere((errors < 0.0) | np.isinf(errors))[0]
        raise DataError(
            f"the error {errors[row, column]:g} of {names[column]} in row {row + 1}{of} is negative or "
            "infinite; give standard errors, and leave those empty (NaN) that are not known"
        )
    errors[errors == 0.0] = np.nan  # nothing is measured exactly: not known
    return errors


def _error_values(values: Any, shape: tuple[int, ...], name: str, of: str) -> Floats:
    try:
        found = numbers(values, name)
        if found.shape == shape[:1] and shape[1:] == (1,):
            found = found[:, None]
        if found.ndim and len(found) != shape[0] and found.shape != shape[1:]:
            raise ValueError
        return np.broadcast_to(found, shape)
    except (DataError, ValueError):  # the second: of another shape
        raise DataError(
            f"the errors of {name}{of} do not fit; give numbers, one for each of the {shape[0]} rows, or one "
            "for all"
        ) from None


def variable_of(column: str, names: Sequence[str]) -> str:
    """The variable whose errors a column has."""
    if len(names) == 1:
        return names[0]
    for name in names:
        if error_column(name, [column]):
            return name
    raise SettingsError(
        f"it is not clear whose errors the column {column!r} has; say so: errors={{{names[0]!r}: {column!r}}}"
    )


def may_hold_errors(title: str) -> bool:
    """Whether a title ends as those of columns of errors do."""
    return re.split(r"[\s_.\-]", split_unit(title)[0])[-1].lower() in _ERROR_ENDINGS


def error_column(title: str, titles: Sequence[str]) -> str | None:
    """The column that, by its name, has the errors of another: `c_sd` next to `c`."""
    endings = "|".join(_ERROR_ENDINGS)
    pattern = re.compile(rf"{re.escape(split_unit(title)[0])}[\s_.\-]+({endings})", re.IGNORECASE)
    return next((other for other in titles if pattern.fullmatch(split_unit(other)[0])), None)
