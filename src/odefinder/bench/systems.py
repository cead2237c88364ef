"""The benchmark systems: ODEBench (appendix A of the paper) and the older Strogatz set.

The data are the two JSON files next to this module, which people can read too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from odefinder.system import ODESystem


@dataclass(frozen=True)
class BenchSystem:
    """One published system: its equations as text, its constants and its initial values."""

    id: int | str  # a number in ODEBench, a name such as "bacres" in the Strogatz set
    name: str
    description: str  # ODEBench: the paper's wording
    dimension: int
    variables: dict[str, str] = field(hash=False)  # "x0" -> what it means
    equations: tuple[str, ...]  # the right-hand sides, in the order of the variables
    parameters: dict[str, float] = field(hash=False)  # "c0" -> value
    initial_values: tuple[tuple[float, ...], ...]
    chaotic: bool
    source: str

    def system(self) -> ODESystem:
        """The system with the published values in place of the parameters."""
        from odefinder.system import ODESystem

        return ODESystem.from_text(
            list(self.equations), variables=list(self.variables), constants=self.parameters
        )

    def trajectories(self, t: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The clean trajectory (points, dimension) from each initial value, to high accuracy."""
        from odefinder.numerics.integrate import integrate

        program = self.system().program
        return [
            integrate(program, x0, t, rtol=1e-10, atol=1e-12, max_steps=1_000_000)[0]
            for x0 in self.initial_values
        ]


def odebench() -> list[BenchSystem]:
    """The 63 systems of ODEBench, in the paper's order, each with two initial values."""
    return _read("odebench.json")


def strogatz() -> list[BenchSystem]:
    """The seven two-dimensional systems of the Strogatz set, each with four initial values."""
    return _read("strogatz.json")


def _read(file_name: str) -> list[BenchSystem]:
    entries: list[dict[str, Any]] = json.loads(
        files("odefinder.bench").joinpath(file_name).read_text(encoding="utf-8")
    )
    for entry in entries:
        entry["equations"] = tuple(entry["equations"])
        entry["initial_values"] = tuple(tuple(values) for values in entry["initial_values"])
    return [BenchSystem(**entry) for entry in entries]
