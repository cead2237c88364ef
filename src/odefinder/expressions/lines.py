"""Equations as people write them, x' = ... or dx/dt = ..., as variables and right-hand sides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError
from odefinder.expressions.parse import check_names
from odefinder.expressions.program import MAX_NODES

_LEFT_SIDE = re.compile(r"(?:d(?P<leibniz>\w+)\s*/\s*dt|(?P<newton>\w+)\s*'\s*(?:\(\s*t\s*\))?)")


def read_equations(equations: Sequence[str] | Mapping[str, str] | str) -> list[tuple[str | None, str]]:
    """Pairs of variable (None if not given) and right-hand side."""
    if isinstance(equations, Mapping):
        return [(_left_side(name, bare=True), right_side) for name, right_side in equations.items()]
    if isinstance(equations, str):
        lines = [re.sub("#.*", "", line).strip() for line in re.split("[\n;]", equations)]
        equations = [line for line in lines if line]
    pairs: list[tuple[str | None, str]] = []
    for equation in listed(equations, "equations"):
        left, equals, right = equation.partition("=") if isinstance(equation, str) else ("", "", equation)
        pairs.append((_left_side(left), right) if equals else (None, equation))
    return pairs


def listed(values: Any, what: str) -> list[Any]:
    """The values as a list; the error says what else was given."""
    entries = items(values)
    if entries is None:
        raise ExpressionError(f"{what} are given as a list, not as {shown(values)}")
    return entries


def _left_side(text: str, bare: bool = False) -> str:
    """The variable of `x'` or `dx/dt` (or of a bare `x`)."""
    match = _LEFT_SIDE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match:
        return match["leibniz"] or match["newton"]
    if bare:
        return text
    advice = "write x' = ... or dx/dt = ... (for x'' take a second variable: x' = v, v' = ...)"
    raise ExpressionError(f"the left-hand side {shown(text.strip())} is not understood; {advice}")


def sorted_equations(
    pairs: Sequence[tuple[str | None, Any]], variables: Sequence[str] | None
) -> tuple[tuple[str, ...], list[Any]]:
    """The variables and their right-hand sides, in the order of the variables."""
    if not pairs:
        raise ExpressionError("there are no equations; write for example x' = -x")
    if len(pairs) > MAX_NODES:
        raise ExpressionError(f"there are {len(pairs)} equations; the limit is {MAX_NODES}")
    named = {name: right_side for name, right_side in pairs if name is not None}
    if not named:
        if variables is None:
            raise ExpressionError("name the variables (variables=[...]), or write the equations as x' = ...")
        names = check_names(variables)
        if len(names) != len(pairs):
            raise ExpressionError(
                f"there are {len(pairs)} equations for {len(names)} variables ({', '.join(names)}); "
                "every variable needs one equation"
            )
        return names, [right_side for _, right_side in pairs]
    if any(name is None for name, _ in pairs):
        raise ExpressionError("some equations have a left-hand side and some do not; write all as x' = ...")
    written = check_names([name for name, _ in pairs if name is not None])
    names = written if variables is None else check_names(variables)
    known = set(names)
    for name in names:
        if name not in named:
            raise ExpressionError(f"there is no equation for the variable {name!r}; write {name}' = ...")
    for name in written:
        if name not in known:
            raise ExpressionError(f"there is an equation for {name!r}, which is not one of the variables")
    return names, [named[name] for name in names]
