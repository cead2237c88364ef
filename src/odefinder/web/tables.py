"""Uploaded tables: where they lie, what their columns are, and what was understood of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odefinder.data.dataset import Dataset
from odefinder.data.files import load, read
from odefinder.data.names import names_a_trajectory, read_time_title
from odefinder.errors import DataError, OdefinderError, SettingsError
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

    def read(self, roles: Mapping[str, str] | None = None) -> Dataset:
        """The data; `roles` says what each column is, and without it that is found out by name."""
        try:
            return read(self.path, **reading_options(roles))
        except OdefinderError as error:
            raise type(error)(self._named(str(error))) from None

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
    picked = [np.unique(np.linspace(0, len(t) - 1, DRAWN_POINTS).astype(int)) for t in dataset.times]
    return {
        "summary": str(dataset),
        "variables": list(dataset.variables),
        "titles": list(dataset.titles),
        "clock": dataset.clock.label,
        "inputs": list(dataset.inputs),
        "conditions": list(dataset.conditions),
        "errors": bool(dataset.errors),
        "gaps": int(sum(np.isnan(states).sum() for states in dataset.states)),
        "notes": list(dataset.notes),
        "trajectories": [
            {"label": label, "times": numbers(t[rows]), "states": [numbers(column) for column in x[rows].T]}
            for label, t, x, rows in zip(dataset.labels, dataset.times, dataset.states, picked, strict=True)
        ],
    }


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
