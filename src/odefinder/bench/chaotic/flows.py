"""The chaotic flows of a set such as `benchmarks/sets/chaotic.json`, with what is known about each.

Beyond what every set has (`bench/sets.py`), an entry says its "period" (the dominant one), the "lyapunov"
exponents of its source, whether it is "polynomial", whether it belongs to the "study" of 70 systems, and
which systems of other sets it is "also_in".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.edge.documents import MOST_BYTES, parsed
from odefinder.edge.reading import read_bytes
from odefinder.errors import DataError
from odefinder.expressions.program import Program
from odefinder.numerics.integrate import Status, integrate
from odefinder.system import ODESystem

Floats = NDArray[np.float64]

MOST_STEPS = 10_000_000


@dataclass(frozen=True, eq=False)
class Flow:
    """A chaotic system."""

    id: str
    name: str
    system: ODESystem
    start: tuple[float, ...]  # on the attractor, or close to it
    period: float
    lyapunov: tuple[float, ...]  # of the source, rough in places; see docs/chaos.md
    polynomial: bool
    study: bool
    also_in: tuple[str, ...]

    @property
    def program(self) -> Program:
        return self.system.program

    def trajectory(self, start: Floats, t: Floats) -> Floats:
        """The states (N, D) from a start, to high accuracy."""
        scale = float(np.abs(start).max()) + 1e-12
        states, status = integrate(
            self.program, start, t, rtol=1e-10, atol=1e-12 * scale, max_steps=MOST_STEPS
        )
        if status != Status.OK:
            raise DataError(f"{self.id} cannot be integrated from {start.tolist()}: {status.message}")
        return states


def read_flows(path: Path) -> list[Flow]:
    """All flows of a file."""
    try:
        return [_flow(entry) for entry in parsed(read_bytes(path, MOST_BYTES))]
    except (DataError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"cannot read {path} as a set of chaotic flows: {problem!r}") from None


def _flow(entry: dict[str, Any]) -> Flow:
    return Flow(
        entry["id"],
        entry["name"],
        ODESystem.from_text(entry["equations"], list(entry["variables"]), entry["parameters"]),
        tuple(entry["initial_values"][0]),
        float(entry["period"]),
        tuple(entry["lyapunov"]),
        bool(entry["polynomial"]),
        bool(entry["study"]),
        tuple(entry["also_in"]),
    )
