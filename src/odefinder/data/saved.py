"""A Dataset as plain data, ready for JSON: numbers that are not finite become null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.dataset import Clock, Dataset
from odefinder.data.doses import Dose
from odefinder.data.roles import Role
from odefinder.edge.documents import checked_document
from odefinder.edge.rules import Anything, Array, Choice, Flag, ListOf, Object, OrNone, Text, Whole
from odefinder.errors import DataError
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]

_NAMES = ListOf(Text(most=100_000), sentence="a list of names")
_ROLES = Object(
    {},
    {
        "inputs": _NAMES,
        "signals": ListOf(Object({"knots": Array(1), "before": Array(2), "after": Array(2)})),
        "conditions": _NAMES,
        "settings": OrNone(Array(2)),
        "doses": ListOf(ListOf(ListOf(Anything("a dose"), least=3, most=3, sentence="a dose"))),
        "errors": ListOf(Array(2, missing=True)),
        "roles": ListOf(Choice([str(role) for role in Role])),
        "derivative_of": ListOf(Whole("the number of a variable, or -1", -1, 10_000)),
        "explicit_time": Flag(),
    },
)
DATA = Object(
    {
        "times": ListOf(Array(1), least=1),
        "states": ListOf(Array(2, missing=True), least=1),
        "variables": ListOf(Text(), least=1, most=10_000, sentence="a list of names"),
        "titles": _NAMES,
        "labels": _NAMES,
        "clock": Object({}, {"name": Text(), "unit": Text(), "origin": Text()}, more=False),
        "notes": _NAMES,
    },
    {"roles": OrNone(_ROLES)},
)


def as_dict(dataset: Dataset) -> dict[str, Any]:
    """Plain data; what only data with roles have is an entry of its own."""
    plain = {
        "times": [times.tolist() for times in dataset.times],
        "states": [_table(states) for states in dataset.states],
        "variables": list(dataset.variables),
        "titles": list(dataset.titles),
        "labels": list(dataset.labels),
        "clock": asdict(dataset.clock),
        "notes": list(dataset.notes),
    }
    return {**plain, "roles": _roles(dataset)} if has_roles(dataset) else plain


def has_roles(dataset: Dataset) -> bool:
    """Whether there is more than observed states."""
    more = (dataset.known, dataset.doses, dataset.errors)
    return any(map(len, more)) or set(dataset.roles) != {Role.OBSERVED} or bool(dataset.velocities)


def _roles(dataset: Dataset) -> dict[str, Any]:
    return {
        "inputs": list(dataset.inputs),
        "signals": [
            {"knots": one.knots.tolist(), "before": one.before.tolist(), "after": one.after.tolist()}
            for one in dataset.signals
        ],
        "conditions": list(dataset.conditions),
        "settings": None if dataset.settings is None else dataset.settings.tolist(),
        "doses": [[list(dose) for dose in doses] for doses in dataset.doses],
        "errors": [_table(errors) for errors in dataset.errors],
        "roles": [str(role) for role in dataset.roles],
        "derivative_of": list(dataset.derivative_of),
        "explicit_time": dataset.explicit_time,
    }


def read_dict(data: Mapping[str, Any]) -> Dataset:
    """What `as_dict` wrote, if its parts fit together."""
    data = checked_document(data, DATA, "the saved data")
    _check_shapes(data)
    roles = data.get("roles") or {}
    settings = roles.get("settings")
    return Dataset(
        tuple(_floats(times) for times in data["times"]),
        tuple(_floats(states) for states in data["states"]),
        tuple(data["variables"]),
        tuple(data["titles"]),
        tuple(data["labels"]),
        Clock(**data["clock"]),
        tuple(data["notes"]),
        inputs=tuple(roles.get("inputs", ())),
        signals=tuple(_signals(**one) for one in roles.get("signals", ())),
        conditions=tuple(roles.get("conditions", ())),
        settings=None if settings is None else _floats(settings),
        doses=tuple(tuple(Dose(*dose) for dose in doses) for doses in roles.get("doses", ())),
        errors=tuple(_floats(errors) for errors in roles.get("errors", ())),
        roles=tuple(Role(role) for role in roles.get("roles", ())),
        derivative_of=tuple(map(int, roles.get("derivative_of", ()))),
        explicit_time=bool(roles.get("explicit_time", False)),
    )


def _check_shapes(data: Mapping[str, Any]) -> None:
    """Raise if times, states and names are not about the same points and variables."""
    width, lengths = len(data["variables"]), [len(times) for times in data["times"]]
    roles = data.get("roles") or {}
    tables = [data["states"], *([roles["errors"]] if roles.get("errors") else [])]
    same = all([len(rows) for rows in table] == lengths for table in tables)
    wide = all(len(row) == width for table in tables for rows in table for row in rows)
    named = len(data["titles"]) == width and len(data["labels"]) in (0, len(lengths))
    rising = all(np.all(np.diff(np.asarray(times, np.float64)) > 0) for times in data["times"])
    more = all(len(roles.get(name, ())) in (0, width) for name in ("roles", "derivative_of"))
    each = all(len(roles.get(name) or ()) in (0, len(lengths)) for name in ("signals", "settings", "doses"))
    if not (same and wide and named and rising and more and each and min(lengths) > 0):
        raise DataError("the saved data are damaged: times, states and names do not fit together")


def _signals(knots: Sequence[float], before: Any, after: Any) -> Signals:
    return Signals(_floats(knots), _floats(before), _floats(after), np.empty((len(knots), 0)))


def _table(values: Floats) -> list[list[float | None]]:
    return [[value if np.isfinite(value) else None for value in row] for row in values.tolist()]


def _floats(values: Any) -> Floats:
    """An array; null is NaN."""
    return np.array(values, dtype=np.float64)
