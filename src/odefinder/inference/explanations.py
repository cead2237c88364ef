"""Judged systems in the user's units: simple constants where the data allow them, digits, R2 and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.observations import Ints, Observations
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import Program
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.search import Search
from odefinder.inference.choose.ties import tie_constants
from odefinder.inference.claims import (
    all_constants,
    all_starts,
    claim,
    in_users_units,
    rounded_or_not,
    sound_first,
    still,
)
from odefinder.inference.fit.digits import with_digits
from odefinder.inference.fit.gauge import conventions, readable
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.rounding import round_constants
from odefinder.inference.known_parts import Named, named_system, with_varied
from odefinder.inference.law import law_of
from odefinder.inference.propose.unseen import hidden_states
from odefinder.inference.remarks import Explanation
from odefinder.inference.settings import FindSettings
from odefinder.limits.deadline import Deadline
from odefinder.limits.sizes import MAX_DIMENSION

ROUNDED = 5  # systems of a result whose constants are rounded
PRINTED = 6  # systems whose digits are counted one constant at a time, and although time is over, until when
COUNTING = 1.2, 0.4  # budgets and seconds; the first system has its digits however late it is
DIGIT = float(np.log(10.0))  # nats for a digit of a constant, where data are exact and all digits are known
MOST_DIGITS = 7  # that exact data determine
SECONDS, SHORT = 0.5, 0.1  # for one system once time is over; most need a hundredth; with many variables
MOST_COUNTED = 20  # variables: with more, there must be time for it


@dataclass(frozen=True)
class Row:
    """A judged system in the user's units."""

    found: Candidate
    named: Named
    starts: Floats


def explanations(
    search: Search, judged: Sequence[Candidate], dataset: Dataset, scaling: Scaling, original: Observations,
    how: FindSettings, early: bool,
) -> list[Explanation]:  # fmt: skip
    """The judged systems in the user's units that may be used, with their weights.

    original: data in these units.  early: something ended the search before its time.
    """
    rows = [row for one in judged if (row := _row(one, search.data, dataset, scaling, how)) is not None]
    if not rows:
        return [still(dataset)] if judged else []
    observed = in_users_units(dataset)
    if how.round_constants:
        exact = sum(search.fits_exactly(row.found.fit) for row in rows)
        for place, row in enumerate(rows[: max(exact, ROUNDED)]):
            if search.deadline.over:
                break
            rows[place] = _rounded(row, original, observed, scaling, free=search.estimate.smoothed)
        rows = _fewest_digits_first(rows, search)
    weights = search.weights([row.found for row in rows], early)
    result: list[Explanation] = []
    known = set[bytes]()
    for place, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        named, starts = row.named, row.starts
        key = structure(canonical(named.system.program, explicit=True))
        if key in known:  # rounded constants may make it one of the others: x^2.02 becomes x^2
            continue
        system = named.system
        r2 = claim(system, starts, observed, scaling, named.constants)
        if r2 is None and not result:  # after Ctrl-C, or out of time: the first one gets a little more
            with _a_moment(dataset.dimension):
                r2 = claim(system, starts, observed, scaling, named.constants)
        if r2 is not None or not result:  # the first stays, although there was no time to simulate it
            r2 = -np.inf if r2 is None else r2
            until = _counting_time(place, dataset.dimension, search.deadline)
            if until and (np.isfinite(r2) or not result):  # others that end early come last, as they are
                driven = with_varied(original, named.constants, system.inputs)
                system = with_digits(
                    system,
                    starts,
                    driven,
                    centre=named.given is None,
                    each=len(result) < PRINTED,
                    deadline=until,
                )
            known.add(key)
            law = law_of(named, replace(original, given=named.given), system)
            value, source = row.found.criterion, row.found.source
            result.append(Explanation(system, starts, r2, value, float(weight), source, named.constants, law))
    return sound_first(result) or [still(dataset)]


def _row(
    found: Candidate, data: Observations, dataset: Dataset, scaling: Scaling, how: FindSettings
) -> Row | None:
    """A candidate in the user's units, hidden states in readable ones; data: in canonical units."""
    try:
        named = named_system(found.fit.program, data, scaling, dataset, how.knowledge)
        starts = scaling.original_states(found.fit.starts)
        if (hidden := hidden_states(data)) and named.given is None:
            program, starts = readable(named.system.program, starts, hidden)
            named = named.with_found(canonical(program, explicit=True))
    except ExpressionError:  # constants that no number can hold in the user's units
        return None
    return Row(found, named, starts)


def _rounded(row: Row, original: Observations, observed: Observations, scaling: Scaling, free: bool) -> Row:
    """The same with simple constants, unless it does clearly worse on all that was observed."""
    fit = Fit(row.named.found, row.starts, row.found.fit.error)
    rounded, ties = _simple_constants(fit, replace(original, given=row.named.given), free)
    if rounded is fit:
        return row
    given = row.named.given
    if given is not None and not all(
        given.allows(k, one) for k, one in enumerate(given.equations(rounded.program))
    ):  # x*y^1.02 may have become x*y, which the user does not allow
        return row
    simple = row.named.with_found(rounded.program, ties)
    named, starts = rounded_or_not((simple, rounded.starts), (row.named, row.starts), observed, scaling)
    return Row(row.found, named, starts)


def _fewest_digits_first(rows: list[Row], search: Search) -> list[Row]:
    """Exact systems with short constants before others: it is no accident that few digits are enough."""
    exact = [search.fits_exactly(row.found.fit) for row in rows]
    if sum(exact) < 2:
        return rows
    digits = np.array([_digits(row.named.system.program) for row in rows])
    costs = np.where(exact, DIGIT * (digits - digits[exact].min()), 0.0)
    dearer = [
        replace(row, found=replace(row.found, criterion=row.found.criterion + cost))
        for row, cost in zip(rows, costs.tolist(), strict=True)
    ]
    return sorted(dearer, key=lambda row: row.found.criterion)


def _digits(program: Program) -> int:
    """Significant digits of all constants together."""
    return sum(
        len(f"{value:.{MOST_DIGITS - 1}e}".split("e")[0].replace(".", "").strip("-0"))
        for value in program.constants
    )


def _counting_time(place: int, dimension: int, deadline: Deadline) -> Deadline | None:
    """Until when the digits of the system at this place may be counted; None: it does without.

    Only the end of the budget may decide how a system is written: the same seed gives the same text.
    """
    if not deadline.over:
        return deadline
    hurried = place < PRINTED and dimension <= MOST_COUNTED
    if hurried and (place == 0 or not deadline.within(*COUNTING).over):
        return _a_moment(dimension)
    return None


def _a_moment(dimension: int) -> Deadline:
    """For what the first system should not go without, however late it is."""
    return Deadline(SHORT if dimension > MAX_DIMENSION else SECONDS)


def _simple_constants(fit: Fit, data: Observations, free: bool) -> tuple[Fit, Ints | None]:
    """The fit (in the user's units) with equal constants tied and simple ones rounded, and the ties."""
    hidden = hidden_states(data)
    if hidden and data.given is None:  # their scale is a convention, and so is which constants are equal
        scale = conventions(fit.program, hidden)
        return round_constants(fit, data, fit_starts=free, conventions=scale), None
    tied = tie_constants(fit, data, fit_starts=free)
    if tied is None:
        return round_constants(fit, data, fit_starts=free), None
    rounded = round_constants(tied.fit, tied.data, fit_starts=free)
    return Fit(tied.back(rounded), rounded.starts, rounded.error), tied.groups


def of_all(
    explanations: Sequence[Explanation], whole: Dataset, chosen: Ints, scaling: Scaling
) -> list[Explanation]:
    """The same with initial values of all trajectories; R2 of the first over all points."""
    result = [
        replace(
            one,
            starts=all_starts(one.starts, whole, chosen),
            constants=all_constants(one.constants, whole, chosen),
            law=None if one.law is None else one.law.of_trajectories(chosen, len(whole)),
        )
        for one in explanations
    ]
    best = result[0]
    r2 = claim(best.system, best.starts, in_users_units(whole), scaling, best.constants)
    return [best if r2 is None else replace(best, r2=r2), *result[1:]]
