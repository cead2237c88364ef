"""Several datasets of one system as one: every trajectory of each is a trajectory of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.gather import same_everywhere
from odefinder.data.time_units import on_clock
from odefinder.errors import DataError


def joined(datasets: Sequence[Dataset], names: Sequence[str] = ()) -> Dataset:
    """All trajectories together; `names` says where each dataset is from, for messages and labels.

    They must have the same variables, inputs and conditions, in any order of the variables.  Times are
    counted in the unit, and from the date, of the first.
    """
    if not datasets:
        raise DataError("there are no datasets; give at least one")
    named = list(names) or [str(number) for number in range(1, len(datasets) + 1)]
    first = datasets[0]
    if len(datasets) == 1:
        return first
    parts = [first]
    for one, name in zip(datasets[1:], named[1:], strict=True):
        if set(one.variables) != set(first.variables):
            raise DataError(
                f"{name} has the variables {', '.join(one.variables)}, {named[0]} has "
                f"{', '.join(first.variables)}; all must have the same"
            )
        for what in ("inputs", "conditions"):
            if getattr(one, what) != getattr(first, what):
                raise DataError(
                    f"{name} has the {what} {', '.join(getattr(one, what)) or 'none'}, {named[0]} has "
                    f"{', '.join(getattr(first, what)) or 'none'}; all must have the same, in the same order"
                )
        parts.append(on_clock(one.with_variables(first.variables), first.clock, name))
    labels = [
        name if len(one) == 1 else f"{name} {label}"
        for one, name in zip(parts, named, strict=True)
        for label in one.labels
    ]
    settings = None if first.settings is None else np.concatenate([one.settings for one in parts])
    return replace(
        first,
        times=tuple(times for one in parts for times in one.times),
        states=tuple(states for one in parts for states in one.states),
        labels=tuple(labels) if len(set(labels)) == len(labels) else (),
        notes=_notes(parts, settings),
        signals=tuple(signals for one in parts for signals in one.signals),
        settings=settings,
        doses=tuple(doses for one in parts for doses in one.doses or ((),) * len(one))
        if any(one.doses for one in parts)
        else (),
        errors=tuple(errors for one in parts for errors in one.errors or _unknown(one))
        if any(one.errors for one in parts)
        else (),
    )


def _notes(parts: Sequence[Dataset], settings: np.ndarray | None) -> tuple[str, ...]:
    """What was said about each; that a condition is always the same only if it is so in all of them."""
    if settings is None:
        return tuple(dict.fromkeys(note for one in parts for note in one.notes))
    names = parts[0].conditions
    still = {
        note for one in parts if one.settings is not None for note in same_everywhere(names, one.settings)
    }
    notes = [note for one in parts for note in one.notes if note not in still]
    return tuple(dict.fromkeys([*notes, *same_everywhere(names, settings)]))


def _unknown(dataset: Dataset) -> tuple[np.ndarray, ...]:
    """Errors that nobody knows."""
    return tuple(np.full_like(states, np.nan) for states in dataset.states)


def short_names(paths: Sequence[Path]) -> list[str]:
    """Names that tell files apart: without folder and ending, where that is enough."""
    stems = [path.name.split(".")[0] for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
