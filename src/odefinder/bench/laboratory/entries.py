"""Systems of the laboratory set, as `benchmarks/sets/laboratory.json` describes them.

An entry has its true "equations" (first-order, the observed states first, then velocities, then hidden
states), "parameters", "kind" (the group it is counted in), the names of what is "observed", the "order" (2:
the velocities x_dot are never seen), the names of "hidden" states, "inputs" and "conditions", and whether
equations may read t ("explicit_time").  Each of its "records" is fitted alone and tested on the next one;
if there is an "unseen" record, all others are fitted together and tested on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.laboratory.records import RECORD, Record, read_record
from odefinder.data.roles import TIME_NAME
from odefinder.edge.documents import MOST_BYTES, parsed, read_document
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Choice, Either, Flag, ListOf, MapOf, Number, Object, Text, Whole, shown
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.system import ODESystem

Floats = NDArray[np.float64]

GROUPS = ("order 2", "inputs", "conditions", "hidden", "time")
_NAMES = ListOf(Text(most=1_000), most=1_000, sentence="a list of names")
SET = ListOf(
    Object(
        {
            "id": Text(most=1_000),
            "name": Text(most=10_000),
            "kind": Choice(GROUPS),
            "equations": Either("text or a list of equations", (Text(), ListOf(Text()))),
            "parameters": MapOf(Number("a finite number", -1.7e308, 1.7e308)),
            "observed": _NAMES,
            "records": ListOf(RECORD, 1, 1_000, "a list of records"),
            "t_end": Number("a positive number", 0.0, 1e300, above=True),
            "points": Whole("a whole number from 2 to 100000", 2, 100_000),
        },
        {
            "order": Whole("1 or 2", 1, 2),
            "hidden": _NAMES,
            "inputs": _NAMES,
            "conditions": _NAMES,
            "explicit_time": Flag(),
            "unseen": RECORD,
        },
    ),
    sentence="a list of systems",
)


@dataclass(frozen=True)
class Split:
    """The records of one fit and the one it is tested on."""

    seen: tuple[Record, ...]
    other: Record


@dataclass(frozen=True, eq=False)
class LabSystem:
    """A true system, who sees what of it, and the experiments."""

    id: str
    name: str
    group: str  # of GROUPS
    system: ODESystem
    observed: tuple[str, ...]
    order: int
    hidden: int
    inputs: tuple[str, ...]
    conditions: tuple[str, ...]
    explicit_time: bool
    records: tuple[Record, ...]
    unseen: Record | None
    t: Floats

    @property
    def splits(self) -> list[Split]:
        """What is fitted and what is tested."""
        if self.unseen is not None:
            return [Split(self.records, self.unseen)]
        others = (*self.records[1:], self.records[0])
        return [Split((seen,), other) for seen, other in zip(self.records, others, strict=True)]

    def truth(self, record: Record) -> Floats:
        """The clean states (N, D) of a record."""
        states = record.simulate(self.system, record.start, self.t)
        if not np.isfinite(states).all():
            raise DataError(f"{self.id} cannot be integrated from {list(record.start)}")
        return states


def read_laboratory(path: Path) -> list[LabSystem]:
    """All systems of a file."""
    try:
        entries = read_document(path, SET, "the set of laboratory systems")
    except DataError as problem:
        raise DataError(f"cannot read {path}: {problem}") from None
    systems = []
    for entry in entries:
        try:
            systems.append(_system(entry))
        except (OdefinderError, ValueError) as problem:
            raise DataError(f"{path}, entry {shown(entry['id'])}: {problem}") from None
    return systems


def is_laboratory(name: str) -> bool:
    """Whether a set is a file of laboratory systems: its entries have records."""
    try:
        entries = parsed(read_bytes(Path(name), MOST_BYTES))
    except DataError:
        return False
    return isinstance(entries, list) and any(isinstance(one, dict) and "records" in one for one in entries)


def chosen(systems: Sequence[LabSystem], wanted: str | None) -> list[LabSystem]:
    """Those with the given ids or groups, with commas between them; all without any."""
    if wanted is None:
        return list(systems)
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    known = {system.id for system in systems} | {system.group for system in systems}
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no system or group {name!r}; the groups are {', '.join(GROUPS)}")
    return [system for system in systems if system.id in names or system.group in names]


def _system(entry: Mapping[str, Any]) -> LabSystem:
    inputs, conditions = tuple(entry.get("inputs", ())), tuple(entry.get("conditions", ()))
    explicit_time, hidden = bool(entry.get("explicit_time", False)), list(entry.get("hidden", ()))
    known = [*inputs, *conditions, *([TIME_NAME] if explicit_time else [])]
    system = ODESystem.from_text(entry["equations"], None, entry["parameters"], known)
    observed, order = tuple(entry["observed"]), int(entry.get("order", 1))
    velocities = [f"{name}_dot" for name in observed] if order == 2 else []
    if list(system.variables) != [*observed, *velocities, *hidden]:
        raise DataError(
            f"the states are {', '.join(system.variables)}: observed, velocities, hidden expected"
        )
    t = np.linspace(0.0, float(entry["t_end"]), int(entry["points"]))
    records = tuple(read_record(one, t) for one in entry["records"])
    unseen = read_record(entry["unseen"], t) if "unseen" in entry else None
    return LabSystem(
        entry["id"],
        entry["name"],
        entry["kind"],
        system,
        observed,
        order,
        len(hidden),
        inputs,
        conditions,
        explicit_time,
        records,
        unseen,
        t,
    )
