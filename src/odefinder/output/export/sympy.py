"""Source that builds the equations for SymPy, with constants as symbols and their values beside."""

from __future__ import annotations

import keyword
from collections.abc import Sequence

from odefinder.data.roles import TIME_NAME
from odefinder.output.export.language import Language, script
from odefinder.output.export.problem import Problem
from odefinder.output.export.python import FUNCTIONS

SYMPY = Language(
    reserved=frozenset(
        [*keyword.kwlist, *keyword.softkwlist, "sp", "t", "values", "equations", "start", "numeric", "name"]
    ),
    power="{0}**{1}",
    functions={name: f"sp.{name.capitalize() if name == 'abs' else name}" for name in FUNCTIONS},
    undefined="sp.nan",
    infinite="sp.oo",
)


def sympy(problem: Problem) -> str:
    """The source: `equations` has the right-hand sides by variable, `values` the constants."""
    words = script(problem, SYMPY)
    lines = [*words.header(), "", "import sympy as sp", ""]
    lines += _symbols([*words.variables, *(one.name for one in words.inputs)])
    lines += _symbols([TIME_NAME] if TIME_NAME in problem.inputs else [])
    lines += _symbols([one.name for one in words.known()])
    lines += ["", "equations = {"]
    for name, formula in zip(words.variables, words.formulas, strict=True):
        lines.append(words.wrapped(f"    {name}: sp.sympify({formula}),"))
    lines += ["}", "values = {", *(f"    {one.name}: {one.value!r}," for one in words.known()), "}"]
    lines += ["start = {"]
    lines += [f"    {name}: {value!r}," for name, value in zip(words.variables, problem.start, strict=True)]
    lines += ["}", "numeric = {name: one.subs(values) for name, one in equations.items()}", ""]
    return "\n".join(lines)


def _symbols(names: Sequence[str]) -> list[str]:
    return [f'{name} = sp.Symbol("{name}", real=True)' for name in names]
