"""Uploaded tables: where they lie, what their columns are, and what was understood of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.data.bundled import Sample
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.files import load, read
from odefinder.data.names import names_a_trajectory, read_time_title
from odefinder.data.roles import Role
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import Signals
from odefinder.web.plain import number, numbers

ROLES = ("observed", "input", "condition", "error", "time", "trajectory", "ignore")
SHOWN_ROWS = 8
SHOWN_COLUMNS = 100
DRAWN_POINTS = 2000  # of each trajectory: more cannot be told apart on a screen


@dataclass(frozen=True)
class Table:
    """A file that came from the page, under the name that it had there."""

    path: Path
    name: str
    errors: Mapping[str, float] = field(default_factory=dict)  # of variables, where no column has them

    def read(self, roles: Mapping[str, str] | None = None) -> Dataset:
        """The data; `roles` says what each column is, and without it that is found out by name."""
        try:
            options = reading_options(roles)
            if self.errors and not options.get("errors"):
                options["errors"] = self._errors(options.get("variables"))
            return read(self.path, **options)
        except OdefinderError as error:
            raise type(error)(self._named(str(error))) from None

    def _errors(self, titles: Sequence[str] | None) -> dict[str, float] | None:
        """The errors of the variables that are used; a title may have a unit behind the name."""
        used = [
            name
            for name in self.errors
            if titles is None or any(title.partition(" (")[0] == name for title in titles)
        ]
        return {name: self.errors[name] for name in used} or None

    def columns(self) -> pd.DataFrame:
        """The table as it stands in the file."""
        try:
            content = load(self.path)
        except OdefinderError as error:
            raise DataError(self._named(f"{self.path}: {error}")) from None
        return content if isinstance(content, pd.DataFrame) else pd.DataFrame()

    def _named(self, message: str) -> str:
        return message.replace(str(self.path), self.name)


def reading_options(roles: Mapping[str, str] | None) -> dict[str, Any]:
    """The roles of the columns as arguments of `read`."""
    if not roles:
        return {}
    unknown = next((role for role in roles.values() if role not in ROLES), None)
    if unknown is not None:
        raise SettingsError(f"there is no role {unknown!r}; choose from {', '.join(ROLES)}")
    columns = {role: [title for title, one in roles.items() if one == role] for role in ROLES}
    for role in ("time", "trajectory"):
        if len(columns[role]) > 1:
            both = " and ".join(map(repr, columns[role][:2]))
            raise SettingsError(f"both {both} are the {role}; choose one of them")
    if not columns["observed"]:
        raise SettingsError("no column is observed; choose at least one")
    return {
        "variables": columns["observed"],
        "time": next(iter(columns["time"]), None),
        "trajectory": next(iter(columns["trajectory"]), None),
        "inputs": columns["input"] or None,
        "conditions": columns["condition"] or None,
        "errors": columns["error"] or None,
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


def preview(table: Table, roles: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the page shows of a table; where it cannot be used, `error` says why."""
    frame = table.columns()
    found: dict[str, Any] = {
        "name": table.name,
        "rows": len(frame),
        "columns": [str(name) for name in frame.columns[:SHOWN_COLUMNS]],
        "head": [[_cell(value) for value in row[:SHOWN_COLUMNS]] for row in _head(frame)],
    }
    try:
        dataset = table.read(roles)
    except OdefinderError as error:
        return {**found, "roles": roles or _guessed_roles(frame), "error": str(error)}
    return {**found, "roles": roles or _understood_roles(frame, dataset), "data": data_of(dataset)}


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
        "notes": list(dataset.notes),
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
            roles[name] = "observed" if pd.api.types.is_numeric_dtype(frame[column].dtype) else "ignore"
    return roles
