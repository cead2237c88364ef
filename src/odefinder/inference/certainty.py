"""How certain a found system is: the error and the interval of every constant and initial value.

Computed when it is asked for, from the data and the system alone, so a fit takes no longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from odefinder.data.observations import Floats
from odefinder.inference.fit.constants import Constants, constants_of
from odefinder.inference.fit.errors import SMALLEST_ERROR, Curvature, curvature_of
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.profile import profiled
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.prepared import Prepared
from odefinder.limits.deadline import Deadline
from odefinder.system import ODESystem

LEVEL = 0.95  # of intervals
SECONDS = 20.0  # that the intervals of all constants may take
POLISH = 15  # iterations from the rounded constants to the best ones
UNKNOWN = 1e3  # an error this many times the constant says nothing


@dataclass(frozen=True)
class Constant:
    """One number of the equations.  An error or an end that is inf: the data do not determine it."""

    name: str  # k1, k2, ... in the order in which they are written; empty if it was not fitted
    equation: str  # the variable whose equation it is in
    value: float  # as it stands in the system, with its sign
    error: float  # standard error; 0 if it was not fitted
    low: float
    high: float
    rounded: bool  # to a simple number; the error is that before
    given: bool  # by the form of the equation, not by the data
    written: bool  # a factor of 1 is not

    @property
    def determined(self) -> bool:
        """Whether the data say anything about it."""
        return bool(np.isfinite(self.error))


@dataclass(frozen=True)
class Certainty:
    """A system's best constants and initial values, and the sum of squares around them."""

    system: ODESystem
    constants: Constants
    best: Fit  # in canonical units, before constants were rounded
    curvature: Curvature  # of it
    errors: Floats  # (C,) standard errors in the user's units, inf where not determined, 0 where given
    start_errors: Floats  # (trajectories, D): likewise
    free_starts: bool  # whether initial values of observed states are fitted

    @property
    def written_errors(self) -> Floats:
        """Standard errors in the order of `system.constants`."""
        return self.errors[self.constants.written]


def certainty_of(system: ODESystem, starts: Floats, given: Prepared, polish: int = POLISH) -> Certainty:
    """What the data say about a system that was fitted to them; starts (trajectories, D) as fitted.

    polish: iterations of a fit before, from rounded constants to the best ones.
    """
    scaling, data = given.scaling, given.data
    everywhere, starts = starts, starts[given.chosen]
    free_starts = given.estimate.smoothed
    constants = constants_of(system.program, scaling, data)
    begin = scaling.states(starts)
    best = fit_constants(
        constants.scaled, data, starts=begin, fit_starts=free_starts, fixed=constants.held, iterations=polish
    )
    curvature = curvature_of(best, data, fit_starts=free_starts, held=constants.held)
    all_errors = curvature.errors()
    count = len(constants.scaled.constants)
    errors = np.abs(constants.in_users_units(all_errors[:count]))
    values = np.abs(constants.values)
    errors = np.where(constants.free, np.maximum(errors, SMALLEST_ERROR * values), 0.0)
    errors[errors > UNKNOWN * np.maximum(values, 1e-300)] = np.inf
    start_errors = np.zeros(everywhere.shape)
    if len(all_errors) > count:
        start_errors[given.chosen] = scaling.original_states(all_errors[count:].reshape(starts.shape))
    return Certainty(system, constants, best, curvature, errors, np.abs(start_errors), free_starts)


def constants_table(
    found: Certainty, given: Prepared, level: float = LEVEL, seconds: float = SECONDS
) -> tuple[Constant, ...]:
    """Every constant with its error and interval, in the order of the equations."""
    constants = found.constants
    low, high = intervals(found, given, level, Deadline(seconds))
    equations = _equations(found.system, constants)
    named = constants.free
    names = np.where(named, np.char.add("k", np.cumsum(named).astype(str)), "")
    rows = zip(
        names.tolist(), equations, constants.values.tolist(), found.errors.tolist(), low.tolist(),
        high.tolist(), constants.rounded.tolist(), (~constants.free).tolist(), constants.written.tolist(),
        strict=True,
    )  # fmt: skip
    return tuple(Constant(*row) for row in rows)


def intervals(found: Certainty, given: Prepared, level: float, deadline: Deadline) -> tuple[Floats, Floats]:
    """Both ends (C,) of the interval of each constant; given ones are certain.

    Without time, it is the symmetric interval of the standard error.
    """
    constants, curvature = found.constants, found.curvature
    values = constants.values
    low, high = values.copy(), values.copy()
    if curvature.freedom <= 0 or not np.isfinite(curvature.variance):
        return np.where(constants.free, -np.inf, low), np.where(constants.free, np.inf, high)
    allowed = float(stats.t.ppf(0.5 + 0.5 * level, curvature.freedom))
    centres = constants.in_users_units(found.best.program.constants)
    exact = _exact(found)
    for k in np.flatnonzero(constants.free).tolist():
        place = int(constants.places[k])
        half = allowed * found.errors[k]
        ends = centres[k] - half, centres[k] + half
        if np.isfinite(half) and not exact[k] and not deadline.over:
            relative = profiled(
                found.best, given.data, place, found.errors[k] / abs(values[k]), allowed, curvature.variance,
                fit_starts=found.free_starts, held=constants.held, deadline=deadline,
            )  # fmt: skip
            ends = relative[0] * values[k], relative[1] * values[k]
        low[k], high[k] = min(*ends, values[k]), max(*ends, values[k])  # what is shown is possible
    return low, high


def _exact(found: Certainty) -> Bools:
    """Which constants are known so well that the sum of squares is a quadratic function around them."""
    return found.errors < 1e-4 * np.abs(found.constants.values)


def _equations(system: ODESystem, constants: Constants) -> Sequence[str]:
    """For each constant, the variable whose equation it is in."""
    components = zip(system.variables, constants.program.components(), strict=True)
    return [name for name, component in components for _ in component.constants]
