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
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]


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
    """What `as_dict` wrote."""
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


def _signals(knots: Sequence[float], before: Any, after: Any) -> Signals:
    return Signals(_floats(knots), _floats(before), _floats(after), np.empty((len(knots), 0)))


def _table(values: Floats) -> list[list[float | None]]:
    return [[value if np.isfinite(value) else None for value in row] for row in values.tolist()]


def _floats(values: Any) -> Floats:
    """An array; null is NaN."""
    return np.array(values, dtype=np.float64)
