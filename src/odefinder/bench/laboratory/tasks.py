"""What a method is given: observed columns of the first part of the records, and what is known about them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.laboratory.entries import LabSystem
from odefinder.bench.laboratory.records import Record
from odefinder.data.dataset import Dataset
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]

SEEN = 0.6  # share of the times that a method sees


@dataclass(frozen=True, eq=False)
class LabTask:
    """One problem: the dataset has inputs, conditions and doses; the rest says what else is known."""

    dataset: Dataset  # the observed states
    order: int = 1
    hidden: int = 0
    explicit_time: bool = False
    seed: int = 0
    known: str | None = None  # equations, or parts of them, that are given

    def with_roles(self) -> Dataset:
        """The data with velocities, hidden states and the time."""
        return self.dataset.with_roles(self.order, self.hidden, self.explicit_time)


def make_task(lab: LabSystem, number: int, noise: float = 0.0, seed: int = 0) -> LabTask:
    """The task of the split of this number; additive noise has this share of each variable's spread."""
    split, count = lab.splits[number], seen_points(lab)
    t = lab.t[:count]
    records = tuple(record.until(float(t[-1])) for record in split.seen)
    rng = np.random.default_rng([seed, number, zlib.crc32(lab.id.encode())])
    states = []
    for record in split.seen:
        clean = lab.truth(record)[:count, : len(lab.observed)]
        states.append(clean + noise * clean.std(axis=0) * rng.standard_normal(clean.shape))
    dataset = dataset_of(records, [t] * len(records), states, lab.observed, lab.inputs, lab.conditions)
    return LabTask(dataset, lab.order, lab.hidden, lab.explicit_time, seed)


def seen_points(lab: LabSystem) -> int:
    """How many of the times a method sees."""
    return round(SEEN * len(lab.t))


def dataset_of(
    records: Sequence[Record],
    times: Sequence[Floats],
    states: Sequence[Floats],
    observed: Sequence[str],
    inputs: Sequence[str] = (),
    conditions: Sequence[str] = (),
) -> Dataset:
    """Times (n,) and observed states (n, D) of each record, with what is known about it."""

    def driven(record: Record, t: Floats) -> Signals:
        return record.driving(inputs, t)

    settings = np.array([[record.conditions[name] for name in conditions] for record in records])
    return Dataset(
        tuple(times),
        tuple(states),
        tuple(observed),
        inputs=tuple(inputs),
        signals=tuple(map(driven, records, times)) if inputs else (),
        conditions=tuple(conditions),
        settings=settings if conditions else None,
        doses=tuple(record.doses for record in records) if any(one.doses for one in records) else (),
    )
