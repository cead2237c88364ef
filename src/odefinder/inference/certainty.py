"""How certain a found system is: the error and the interval of every constant and initial value.

Computed when it is asked for, from the data and the system alone, so a fit takes no longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.constants import Constants, constants_of
from odefinder.inference.fit.errors import SMALLEST_ERROR, Curvature, curvature_of
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.profile import Profile
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.law import Law
from odefinder.inference.parameters import Parameters, parameters_of
from odefinder.inference.prepared import Prepared
from odefinder.limits.deadline import Deadline
from odefinder.limits.processors import linear_algebra
from odefinder.system import ODESystem

LEVEL = 0.95  # of intervals
SECONDS = 20.0  # that the intervals of all constants may take
POLISH = 200  # iterations from the rounded constants to the best ones; nearly always far fewer are needed
POLISHING = 3.0  # seconds for that, at most
UNKNOWN = 1e3  # an error this many times the constant says nothing


@dataclass(frozen=True)
class Constant:
    """One number of the equations.  An error or an end that is inf: the data do not determine it."""

    name: str  # of the user, or k1, k2, ... in the order of the equations; empty if it was not fitted
    equation: str  # the variable whose equation it is in, or several
    value: float  # as it stands in the system, with its sign
    error: float  # standard error; 0 if it was not fitted
    low: float
    high: float
    rounded: bool  # to a simple number; the error is that before
    given: bool  # by the form of the equation or by the user, not by the data
    written: bool  # a factor of 1 is not
    named: bool = False  # its name stands in the equations of the law, its sign does not
    fixed: bool = False  # by the user
    tied: bool = False  # several constants that were found to be equal
    bound: bool = False  # at a bound that the user gave
    trajectory: str = ""  # whose constant it is, if it varies

    @property
    def shown(self) -> float:
        """The value under the equations: the sign of one without a name stands there."""
        return self.value if self.named else abs(self.value)

    @property
    def shown_interval(self) -> tuple[float, float]:
        """The interval of that."""
        turned = self.value < 0.0 and not self.named
        return (-self.high, -self.low) if turned else (self.low, self.high)

    @property
    def determined(self) -> bool:
        """Whether the data say anything about it."""
        return bool(np.isfinite(self.error))


@dataclass(frozen=True)
class Certainty:
    """A system's best constants and initial values, and the sum of squares around them."""

    system: ODESystem
    constants: Constants | Parameters
    data: Observations  # in canonical units, with what is known of the equations
    best: Fit  # in canonical units, before constants were rounded
    curvature: Curvature  # of it
    errors: Floats  # (C,) standard errors in the user's units, inf where not determined, 0 where given
    start_errors: Floats  # (trajectories, D): likewise
    free_starts: bool  # whether initial values of observed states are fitted

    @property
    def explicit(self) -> ODESystem:
        """The system with a place for every constant: its name, or a number where they have none."""
        if isinstance(self.constants, Parameters):
            return self.constants.law.system
        return ODESystem(self.constants.program, self.system.variables, self.system.inputs)

    @property
    def named_errors(self) -> dict[str, float | tuple[float, ...]]:
        """Standard errors of named constants; of one that varies, for each fitted trajectory."""
        own = self.constants
        if isinstance(own, Constants):
            return {}
        found: dict[str, float | tuple[float, ...]] = {}
        for k, one in enumerate(own.law.parameters):
            errors = self.errors[own.numbers == k].tolist()
            found |= dict.fromkeys((one.name, *one.equal), tuple(errors) if one.varied else errors[0])
        return found

    @property
    def written_errors(self) -> Floats:
        """Standard errors in the order of `system.constants`."""
        constants = self.constants
        if isinstance(constants, Constants):
            return self.errors[constants.written]
        return _sensible(constants.written_errors(self.system, self.curvature), self.system.constants)


def certainty_of(
    system: ODESystem, starts: Floats, given: Prepared, polish: int = POLISH, law: Law | None = None
) -> Certainty:
    """What the data say about a system that was fitted to them; starts (trajectories, D) as fitted.

    polish: iterations of a fit before, from rounded constants to the best ones.  law: the system with its
    parameters, where they are not the numbers of the system.
    """
    scaling, data = given.scaling, given.data
    constants: Constants | Parameters
    if law is None:
        constants = constants_of(system.program, scaling, data)
    else:
        constants, data = parameters_of(law, given)
    everywhere, starts = starts, starts[given.chosen]
    free_starts = given.estimate.smoothed
    begin = scaling.states(starts)
    with Deadline(POLISHING):
        best = fit_constants(
            constants.scaled, data, starts=begin, fit_starts=free_starts, fixed=constants.held,
            iterations=polish, bends=True,
        )  # fmt: skip
    with linear_algebra(1):
        curvature = curvature_of(best, data, fit_starts=free_starts, held=constants.held)
        all_errors = curvature.errors()
    count = len(constants.scaled.constants)
    errors = np.abs(constants.in_users_units(all_errors[:count]))
    errors = np.where(constants.free, np.maximum(errors, SMALLEST_ERROR * np.abs(constants.values)), 0.0)
    errors = _sensible(errors, constants.values)
    start_errors = np.zeros(everywhere.shape)
    if len(all_errors) > count:
        start_errors[given.chosen] = scaling.original_states(all_errors[count:].reshape(starts.shape))
    return Certainty(system, constants, data, best, curvature, errors, np.abs(start_errors), free_starts)


def _sensible(errors: Floats, values: Floats) -> Floats:
    """The errors; inf where they are far larger than the value."""
    return np.where(errors > UNKNOWN * np.maximum(np.abs(values), 1e-300), np.inf, errors)


def constants_table(found: Certainty, given: Prepared, level: float = LEVEL) -> tuple[Constant, ...]:
    """Every constant with its error and interval, in the order of the equations."""
    constants = found.constants
    low, high = intervals(found, level, Deadline(SECONDS))
    if isinstance(constants, Parameters):
        return _named_rows(found, constants, given, low, high)
    equations = _equations(found.system, constants)
    named = constants.free
    names = np.where(named, np.char.add("k", np.cumsum(named).astype(str)), "")
    rows = zip(
        names.tolist(), equations, constants.values.tolist(), found.errors.tolist(), low.tolist(),
        high.tolist(), constants.rounded.tolist(), (~constants.free).tolist(), constants.written.tolist(),
        strict=True,
    )  # fmt: skip
    return tuple(Constant(*row) for row in rows)


def intervals(found: Certainty, level: float, deadline: Deadline) -> tuple[Floats, Floats]:
    """Both ends (C,) of the interval of each constant; given ones are certain.

    Without time, it is the symmetric interval of the standard error.
    """
    constants, curvature = found.constants, found.curvature
    values, units, (lowest, highest) = constants.values, constants.units, constants.bounds
    low, high = values.copy(), values.copy()
    if curvature.freedom <= 0 or not np.isfinite(curvature.variance):
        return np.where(constants.free, lowest, low), np.where(constants.free, highest, high)
    allowed = float(stdtrit(curvature.freedom, 0.5 + 0.5 * level))  # quantile of t
    centres = constants.in_users_units(found.best.program.constants)
    exact = _exact(found)
    profile = Profile(
        found.best, found.data, curvature.matrix, curvature.variance, allowed, found.free_starts,
        constants.held, deadline,
    )  # fmt: skip
    for k in np.flatnonzero(constants.free).tolist():
        place = int(constants.places[k])
        half = allowed * found.errors[k]
        ends = centres[k] - half, centres[k] + half
        if np.isfinite(half) and not exact[k] and not deadline.over:
            bounds = _bounds(lowest[k] / units[k], highest[k] / units[k])
            relative = profile.interval(place, found.errors[k] / abs(units[k]), bounds)
            ends = relative[0] * units[k], relative[1] * units[k]
        low[k], high[k] = min(*ends, values[k]), max(*ends, values[k])  # what is shown is possible
    return np.maximum(low, lowest), np.minimum(high, highest)


def _bounds(one: float, other: float) -> tuple[float, float]:
    """The lower first: a negative unit turns them round."""
    return min(one, other), max(one, other)


def _named_rows(
    found: Certainty, own: Parameters, given: Prepared, low: Floats, high: Floats
) -> tuple[Constant, ...]:
    """The parameters of a law, and what the user fixed."""
    rows = []
    for k, (number, trajectory) in enumerate(
        zip(own.numbers.tolist(), own.trajectories.tolist(), strict=True)
    ):
        one = own.law.parameters[number]
        rows.append(
            Constant(
                name=" = ".join([one.name, *one.equal]),
                equation=own.equations[k],
                value=float(own.values[k]),
                error=float(found.errors[k]),
                low=float(low[k]),
                high=float(high[k]),
                rounded=bool(own.rounded[k]),
                given=False,
                written=True,
                named=True,
                tied=one.tied,
                bound=bool(own.at_bound[k]),
                trajectory=given.dataset.labels[trajectory] if trajectory >= 0 else "",
            )
        )
    fixed = [
        Constant(name, "", value, 0.0, value, value, False, True, True, named=True, fixed=True)
        for name, value in own.law.fixed
    ]
    return (*rows, *fixed)


def _exact(found: Certainty) -> Bools:
    """Which constants are known so well that the sum of squares is a quadratic function around them."""
    return found.errors < 1e-4 * np.abs(found.constants.values)


def _equations(system: ODESystem, constants: Constants) -> Sequence[str]:
    """For each constant, the variable whose equation it is in."""
    components = zip(system.variables, constants.program.components(), strict=True)
    return [name for name, component in components for _ in component.constants]
