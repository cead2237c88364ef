"""What to know about states that nobody measured, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, component_bounds
from odefinder.inference.fit.identifiable import Undetermined, undetermined
from odefinder.inference.fit.knowledge import Knowledge
from odefinder.inference.fit.refine import FLOOR, Fit, fit_constants
from odefinder.inference.remarks import Explanation

BACK = 0.05  # share of the range by which a variable turns back, at least
# Standard deviations of the noise, likewise.  Growth that saturates and decay, 200 noisy records: 23 get the
# note with 6, 6 with 8, 4 with 10.  Of 200 that oscillate or overshoot, 199, 190 and 178 get it.
CERTAIN = 8.0
MOST = 4  # constants that a note lists
MOST_EXCHANGED = 6  # named constants up to which it is tried whether two of them may change places
APART, AS_WELL = 0.1, 1.02  # relative difference of constants that are others, and of errors that are equal


def hidden_notes(best: Explanation, error: float, data: Observations, free: bool) -> list[str]:
    """Which scale a hidden state has, and which constants are not determined; data in the user's units.

    error: mean squared scaled residual; free: whether the starts of observed states are fitted, too.
    """
    roles = data.roles[: data.dimension]
    names = [name for name, role in zip(best.system.variables, roles, strict=False) if role == Role.HIDDEN]
    if not names:
        return []
    notes = [
        f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} not measured: the scale is a "
        "convention, such that a coefficient is 1, and other variables in its place, such as "
        f"{names[0]} plus a function of what was measured, would explain the data as well."
    ]
    program = canonical(best.system.program, explicit=True)
    owner = []
    for component, (first, last) in enumerate(component_bounds(program.ops)):
        owner += [best.system.variables[component]] * int((program.ops[first:last] == CONST).sum())
    shown = [f"{value:.4g} (in {name}')" for value, name in zip(program.constants, owner, strict=True)]
    loose = undetermined(Fit(program, best.starts, error), data, fit_starts=free, conventions=True)
    return notes + [_sentence(one, shown) for one in loose]


def known_notes(best: Explanation, data: Observations, knowledge: Knowledge, free: bool) -> list[str]:
    """Which constants of a law that is partly known are not determined; data in the user's units."""
    if best.law is None:
        return []
    law = best.law.knowledge()
    given = law.given(best.law.values(np.arange(len(data))))
    driven, program = replace(data, given=given), given.nothing_found
    shown = [""] * len(program.constants)
    for place, one in zip(given.places[0] + data.dimension, best.law.parameters, strict=True):
        shown[int(place)] = one.name if one.name in knowledge.constants else f"{one.values[0]:.4g}"
    error = fit_constants(program, driven, starts=best.starts, iterations=0).error
    loose = undetermined(Fit(program, best.starts, error), driven, fit_starts=free)
    notes = [_sentence(one, shown) for one in loose if all(shown[k] for k in one.constants)]
    if notes or Role.HIDDEN not in data.roles:
        return notes
    return _exchanged(
        Fit(program, best.starts, error), driven, [one.name for one in best.law.parameters], free
    )


def _exchanged(best: Fit, data: Observations, names: Sequence[str], free: bool) -> list[str]:
    """Whether two constants may change places, as the rates of absorption and elimination of a drug may."""
    given = data.given
    if given is None or any(given.varied) or len(names) > MOST_EXCHANGED:
        return []
    values = given.numbers_of(best.program)
    for one, other in combinations(np.flatnonzero(given.lower < given.upper).tolist(), 2):
        swapped = values.copy()
        swapped[[one, other]] = values[[other, one]]
        program = given.with_numbers(best.program, np.clip(swapped, *given.limits()))
        again = fit_constants(program, data, starts=best.starts, fit_starts=free)
        found = given.numbers_of(again.program)
        moved = np.abs(found - values)[[one, other]] > APART * np.abs(values)[[one, other]]
        if moved.all() and again.error <= max(best.error, data.least_error) * AS_WELL + FLOOR:
            user = dict(zip(names, given.user_values(again.program)[:, 0].tolist(), strict=True))
            shown = ", ".join(f"{name} = {value:.4g}" for name, value in user.items())
            return [
                f"{names[one]} and {names[other]} may change places: {shown} describe the data as well. Give "
                f"bounds of one of them if you know which is larger."
            ]
    return []


def _sentence(one: Undetermined, constants: Sequence[str]) -> str:
    """Such as: the data determine only the product of 0.4 (in S') and 2 (in I')."""
    shown = [constants[k] for k in one.constants[:MOST]]
    if one.together:
        return f"The data determine only the {one.together} of the constants {' and '.join(shown)}."
    if len(shown) == 1:
        return f"The data do not determine the constant {shown[0]}."
    several = f"{', '.join(shown[:-1])} and {shown[-1]}"
    if len(one.constants) > MOST:
        several = f"{', '.join(shown)} and {len(one.constants) - MOST} more"
    return f"The data do not determine the constants {several} one by one, only a combination of them."


def turning_notes(dataset: Dataset, noise: Floats) -> list[str]:
    """Whether the only variable turns back, which no autonomous first-order equation allows."""
    if dataset.dimension != 1 or dataset.known or dataset.doses:
        return []
    values = np.concatenate(dataset.states)
    span = float(np.nanmax(values) - np.nanmin(values))
    least = max(BACK * span, CERTAIN * float(np.nan_to_num(noise[0])))
    if span > 0.0 and any(_turns_back(states[:, 0], least) for states in dataset.states):
        name = dataset.variables[0]
        return [
            f"{name} rises and falls, which no first-order equation {name}' = f({name}) can do: use order=2 "
            f"if the velocity of {name} is part of its state, or hidden=1 if another variable is missing "
            "(--order 2, --hidden 1)."
        ]
    return []


def _turns_back(values: Floats, least: float) -> bool:
    """Whether a curve both rises and falls by this much."""
    known = values[np.isfinite(values)]
    rise = (known - np.minimum.accumulate(known)).max(initial=0.0)
    fall = (np.maximum.accumulate(known) - known).max(initial=0.0)
    return bool(rise > least and fall > least)
