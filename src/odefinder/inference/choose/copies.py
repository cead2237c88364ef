"""Systems of identical units: one equation, and for all other units the same with the variables exchanged.

On one orbit a short polynomial may equal the second half of a central force, so that the whole would rarely
be put together from the best equations of each variable.
"""

from __future__ import annotations

from contextlib import suppress
from heapq import nsmallest

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.equations import Equations
from odefinder.inference.fit.integral import ComponentFit, given_fit, joined, match_component
from odefinder.inference.propose.sharing import MOST, exchanged, renamed


def systems_of_copies(
    data: Observations, equations: Equations, factors: Floats, kept: int, count: int
) -> list[Program]:
    """The `count` best of them in integral form, made from `kept` equations of each unit.

    factors: see `renamed`.  The copies become equations of their own, too.
    """
    units = [state for state in range(data.dimension) if state not in data.closed]
    if not 2 <= len(units) <= MOST:
        return []
    found: list[tuple[float, list[ComponentFit]]] = []
    for own in units:
        for fit in equations.best_fits(own, kept):
            copies = {other: _copy(fit.program, own, other, data, equations, factors) for other in units}
            parts = [given_fit(data, state) or copies[state] or fit for state in range(data.dimension)]
            if all(copies[other] is not None for other in units if other != own):
                found.append((sum(part.score for part in parts), parts))
    return [joined(parts, data) for _, parts in nsmallest(count, found, key=lambda pair: pair[0])]


def _copy(
    equation: Program, own: int, other: int, data: Observations, equations: Equations, factors: Floats
) -> ComponentFit | None:
    """The equation of one unit for another one, fitted in integral form; None if there is none."""
    if own == other:
        return None
    positions = {velocity: state for state, velocity in data.velocities.items()}
    with suppress(ExpressionError):
        copy = Form.of(renamed(equation, exchanged(own, other, positions), factors, own)).program
        fit = match_component(copy, other, data, equations.estimate)
        equations.keep(other, fit, "search")
        return fit
    return None
