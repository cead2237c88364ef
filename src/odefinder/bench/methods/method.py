"""What a method of the benchmark is: a way from one observed trajectory to a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import Program

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Method:
    """A method by name.  `fit` itself imports libraries that are slow to import."""

    name: str  # as on the command line, such as "sindy-poly"
    title: str  # as in tables and figures, such as "SINDy (poly)"
    fit: Callable[[Floats, Floats, int], Program]  # times (N,), states (N, D), seed -> a system, same units
    needs: tuple[str, ...] = ()  # modules beyond the core
    install: str = ""  # how to get them
    settings: dict[str, object] = field(default_factory=dict, hash=False)  # for the report
    # Called once before all fits, in the process that they are forked from, for what is slow to import or
    # compile, such as `load_compiled`.  The modules of `needs` are imported there anyway.
    prepare: Callable[[], None] | None = None
    listed: bool = True  # False: a variant for one figure, left out of lists and comparisons

    @property
    def missing(self) -> str | None:
        """What prevents it from running here, or None."""
        absent = [name for name in self.needs if find_spec(name) is None]
        if not absent:
            return None
        return f"{self.title} needs {', '.join(absent)}; {self.install}"


def load_compiled() -> None:
    """Import and compile what most methods use: the integrator, the evaluator and the canonical form."""
    from odefinder.bench.metrics import trajectory_r2
    from odefinder.expressions.canonical import skeleton
    from odefinder.expressions.program import make_program
    from odefinder.numerics.evaluate import evaluate

    program = make_program([1], [0.0])  # x' = x
    t = np.linspace(0.0, 1.0, 5)
    trajectory_r2(program, np.ones(1), t, np.exp(t)[:, None])
    evaluate(program, np.ones((5, 1)))
    skeleton(program)
