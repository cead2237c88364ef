"""What is said about a system is what it does: R2 is that of its simulation from its own initial values.

Systems are fitted in canonical units, with tolerances that a search can afford, on the points that it reads.
What is claimed of them in the end is computed as users would compute it, on all of their data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.observations import Ints, Observations
from odefinder.data.units import Scaling
from odefinder.expressions.program import concatenate
from odefinder.inference.known_parts import Named, for_all_trajectories, with_varied
from odefinder.inference.propose.library import equation
from odefinder.inference.remarks import Explanation
from odefinder.limits.alarm import alarm_rings
from odefinder.numerics.integrate import integrate
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.numerics.signals import NO_SIGNALS
from odefinder.simulation.trajectory import Task, trajectory
from odefinder.system import ODESystem

ONE_BY_ONE = 50  # trajectories up to which each is simulated in units of its own, as `simulate` does
RTOL, MAX_STEPS, BOUND = 1e-8, 100_000, 1e12  # as `simulate`
UNLIKELY = 0.001  # the weight of the last resort
CLEARLY = 0.01  # a difference of R2 that counts

Constants = Mapping[str, float | tuple[float, ...]]
NO_NAMES: Constants = {}


def in_users_units(dataset: Dataset) -> Observations:
    """All values, as users have them."""
    data = Observations.joined(dataset.times, dataset.states)
    return replace(data, signals=dataset.all_signals() if dataset.known or dataset.doses else ())


def as_fitted(dataset: Dataset, data: Observations, scaling: Scaling) -> Observations:
    """The data as they are fitted, in the user's units; data: in canonical ones."""
    original = Observations.joined(dataset.times, dataset.states)
    return replace(
        original,
        states=np.where(np.isfinite(data.states), original.states, np.nan),
        errors=None if data.errors is None else scaling.original_states(data.errors),
        least_error=data.least_error,  # relative to the spread, so the same in all units
        roles=data.roles,
        derivative_of=data.derivative_of,
        known=None if data.known is None else data.known * scaling.factors[scaling.dimension :],
        signals=dataset.all_signals() if data.signals else (),
        start_limits=None if data.start_limits is None else scaling.original_states(data.start_limits),
    )


def predictions(system: ODESystem, starts: Floats, data: Observations, scaling: Scaling) -> Floats | None:
    """The states (N, D) at all points, from initial values (trajectories, D); None if an alarm ended it.

    data: in the user's units; scaling: canonical ones.
    """
    many = len(starts) > ONE_BY_ONE and not data.signals
    program = scaling.to_scaled(system.program) if many else system.program
    paths = []
    for k, (times, _) in enumerate(data.trajectories()):
        if many:  # finding units for each would take too long
            start = scaling.states(starts[k : k + 1])[0]
            path, _ = integrate(program, start, scaling.times(times), rtol=RTOL, bound=BOUND)
        else:
            driven = data.signals_of(k) or NO_SIGNALS
            path = trajectory(Task(program, starts[k], times, driven, RTOL, MAX_STEPS)).states
        if alarm_rings():
            return None
        paths.append(path)
    states = np.concatenate(paths)
    return scaling.original_states(states) if many else states


def claim(
    system: ODESystem, starts: Floats, data: Observations, scaling: Scaling, constants: Constants = NO_NAMES
) -> float | None:
    """R2 of a system on data in the user's units; None if there was no time for it.

    constants: those with names; some have another value in each trajectory.
    """
    predicted = predictions(system, starts, with_varied(data, constants, system.inputs), scaling)
    return None if predicted is None else variance_weighted_r2(data.states, predicted)


def rounded_or_not(
    rounded: tuple[Named, Floats], plain: tuple[Named, Floats], data: Observations, scaling: Scaling
) -> tuple[Named, Floats]:
    """A system with rounded constants and its initial values, unless it does clearly worse than before."""
    one, other = (
        claim(named.system, starts, data, scaling, named.constants) for named, starts in (rounded, plain)
    )
    worse = one is not None and other is not None and not one > other - CLEARLY
    return plain if worse else rounded


def all_starts(starts: Floats, whole: Dataset, chosen: Ints) -> Floats:
    """Initial values of all trajectories: those of the chosen ones were fitted, the others are observed."""
    if len(chosen) == len(whole):
        return starts
    first = whole.first_values()
    result = np.where(np.isfinite(first), first, np.median(starts, axis=0))
    result[chosen] = starts
    return result


def all_constants(constants: Constants, whole: Dataset, chosen: Ints) -> Constants:
    """Named constants of all trajectories: those of the chosen ones were fitted, the others are as usual."""
    result: dict[str, float | tuple[float, ...]] = {}
    for name, value in constants.items():
        if isinstance(value, tuple):
            value = for_all_trajectories(value, chosen, len(whole))
        result[name] = value
    return result


def still(dataset: Dataset) -> Explanation:
    """The last resort: nothing changes.  For values so large or so small that no rate is a number."""
    first = dataset.first_values()
    starts = np.where(np.isfinite(first), first, 0.0)
    program = concatenate([equation([], [])] * dataset.dimension)
    system = ODESystem(program, dataset.variables, dataset.known)
    predicted = np.repeat(starts, [len(times) for times in dataset.times], axis=0)
    r2 = variance_weighted_r2(np.concatenate(dataset.states), predicted)
    return Explanation(system, starts, r2, 0.0, UNLIKELY, "sparse")


def simulated(explanations: Sequence[Explanation], whole: Dataset, scaling: Scaling) -> list[Explanation]:
    """Systems that were found over windows, with R2 of their simulation; it stays -inf without time for it.

    starts: those of all trajectories.
    """
    observed = in_users_units(whole)
    claims = (claim(one.system, one.starts, observed, scaling) for one in explanations)
    return sound_first(
        [one if r2 is None else replace(one, r2=r2) for one, r2 in zip(explanations, claims, strict=True)]
    )


def sound_first(explanations: Sequence[Explanation]) -> list[Explanation]:
    """Systems whose simulation does not reach the end come after the others."""
    return sorted(explanations, key=lambda one: not np.isfinite(one.r2))
