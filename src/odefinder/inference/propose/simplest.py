"""The system that always exists: every variable changes at one rate, x' = c.

It takes no search and can always be integrated, so that a fit ends with a system however short its time was.
"""

from __future__ import annotations

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import CONST, concatenate
from odefinder.expressions.terms import node
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.limits.alarm import no_alarm


def simplest(data: Observations, starts: Floats) -> Fit:
    """The rates that explain the data best from these initial values (trajectories, D), and the fit.

    Where velocities are variables, they are what is constant: x' = v, v' = 0.
    """
    begin = np.repeat(starts, np.diff(data.bounds), axis=0)
    first = np.repeat(data.times[data.bounds[:-1]], np.diff(data.bounds))
    elapsed = (data.times - first)[:, None]
    seen = np.isfinite(data.states)
    moved = np.where(seen, data.states - begin, 0.0)
    square = (np.where(seen, elapsed, 0.0) ** 2).sum(axis=0)
    rates = (moved * elapsed).sum(axis=0) / np.where(square > 0.0, square, 1.0)
    rates = np.where(np.isfinite(rates) & ~data.unseen, rates, 0.0)
    fitted = starts.copy()
    equations = []
    for state in range(data.dimension):
        given = data.given_equation(state)
        if given is not None and state in data.velocities:
            velocity = data.velocities[state]
            factor = float(given.constants[0])
            fitted[:, velocity] = rates[state] / factor if data.unseen[velocity] else fitted[:, velocity]
        equations.append(given or node(CONST, float(rates[state])))
    if data.given is not None:  # what is known of the equations counts, too
        program = data.given.with_numbers(concatenate(equations))
        with no_alarm():
            return fit_constants(program, data, starts=fitted, iterations=0)
    left = np.where(seen, (moved - rates * elapsed) / data.scale, 0.0)
    return Fit(concatenate(equations), fitted, float((left**2).sum()) / max(data.count, 1))
