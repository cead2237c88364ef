"""How a method's answer is judged, and what is recorded about it.

Reconstruction: R2 on the clean trajectory at all times, from its clean initial value.  Generalization: R2 on
the trajectory from the other initial value.  Both integrate tightly (`metrics.trajectory_r2`): with loose
tolerances even the true equations of some systems fail.  R2 is None where there is none: the fit failed, or
its system cannot be integrated.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np

from odefinder.bench.metrics import trajectory_r2
from odefinder.bench.tasks import Task
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.program import Program
from odefinder.system import ODESystem


class Status(StrEnum):
    """What came of a fit."""

    OK = "ok"
    INVALID = "invalid"  # no answer, or not a system of the right dimension
    DIVERGED = "diverged"  # the system cannot be integrated from the clean initial value
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"  # an exception, or the process died
    NOT_RUN = "not run"  # something that the method needs is missing


FAILURES = tuple(status for status in Status if status not in (Status.OK, Status.NOT_RUN))


@dataclass(frozen=True)
class Fitted:
    """What a process that ran a method reports."""

    status: Status
    message: str = ""
    program: Program | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0  # user and system time, including child processes
    memory_mb: float = 0.0  # the largest resident memory, libraries included


@dataclass(frozen=True)
class Result:
    """One row of the results.  Between two runs with the same seed, only the last three fields differ."""

    method: str
    set: str
    system: str
    name: str
    dimension: int
    initial: int
    sigma: float
    rho: float
    seed: int
    status: str
    message: str
    reconstruction: float | None
    generalization: float | None
    same_structure: bool
    complexity: int | None
    equations: str  # exact, as `ODESystem.from_text` reads them
    wall_s: float
    cpu_s: float
    memory_mb: float

    @property
    def key(self) -> tuple[str, str, int, float, float]:
        """What identifies it within a run."""
        return self.method, self.system, self.initial, self.sigma, self.rho


MEASURED = ("wall_s", "cpu_s", "memory_mb")
COLUMNS = tuple(field.name for field in fields(Result))


def result_key(method: str, task: Task) -> tuple[str, str, int, float, float]:
    """The key that the result of a fit will have."""
    return method, task.system, task.initial, task.sigma, task.rho


def judge(method: str, task: Task, fitted: Fitted) -> Result:
    """Compare what was fitted with the truth."""
    program, status, message = fitted.program, fitted.status, fitted.message
    reconstruction = generalization = complexity = None
    same, equations = False, ""
    if status == Status.OK and program is not None:
        equations = "; ".join(ODESystem(program, task.variables).to_text().splitlines())
        complexity = program.complexity
        same = same_structure(program, task.truth)
        reconstruction = _finite(trajectory_r2(program, task.clean[0], task.t, task.clean))
        generalization = _finite(trajectory_r2(program, task.other[0], task.t, task.other))
        if reconstruction is None:
            status, message = Status.DIVERGED, "the system cannot be integrated from the clean initial value"
    return Result(
        method=method,
        set=task.set,
        system=task.system,
        name=task.name,
        dimension=len(task.variables),
        initial=task.initial,
        sigma=task.sigma,
        rho=task.rho,
        seed=task.seed,
        status=str(status),
        message=message,
        reconstruction=reconstruction,
        generalization=generalization,
        same_structure=same,
        complexity=complexity,
        equations=equations,
        wall_s=round(fitted.wall_s, 3),
        cpu_s=round(fitted.cpu_s, 3),
        memory_mb=round(fitted.memory_mb, 1),
    )


def same_structure(program: Program, truth: Program) -> bool:
    """Whether two systems, in canonical form, differ only in the values of constants."""
    try:
        return skeleton(program) == skeleton(truth)
    except ExpressionError:  # no finite canonical form
        return False


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
