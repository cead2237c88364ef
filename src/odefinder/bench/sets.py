"""The sets of true systems that methods are compared on: published ones, synthetic ones, a user's own.

A user's own set is a JSON file, a list of systems such as

    {"id": "decay", "equations": ["-k * x"], "variables": ["x"], "parameters": {"k": 0.5},
     "initial_values": [[3.0], [1.0]]}

These are optional: the names of the variables (x0, x1, ... by default), the constants, "name", "t_end" (10),
"points" (150) and what only people read ("description", "dimension", "chaotic", "source"); chaotic sets have
more ("period" and others, see `chaotic/flows.py`).  A fit from each initial value is tested on the trajectory
from the next one, so there are at least two.  ODEBench's own file, `odebench.json`, is of this kind.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from odefinder.bench.cases import synthetic_cases
from odefinder.bench.systems import BenchSystem, odebench, strogatz
from odefinder.edge.documents import MOST_BYTES, parsed
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Either, MapOf, Number, Refused, Text, Whole, shown
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.expressions.program import Program
from odefinder.numerics.integrate import Status, integrate
from odefinder.prior.presets import prior_preset
from odefinder.system import ODESystem

# Synthetic systems and the prior that they are drawn from, that of version 0.1 so that figures compare.
# Nothing was trained or tuned on the paper's.
SYNTHETIC = {"synthetic": "plain", "synthetic-paper": "paper"}
NAMES = ("odebench", "strogatz", *SYNTHETIC)
T_END, POINTS, STROGATZ_POINTS = 10.0, 150, 100
HELD_OUT_SEED = 31_415_926  # of the synthetic systems: nothing was trained, tuned or chosen on them
CASES = 20  # synthetic systems per dimension

REQUIRED = ("id", "equations", "initial_values")
KNOWN = (*REQUIRED, "name", "variables", "parameters", "t_end", "points", "description", "dimension",
         "chaotic", "source", "period", "lyapunov", "polynomial", "study", "also_in")  # fmt: skip

RULES: dict[str, Any] = {  # what is not here is checked against other entries, below
    "id": Either("text or a number", (Text(most=1_000), Whole("a number", -(2**62), 2**62))),
    "name": Text(most=10_000),
    "parameters": MapOf(Number("a finite number", -1.7e308, 1.7e308)),
    "t_end": Number("a positive number", 0.0, 1e300, above=True),
    "points": Whole("a whole number from 10 to 10000", 10, 10_000),
}


@dataclass(frozen=True, eq=False)
class TrueSystem:
    """A system with known equations, and the times at which it is observed."""

    id: str
    name: str
    system: ODESystem
    t: np.ndarray  # (N,)
    starts: tuple[tuple[float, ...], ...]  # initial values
    fitted: int  # how many of them, counted from the first, are given to the methods

    @property
    def program(self) -> Program:
        return self.system.program

    @cached_property
    def trajectories(self) -> list[np.ndarray]:
        """The clean trajectory (N, D) from each initial value, to high accuracy."""
        result = []
        for start in self.starts:
            states, status = integrate(
                self.program, start, self.t, rtol=1e-10, atol=1e-12, max_steps=1_000_000
            )
            if status != Status.OK:
                raise DataError(
                    f"system {self.id!r} cannot be integrated from {list(start)} up to t = {self.t[-1]:g} "
                    f"({status.name.lower().replace('_', ' ')}); choose another one or a smaller t_end"
                )
            result.append(states)
        return result


def load_set(name: str, *, cases: int = CASES) -> list[TrueSystem]:
    """The systems of a set by name, or of a JSON file.  cases: synthetic systems per dimension."""
    if name == "odebench":
        return [_published(entry, POINTS) for entry in odebench()]
    if name == "strogatz":
        return [_published(entry, STROGATZ_POINTS) for entry in strogatz()]
    if name in SYNTHETIC:
        return _synthetic(cases, SYNTHETIC[name])
    return _read_file(Path(name))


def set_title(name: str) -> str:
    """The set's name for tables: a file without its folder."""
    return name if name in NAMES else Path(name).stem


def systems_digest(systems: Sequence[TrueSystem]) -> str:
    """What tells two versions of a set apart."""
    digest = hashlib.sha256()
    for system in systems:
        digest.update(f"{system.id}|{system.starts}|{system.fitted}|".encode())
        digest.update(system.program.ops.tobytes() + system.program.values.tobytes() + system.t.tobytes())
    return digest.hexdigest()[:16]


def _published(entry: BenchSystem, points: int) -> TrueSystem:
    t = np.linspace(0.0, T_END, points)
    return TrueSystem(
        str(entry.id), entry.name, entry.system(), t, entry.initial_values, len(entry.initial_values)
    )


def _synthetic(cases: int, prior: str) -> list[TrueSystem]:
    """Systems drawn from a prior, in canonical units, equally many per dimension; one fit each."""
    if cases < 1:
        raise SettingsError(
            f"cases is the number of synthetic systems of each dimension, 1 or more, got {cases}"
        )
    drawn = synthetic_cases(cases, prior=prior_preset(prior), seed=HELD_OUT_SEED)
    systems = []
    for number, case in enumerate(drawn, start=1):
        system = ODESystem(case.truth, tuple(f"x{j}" for j in range(case.dimension)))
        starts = tuple(tuple(path[0].tolist()) for path in (case.dense, case.other))
        one = TrueSystem(
            str(number), f"synthetic {case.dimension}-D", system, case.dense_times, starts, fitted=1
        )
        with suppress(DataError):  # the paper's coarse integration steps over singularities
            one.trajectories  # noqa: B018 (computed and kept)
            systems.append(one)
    return systems


# ---------------------------------------------------------------------------------------- a user's file


def _read_file(path: Path) -> list[TrueSystem]:
    if not os.path.exists(path):
        raise DataError(f"there is no set {str(path)!r}: give {', '.join(NAMES)} or a JSON file of systems")
    content = read_bytes(path, MOST_BYTES)
    try:
        entries = parsed(content)
    except DataError as problem:
        raise DataError(f"{path} is not JSON: {problem}") from None
    if not isinstance(entries, list) or not entries:
        raise DataError(
            f"{path} must hold a list of systems, [{{...}}, ...], each with {', '.join(REQUIRED)}"
        )
    systems: list[TrueSystem] = []
    for number, entry in enumerate(entries, start=1):
        try:
            system = _read_entry(entry)
            if system.id in {other.id for other in systems}:
                raise DataError("its id occurs twice; give every system an id of its own")
            system.trajectories  # noqa: B018  fail now, not in the middle of a run
        except OdefinderError as problem:
            named = f" (id {shown(entry['id'])})" if isinstance(entry, dict) and "id" in entry else ""
            raise DataError(f"{path}, entry {number}{named}: {problem}") from None
        systems.append(system)
    return systems


def _read_entry(entry: Any) -> TrueSystem:
    if not isinstance(entry, Mapping):
        raise DataError(f"a system is an object {{...}} with {', '.join(REQUIRED)}, not {shown(entry)}")
    for key in entry:
        if key not in KNOWN:
            close = difflib.get_close_matches(key, KNOWN, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"the known ones are {', '.join(KNOWN)}"
            raise DataError(f"{key!r} is not known; {advice}")
    for key in REQUIRED:
        if key not in entry:
            raise DataError(f"{key!r} is missing")
    for key, rule in RULES.items():
        if key in entry:
            try:
                rule.read(entry[key])
            except Refused as problem:
                raise DataError(problem.message(repr(key))) from None
    if str(entry["id"]) == "":
        raise DataError("'id' is empty; give text or a number")
    equations = entry["equations"]
    if not isinstance(equations, (list, str, dict)) or not equations:
        raise DataError("'equations' is a list of right-hand sides, such as [\"-k * x\"]")
    system = ODESystem.from_text(equations, _variables(entry), entry.get("parameters", {}))
    if entry.get("dimension", system.dimension) != system.dimension:
        raise DataError(
            f"'dimension' is {shown(entry['dimension'])}, but there are {system.dimension} equations"
        )
    t_end, points = float(entry.get("t_end", T_END)), entry.get("points", POINTS)
    starts = _starts(entry["initial_values"], system)
    t = np.linspace(0.0, t_end, int(points))
    return TrueSystem(str(entry["id"]), str(entry.get("name", entry["id"])), system, t, starts, len(starts))


def _variables(entry: Mapping[str, Any]) -> list[str] | None:
    """The given names; x0, x1, ... if right-hand sides come without names."""
    names, equations = entry.get("variables"), entry["equations"]
    if names is not None and not isinstance(names, (list, dict)):
        raise DataError("'variables' is a list of names, or an object of names and meanings")
    if names is None and isinstance(equations, list) and not any("=" in str(text) for text in equations):
        return [f"x{j}" for j in range(len(equations))]
    return None if names is None else list(names)


def _starts(values: Any, system: ODESystem) -> tuple[tuple[float, ...], ...]:
    shown = ", ".join(system.variables)
    advice = (
        f"a list of lists with a number for each variable ({shown}), such as {[[1.0] * system.dimension]}"
    )
    try:
        starts = tuple(tuple(float(value) for value in start) for start in values)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"'initial_values' is {advice}") from None
    if not starts or any(len(start) != system.dimension or not np.isfinite(start).all() for start in starts):
        raise DataError(f"'initial_values' is {advice}")
    if len(starts) < 2 or len(set(starts)) < len(starts):
        raise DataError(
            "at least two different initial values are needed: a fit is also tested on the next one"
        )
    return starts
