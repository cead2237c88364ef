"""Systems for other programs: one file for each target, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from odefinder.data.names import did_you_mean
from odefinder.edge.rules import shown
from odefinder.errors import SettingsError
from odefinder.output.export.julia import julia
from odefinder.output.export.latex import latex
from odefinder.output.export.matlab import matlab
from odefinder.output.export.modelica import modelica
from odefinder.output.export.problem import Problem, problem
from odefinder.output.export.python import python
from odefinder.output.export.r import r
from odefinder.output.export.sbml import sbml
from odefinder.output.export.stan import stan
from odefinder.output.export.sympy import sympy
from odefinder.output.export.text import text

__all__ = ["TARGETS", "Problem", "Target", "export", "problem", "target"]


@dataclass(frozen=True)
class Target:
    """Something to export to."""

    name: str
    title: str  # for people
    suffix: str  # of files
    write: Callable[[Problem], str]


TARGETS = {
    one.name: one
    for one in (
        Target("text", "plain text", ".txt", text),
        Target("latex", "LaTeX", ".tex", latex),
        Target("python", "Python (NumPy, SciPy)", ".py", python),
        Target("sympy", "SymPy", ".py", sympy),
        Target("julia", "Julia (DifferentialEquations.jl)", ".jl", julia),
        Target("matlab", "MATLAB, Octave", ".m", matlab),
        Target("r", "R (deSolve)", ".R", r),
        Target("stan", "Stan", ".stan", stan),
        Target("sbml", "SBML", ".xml", sbml),
        Target("modelica", "Modelica", ".mo", modelica),
    )
}


def target(name: str) -> Target:
    """The target of this name, or an error that lists them all."""
    found = TARGETS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        hint = did_you_mean(name, list(TARGETS)) if isinstance(name, str) else ""
        raise SettingsError(f"there is no target {shown(name)}{hint}; choose one of {', '.join(TARGETS)}")
    return found


def export(what: Problem, name: str) -> str:
    """The problem as text for a target."""
    return target(name).write(what)
