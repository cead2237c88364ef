"""How systems are looked for: the checked wishes of a user, and the time they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from odefinder.expressions.program import Program
from odefinder.inference.fit.knowledge import Knowledge
from odefinder.inference.propose.decode import Decoding
from odefinder.network.loading import Kind

BUDGET, MOST_BUDGET = 10.0, 60.0  # seconds: up to three variables, and at most


def default_budget(dimension: int) -> float:
    """Seconds for data of this many variables: searches of more than three take longer."""
    return min(BUDGET * max(dimension - 2, 1), MOST_BUDGET)


@dataclass(frozen=True)
class FindSettings:
    """How systems are looked for."""

    time_budget: float = BUDGET  # seconds
    decoding: Decoding = field(default_factory=Decoding)
    operators: frozenset[str] | None = None  # those that may occur, add and mul among them; None: all
    guesses: tuple[Program, ...] = ()  # in the user's units
    knowledge: Knowledge | None = None  # what the user knows of the equations
    network: bool = True
    sparse: bool = True
    weights: Path | None = None
    runtime: Kind = "onnx"
    threads: int = 1
    round_constants: bool = True  # to simple numbers where the data allow it
    spent: float = 0.0  # seconds of the budget that reading the data took
