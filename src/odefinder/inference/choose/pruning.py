"""Terms that a fit does not need: dropped one after the other, as long as the criterion gains.

Which one to try first follows from the curvature of the cost: setting a coefficient c to 0 and fitting the
others again costs about c^2 / (H^-1)_cc.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import CONST, MUL, Program, component_bounds, concatenate
from odefinder.expressions.terms import sum_of, term_bounds, terms_of
from odefinder.inference.fit.refine import Fit, expansion

TRIES = 3  # terms whose loss is tried before a system counts as pruned


@dataclass(frozen=True)
class Term:
    """A term of an equation, and what its loss would cost."""

    component: int
    place: int  # among the terms of its equation
    loss: float


Refit = Callable[[Fit, Program], tuple[Fit, float] | None]


def pruned(fit: Fit, data: Observations, refit: Refit, value: float) -> list[Fit]:
    """Ever smaller systems, each with a smaller criterion than the one before.

    refit: fits a smaller system, starting from what is known, and returns its criterion, too; None to end.
    value: the criterion of the first.
    """
    found: list[Fit] = []
    while True:
        for term in weakest(fit, data)[:TRIES]:
            smaller = without(fit.program, term)
            again = refit(fit, smaller)
            if again is None:
                return found
            if again[1] < value:
                fit, value = again
                found.append(fit)
                break
        else:
            return found


def weakest(fit: Fit, data: Observations) -> list[Term]:
    """The terms of a system in explicit form, the cheapest to lose first; a single one is not listed."""
    losses = _losses(fit, data)
    found = []
    constants = np.cumsum(fit.program.ops == CONST) - 1
    for component, (first, last) in enumerate(component_bounds(fit.program.ops)):
        if component in data.velocities:
            continue
        equation = Program(fit.program.ops[first:last], fit.program.values[first:last])
        bounds = term_bounds(equation)
        for place, (start, _) in enumerate(bounds if len(bounds) > 1 else []):
            own = first + start + (equation.ops[start] == MUL)  # the coefficient comes first
            if fit.program.ops[own] == CONST:
                found.append(Term(component, place, float(losses[constants[own]])))
    return sorted(found, key=lambda term: term.loss)


def without(program: Program, term: Term) -> Program:
    """The system without a term."""
    components = program.components()
    parts = terms_of(components[term.component])
    del parts[term.place]
    components[term.component] = sum_of(parts)
    return concatenate(components)


def _losses(fit: Fit, data: Observations) -> Floats:
    """By how much the sum of squares would grow without each constant, the others fitted again."""
    _, _, hessian = expansion(fit.program, data, fit.starts, fit_starts=False)
    count = len(fit.program.constants)
    if not np.isfinite(hessian).all():
        return np.abs(fit.program.constants)
    length = np.sqrt(np.where(np.diag(hessian) > 0.0, np.diag(hessian), 1.0))
    # A ridge: directions without any effect, such as the scale of a hidden state, cost nothing.
    scaled = hessian / np.outer(length, length) + 1e-10 * np.eye(len(hessian))
    variance = np.diag(np.linalg.inv(scaled))[:count] / length[:count] ** 2
    return fit.program.constants**2 / np.maximum(variance, 1e-300)
