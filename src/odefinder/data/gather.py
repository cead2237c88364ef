"""Inputs, conditions and doses of all trajectories, gathered and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.advice import check_size
from odefinder.data.dataset import Clock
from odefinder.data.doses import Dose
from odefinder.data.dosing import RATE
from odefinder.data.inputs import Known, Names, signals_of
from odefinder.data.known import read_conditions, read_inputs
from odefinder.data.raw import RawTrajectory
from odefinder.errors import DataError
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]


class Gathered(NamedTuple):
    """What is known about all trajectories."""

    inputs: tuple[str, ...] = ()
    signals: tuple[Signals, ...] = ()  # of each trajectory
    conditions: tuple[str, ...] = ()
    settings: Floats | None = None  # (trajectories, conditions)
    doses: tuple[tuple[Dose, ...], ...] = ()  # of each trajectory
    notes: tuple[str, ...] = ()


def gather(raw: Sequence[RawTrajectory], times: Sequence[Floats], clock: Clock) -> Gathered:
    """All inputs, conditions and doses; `times` are those of the rows, as numbers."""
    if not any(one.extras or one.dosing for one in raw):
        return Gathered()
    notes = list[str]()
    given = [
        read_inputs(one.extras.inputs, one.columns, _first(t)) for one, t in zip(raw, times, strict=True)
    ]
    doses = _doses(raw, times, given, notes)
    known = [signals_of(sources, t, clock, one.of) for sources, t, one in zip(given, times, raw, strict=True)]
    inputs = _common([one.names for one in known], "inputs")
    for one in known:
        notes += one.notes
    notes += _remarks(inputs, known)
    found = [read_conditions(one.extras.conditions, one.columns, one.of) for one in raw]
    conditions = _common([tuple(one) for one in found], "conditions")
    settings = np.array([list(one.values()) for one in found]) if conditions else None
    if settings is not None:
        for name, column in zip(conditions, settings.T, strict=True):
            check_size(name, float(np.abs(column).max()))
        notes += same_everywhere(conditions, settings)
    signals = tuple(one.signals for one in known) if inputs else ()
    return Gathered(inputs, signals, conditions, settings, doses, tuple(dict.fromkeys(notes)))


def _first(times: Floats) -> float:
    known = times[np.isfinite(times)]
    return float(known.min()) if len(known) else 0.0


def _common(names: Sequence[tuple[str, ...]], what: str) -> tuple[str, ...]:
    """The names, which must be the same for all trajectories."""
    for number, one in enumerate(names, start=1):
        if one != names[0]:
            raise DataError(
                f"trajectory {number} has the {what} {', '.join(one) or 'none'}, trajectory 1 has "
                f"{', '.join(names[0]) or 'none'}; all must have the same, in the same order"
            )
    return names[0]


def _doses(
    raw: Sequence[RawTrajectory], times: Sequence[Floats], given: list[dict[Names, Any]], notes: list[str]
) -> tuple[tuple[Dose, ...], ...]:
    """Doses that are given at once; infusions become an input."""
    pairs = list(zip(raw, times, strict=True))
    infusions = [one.dosing.infusions(t) if one.dosing else None for one, t in pairs]
    if any(one is not None for one in infusions):
        for sources, infusion in zip(given, infusions, strict=True):
            sources[RATE,] = 0.0 if infusion is None else infusion
        notes.append(f"Doses with a rate are infusions: the input {RATE} has it while they last.")
    doses = tuple(one.dosing.doses(t) if one.dosing else () for one, t in pairs)
    count = sum(map(len, doses))
    if count == 0:
        return ()
    notes.append(
        f"{count} doses (amt) are added to a state just after their times, as they are: give amounts in "
        "the units of that state. If the volume is not known, give a rate, whose effect is then found."
    )
    early = sum(
        dose.time < _first_seen(one, t) for (one, t), ones in zip(pairs, doses, strict=True) for dose in ones
    )
    if early:
        notes.append(f"{early} doses come before the first observation: they are part of its value.")
    return doses


def _first_seen(one: RawTrajectory, times: Floats) -> float:
    seen = times[np.isfinite(one.states).any(axis=1) & np.isfinite(times)]
    return float(seen.min()) if len(seen) else -np.inf


def _remarks(inputs: Sequence[str], known: Sequence[Known]) -> list[str]:
    """Inputs that never change; those with values that cannot be used are errors."""
    notes = []
    for column, name in enumerate(inputs):
        values = [np.stack([one.signals.before, one.signals.after])[:, :, column] for one in known]
        check_size(name, max(float(np.abs(one).max()) for one in values))
        if any(one.max() > one.min() for one in values):
            continue
        if len({one.flat[0] for one in values}) > 1:
            notes.append(f"{name} never changes within a trajectory: conditions=[{name!r}] says the same.")
        else:
            notes.append(f"The input {name} never changes: its effect cannot be told from a constant.")
    return notes


def same_everywhere(conditions: Sequence[str], settings: Floats) -> list[str]:
    """Notes about conditions that never differ; settings: (trajectories, conditions)."""
    return [
        f"The condition {name} is always {column[0]:g}: its effect cannot be told from a constant."
        for name, column in zip(conditions, settings.T, strict=True)
        if (column == column[0]).all()
    ]
