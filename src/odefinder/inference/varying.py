"""Constants that differ between trajectories, where the criterion says so.

Several experiments may share a law but not a constant: then every system with the same constants for all
leaves more than the noise.  The best of them are fitted again with one constant, then with two, of their own
for each trajectory; every further value costs as much as a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.given import STAYS
from odefinder.data.observations import Observations
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.program import CONST, Program, concatenate
from odefinder.expressions.terms import node
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.criterion import criterion
from odefinder.inference.choose.search import Search
from odefinder.inference.choose.ties import named_equations
from odefinder.inference.claims import claim, in_users_units
from odefinder.inference.fit.constants import pinned_constants
from odefinder.inference.fit.knowledge import NO_BOUNDS, Knowledge
from odefinder.inference.fit.refine import Fit, fit_constants, given_constants
from odefinder.inference.known_parts import Named, named_of, named_system
from odefinder.inference.law import law_of
from odefinder.inference.remarks import Explanation
from odefinder.limits.deadline import Deadline

CLEARLY = 5.0  # nats by which the criterion must gain
SYSTEMS = 6  # that are tried
MOST_VARIED = 2  # constants of one system
MOST_TRAJECTORIES = 30
LEAST_POINTS = 8  # of a trajectory, on average
LEAST_R2 = 0.9  # a system that explains less is no law that the trajectories share


@dataclass(frozen=True)
class Varied:
    """A system with constants that differ between trajectories, in the user's units."""

    named: Named
    fit: Fit
    gain: float  # of the criterion, compared with the best system whose constants are the same for all
    origin: int = 0  # the number of the system whose constants were the same


def varying_constants(
    fits: Sequence[Fit], data: Observations, dataset: Dataset, *, fit_starts: bool, deadline: Deadline
) -> Varied | None:
    """The best system with constants that differ; None where the criterion does not clearly gain.

    fits: the best systems with common constants, best first; data: in the user's units, nothing given.
    """
    trajectories = len(data.bounds) - 1
    enough = data.count >= LEAST_POINTS * trajectories * data.dimension
    if not fits or not 2 <= trajectories <= MOST_TRAJECTORIES or not enough or data.given is not None:
        return None
    before = min(criterion(fit, data) for fit in fits)
    best: Varied | None = None
    for origin, fit in enumerate(fits[:SYSTEMS]):
        free = ~(pinned_constants(fit.program) | given_constants(fit.program, data))
        chosen: tuple[int, ...] = ()
        level = best.gain if best else CLEARLY
        for _ in range(MOST_VARIED):
            tried = [
                one
                for k in np.flatnonzero(free).tolist()
                if k not in chosen and not deadline.over
                and (one := _fitted(fit, data, dataset, (*chosen, k), fit_starts, before)) is not None
            ]  # fmt: skip
            found = max(tried, key=lambda pair: pair[1].gain, default=None)
            if found is None or found[1].gain <= level:
                break
            chosen, best = found[0], replace(found[1], origin=origin)
            level = best.gain + CLEARLY
    return best


def _fitted(
    fit: Fit, data: Observations, dataset: Dataset, chosen: tuple[int, ...], fit_starts: bool, before: float
) -> tuple[tuple[int, ...], Varied] | None:
    """The system with these constants varied."""
    constants = fit.program.constants
    free = ~(pinned_constants(fit.program) | given_constants(fit.program, data))
    groups = np.where(free, np.cumsum(free) - 1, STAYS)
    whole = data.completed(fit.program)
    parts = named_equations(whole, groups, np.ones(len(constants)), data.variables)
    varied = tuple(k in chosen for k in np.flatnonzero(free).tolist())
    knowledge = Knowledge(
        variables=dataset.variables,
        inputs=dataset.known,
        constants=_names(varied, dataset),
        parts=parts,
        whole=(True,) * data.dimension,
        bounds=(NO_BOUNDS,) * len(varied),
        varied=varied,
    )
    values = np.tile(constants[free][:, None], len(data.bounds) - 1)
    given = knowledge.given(values)
    nothing = given.with_numbers(concatenate([_nothing(data, k) for k in range(data.dimension)]))
    driven = replace(data, given=given)
    again = fit_constants(nothing, driven, starts=fit.starts, fit_starts=fit_starts)
    if not np.isfinite(again.error):
        return None
    try:
        named = named_of(again.program, given, knowledge)
    except ExpressionError:
        return None
    own = {name: value for name, value in named.constants.items() if isinstance(value, tuple)}
    gain = before - criterion(again, driven)
    return chosen, Varied(replace(named, constants=own), again, gain)


def _nothing(data: Observations, state: int) -> Program:
    given = data.given_equation(state)
    return node(CONST) if given is None else given


def _names(varied: Sequence[bool], dataset: Dataset) -> tuple[str, ...]:
    """k1, k2, ... for those that vary, and the next ones for the others."""
    free = (f"k{number}" for number in range(1, 10**6) if f"k{number}" not in dataset.names)
    order = sorted(range(len(varied)), key=lambda place: not varied[place])
    names = {place: next(free) for place in order}
    return tuple(names[place] for place in range(len(varied)))


def varying_explanation(
    judged: Sequence[Candidate], search: Search, dataset: Dataset, scaling: Scaling, original: Observations,
    deadline: Deadline,
) -> Explanation | None:  # fmt: skip
    """A system with constants that differ, if it is better than all that were judged, best first.

    original: the data in the user's units.
    """
    if len(dataset) < 2 or search.explained():
        return None
    fits = []
    for one in judged[:SYSTEMS]:
        with suppress(ExpressionError):
            named = named_system(one.fit.program, search.data, scaling, dataset, None)
            fits.append(Fit(named.found, scaling.original_states(one.fit.starts), one.fit.error))
    free = search.estimate.smoothed
    found = varying_constants(fits, original, dataset, fit_starts=free, deadline=deadline)
    if found is None:
        return None
    same = judged[found.origin]
    value = judged[0].criterion - found.gain
    better = replace(same, fit=replace(same.fit, error=found.fit.error), criterion=value)
    weight = float(search.weights([better], early=deadline.over)[0])
    system, constants = found.named.system, found.named.constants
    r2 = claim(system, found.fit.starts, in_users_units(dataset), scaling, constants)
    if r2 is None or not r2 >= LEAST_R2:
        return None
    law = law_of(found.named, replace(original, given=found.named.given), system)
    return Explanation(system, found.fit.starts, r2, value, weight, same.source, constants, law)


def varying_note(found: Explanation) -> str:
    """A sentence for the user."""
    names = ", ".join(found.constants)
    several = len(found.constants) > 1
    return (
        f"The trajectories share a law, but not all constants: {names} "
        f"{'are' if several else 'is'} fitted for each of them (see constants_) and "
        f"{'are conditions' if several else 'is a condition'} of the system."
    )
