"""Uploaded tables: where they lie, what their columns are, and what was understood of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.data.bundled import Sample
from odefinder.data.columns import plain_columns
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.files import input_table, load, read
from odefinder.data.inputs import Hold
from odefinder.data.joining import joined, short_names
from odefinder.data.known import Extras, variable_of
from odefinder.data.long_tables import pivoted
from odefinder.data.names import names_a_trajectory, read_time_title
from odefinder.data.roles import Role
from odefinder.data.tables import from_frame
from odefinder.data.time_units import with_time_unit
from odefinder.data.unit_rows import without_unit_row
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import Signals
from odefinder.web.advice import on_the_page
from odefinder.web.plain import number, numbers

# hold: an input that keeps each value until the next.
# group: it tells trajectories apart, and its number is a condition of each.
ROLES = ("observed", "input", "hold", "condition", "error", "time", "trajectory", "group", "ignore")
SHOWN_ROWS = 8
SHOWN_COLUMNS = 100
DRAWN_POINTS = 2000  # of each trajectory: more cannot be told apart on a screen
Columns = tuple[pd.DataFrame | None, list[str]]  # a table as it was understood, and notes; None: arrays


@dataclass(frozen=True)
class Reading:
    """What the page says about a table."""

    roles: Mapping[str, str] | None = None  # of its columns; None: they are found by name
    time_unit: str | None = None
    errors: Mapping[str, float] = field(default_factory=dict)  # standard errors that no column has


AS_FOUND = Reading()


@dataclass(frozen=True)
class Table:
    """Files that came from the page, under the names that they had there; several are trajectories."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    inputs: Path | None = None  # a table of inputs on times of their own
    inputs_name: str = ""
    inputs_before: tuple[Path, ...] = ()  # a fit in the queue may still need them

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def files(self) -> tuple[Path, ...]:
        """All that belong to it."""
        own = () if self.inputs is None else (self.inputs,)
        return (*self.paths, *own, *self.inputs_before)

    def and_another(self, path: Path, name: str) -> Table:
        """With one more file."""
        return replace(self, paths=(*self.paths, path), names=(*self.names, name))

    def with_inputs(self, path: Path | None, name: str = "") -> Table:
        """With another table of inputs, or without one."""
        before = self.inputs_before if self.inputs is None else (*self.inputs_before, self.inputs)
        return replace(self, inputs=path, inputs_name=name, inputs_before=before)

    def read(self, reading: Reading = AS_FOUND) -> Dataset:
        """The data."""
        return self.dataset(self.columns(), reading)

    def columns(self) -> list[Columns]:
        """The columns of each file: units below the titles are part of them, long tables are wide."""
        return [self._naming(k, self._columns, path) for k, path in enumerate(self.paths)]

    def dataset(self, columns: Sequence[Columns], reading: Reading) -> Dataset:
        """The data in these columns."""
        options = reading_options(reading)
        if self.inputs is not None:
            options["extras"] = self._with_own_inputs(options["extras"])
        parts = [self._naming(k, self._read, k, own, options) for k, own in enumerate(columns)]
        dataset = joined(parts, short_names([Path(name) for name in self.names]))
        return dataset if reading.time_unit is None else with_time_unit(dataset, reading.time_unit)

    def _with_own_inputs(self, extras: Extras) -> Extras:
        assert self.inputs is not None
        if extras.inputs is not None:
            raise SettingsError(
                f"inputs are columns of the data or all in a table of their own ({self.inputs_name}); choose "
                "“leave out” over these columns, or remove that table"
            )
        with naming(self.inputs, self.inputs_name):
            return replace(extras, inputs=input_table(self.inputs))

    @staticmethod
    def _columns(path: Path) -> Columns:
        content = load(path)
        if not isinstance(content, pd.DataFrame):
            return None, []
        frame, notes = without_unit_row(plain_columns(content))
        frame, more = pivoted(frame, ())
        return frame, notes + more

    def _read(self, k: int, columns: Columns, options: Mapping[str, Any]) -> Dataset:
        frame, notes = columns
        if frame is None:
            return read(self.paths[k], inputs=options["extras"].inputs, errors=options["extras"].errors)
        left = frame.drop(columns=[name for name in frame.columns if str(name) in options["ignored"]])
        found = from_frame(
            left, options["time"], options["trajectory"], options["variables"], True, options["extras"]
        )
        return replace(found, notes=(*notes, *found.notes))

    def _naming(self, k: int, function: Any, *given: Any) -> Any:
        """Call it; errors begin with the name that the file has on the page."""
        with naming(self.paths[k], self.names[k]):
            return function(*given)


@contextmanager
def naming(path: Path, name: str) -> Iterator[None]:
    """Errors inside begin with the name that a file has on the page."""
    try:
        yield
    except DataError as error:
        message = str(error).replace(str(path), name)
        raise DataError(message if message.startswith(name) else f"{name}: {message}") from None


def reading_options(reading: Reading) -> dict[str, Any]:
    """The roles of the columns as `from_frame` takes them."""
    roles = reading.roles or {}
    unknown = next((role for role in roles.values() if role not in ROLES), None)
    if unknown is not None:
        raise SettingsError(f"there is no role {unknown!r}; choose from {', '.join(ROLES)}")
    columns = {role: [title for title, one in roles.items() if one == role] for role in ROLES}
    columns["trajectory"] += columns["group"]
    columns["condition"] += columns["group"]
    for role in ("time", "trajectory"):
        if len(columns[role]) > 1:
            both = " and ".join(map(repr, columns[role][:2]))
            raise SettingsError(f"both {both} are the {role}; choose one of them")
    if roles and not columns["observed"]:
        raise SettingsError("no column is observed; choose at least one")
    errors: Any = columns["error"] or None
    if reading.errors:
        own = {variable_of(column, columns["observed"]): column for column in columns["error"]}
        errors = {**own, **reading.errors}
    inputs = [*columns["input"], *map(Hold, columns["hold"])]
    return {
        "variables": columns["observed"] or None,
        "time": next(iter(columns["time"]), None),
        "trajectory": next(iter(columns["trajectory"]), None),
        "ignored": columns["ignore"],
        "extras": Extras(inputs or None, columns["condition"] or None, errors),
    }


def sample_roles(found: Mapping[str, Any], known: Sample) -> dict[str, str]:
    """The roles of a sample's columns; found: the preview with those that their names suggest."""
    roles = dict(found["roles"])
    for name, title in zip(found["data"]["variables"], found["data"]["titles"], strict=True):
        if name in known.inputs:
            roles[title] = "input"
        elif name in known.conditions:
            roles[title] = "condition"
        elif known.variables and name not in known.variables:
            roles[title] = "ignore"
    return roles


def preview(table: Table, reading: Reading = AS_FOUND) -> dict[str, Any]:
    """What the page shows of a table; where it cannot be used, `error` says why."""
    columns = table.columns()
    frame = pd.DataFrame() if columns[0][0] is None else columns[0][0]
    found: dict[str, Any] = {
        "name": table.name,
        "inputs_name": table.inputs_name,
        "rows": sum(len(own) for own, _ in columns if own is not None),
        "columns": [str(name) for name in frame.columns[:SHOWN_COLUMNS]],
        "head": [[_cell(value) for value in row[:SHOWN_COLUMNS]] for row in _head(frame)],
    }
    roles = reading.roles
    try:
        dataset = table.dataset(columns, reading)
    except OdefinderError as error:
        found["error"] = on_the_page(str(error))
        return {**found, "roles": roles} if roles else _guessed(table, columns, reading, found)
    return {**found, "roles": roles or _understood_roles(frame, dataset), "data": data_of(dataset)}


def _guessed(
    table: Table, columns: Sequence[Columns], reading: Reading, found: dict[str, Any]
) -> dict[str, Any]:
    """The preview of a table that cannot be read as it is, with other roles where these help."""
    frame = pd.DataFrame() if columns[0][0] is None else columns[0][0]
    roles, notes = _guessed_roles(frame), []
    label = _label_column(frame)
    if label is not None:
        numeric = pd.api.types.is_numeric_dtype(frame[label].dtype)
        roles[label] = "group" if numeric else "trajectory"
        also = ", and is known for each of them" if numeric else ""
        notes = [f"The times start over with every value of {label!r}: it tells trajectories apart{also}."]
    texts = [title for title, role in roles.items() if role == "ignore"]
    if texts:
        names = ", ".join(map(repr, texts))
        notes.append(
            f"Left out, as there are no numbers: {names}. “Trajectory” is for what tells them apart."
        )
    if not notes:
        return {**found, "roles": roles}
    try:
        data = data_of(table.dataset(columns, replace(reading, roles=roles)))
    except OdefinderError:
        return {**found, "roles": roles}
    del found["error"]
    return {**found, "roles": roles, "chosen": True, "data": {**data, "notes": [*notes, *data["notes"]]}}


def _label_column(frame: pd.DataFrame) -> str | None:
    """The only column that changes just where the times start over."""
    times = next((name for name in frame.columns if read_time_title(str(name))[0] is not None), None)
    if times is None or not pd.api.types.is_numeric_dtype(frame[times].dtype):
        return None
    back = np.diff(frame[times].to_numpy(np.float64)) < 0.0
    if not back.any():
        return None
    changes = {name: frame[name].to_numpy() for name in frame.columns if name != times}
    found = [name for name, own in changes.items() if np.array_equal(own[1:] != own[:-1], back)]
    return str(found[0]) if len(found) == 1 else None


def data_of(dataset: Dataset) -> dict[str, Any]:
    """The data as they were understood, thinned where there are more points than a screen shows."""
    return {
        "summary": str(dataset),
        "variables": list(dataset.variables),
        "titles": list(dataset.titles),
        "observed": [role == Role.OBSERVED for role in dataset.roles],
        "clock": dataset.clock.label,
        "inputs": list(dataset.inputs),
        "conditions": list(dataset.conditions),
        "explicit_time": dataset.explicit_time,
        "doses": any(dataset.doses),
        "errors": bool(dataset.errors),
        "gaps": _gaps(dataset),
        "notes": [on_the_page(note) for note in dataset.notes],
        "trajectories": [_trajectory(dataset, number) for number in range(len(dataset))],
    }


def _trajectory(dataset: Dataset, number: int) -> dict[str, Any]:
    """Times, states (by column), inputs (each with times of its own) and conditions."""
    times, states = dataset.times[number], dataset.states[number]
    rows = _spread(len(times))
    signals = dataset.signals[number] if dataset.signals else None
    settings = None if dataset.settings is None else dataset.settings[number]
    return {
        "label": dataset.labels[number],
        "times": numbers(times[rows]),
        "states": [numbers(column) for column in states[rows].T],
        "inputs": [] if signals is None else _inputs(signals, times[[0, -1]]),
        "conditions": [] if settings is None else numbers(settings),
    }


def _inputs(signals: Signals, ends: Floats) -> list[dict[str, Any]]:
    """The signals as lines that cover the data; a jump is two points at neighbouring times."""
    knots, before, after = (values[_spread(len(signals.knots))] for values in signals[:3])
    more = ends[(ends < knots[0]) | (ends > knots[-1])]
    held = values_at(signals, more)
    found = []
    for j in range(before.shape[1]):
        jumps = before[:, j] != after[:, j]
        times = np.concatenate([np.nextafter(knots[jumps], -np.inf), knots, more])
        values = np.concatenate([before[jumps, j], after[:, j], held[:, j]])
        order = np.argsort(times, kind="stable")
        found.append({"times": numbers(times[order]), "values": numbers(values[order])})
    return found


def _spread(count: int) -> NDArray[np.int64]:
    """Rows to draw: all, or evenly chosen ones."""
    return np.unique(np.linspace(0, count - 1, DRAWN_POINTS).astype(np.int64))


def _gaps(dataset: Dataset) -> int:
    """Missing values of what was measured."""
    seen = [role == Role.OBSERVED for role in dataset.roles]
    return int(sum(np.isnan(states[:, seen]).sum() for states in dataset.states))


def _head(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(frame.head(SHOWN_ROWS).itertuples(index=False, name=None))


def _cell(value: Any) -> Any:
    """A number, a text, or None for nothing."""
    if isinstance(value, float | np.floating):
        return number(float(value))
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    return None if value is None or value is pd.NaT else str(value)[:80]


def _understood_roles(frame: pd.DataFrame, dataset: Dataset) -> dict[str, str]:
    """What each column was taken for."""
    notes = " ".join(dataset.notes)
    roles = {}
    for name in map(str, frame.columns):
        if name in dataset.titles:
            roles[name] = "observed"
        elif f"The column {name!r} tells trajectories apart" in notes:
            roles[name] = "trajectory"
        elif f"The column {name!r} is taken as the standard errors" in notes:
            roles[name] = "error"
        else:
            roles[name] = "ignore"
    left = [name for name, role in roles.items() if role == "ignore"]
    times = [name for name in left if read_time_title(name)[1] == dataset.clock.name]
    roles.update(dict.fromkeys(times[:1], "time"))
    return roles


def _guessed_roles(frame: pd.DataFrame) -> dict[str, str]:
    """A beginning for the reader, where the table could not be understood."""
    roles: dict[str, str] = {}
    for column in frame.columns:
        name = str(column)
        if read_time_title(name)[0] is not None and "time" not in roles.values():
            roles[name] = "time"
        elif names_a_trajectory(name) and "trajectory" not in roles.values():
            roles[name] = "trajectory"
        else:
            values = pd.to_numeric(frame[column], errors="coerce")
            roles[name] = "observed" if values.notna().any() else "ignore"
    return roles
