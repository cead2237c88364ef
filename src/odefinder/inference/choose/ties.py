"""Constants that are equal within their errors become one constant where the criterion gains.

What leaves one equation enters another at the same rate, and identical units have the same constants.  Only
the factors of terms of the same shape are compared, up to a sign and the names of the variables: among many
constants some are always close to each other by chance.  This happens in the user's units, where rates are
equal.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.given import STAYS, Complete, Given
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import CONST, MUL, VAR, Program, component_bounds, concatenate
from odefinder.expressions.terms import node, term_bounds
from odefinder.inference.choose.criterion import TEMPERATURE, log_likelihood
from odefinder.inference.choose.description import CONSTANT_COST
from odefinder.inference.fit.errors import standard_errors
from odefinder.inference.fit.refine import Fit, fit_constants

WITHIN = 2.0  # standard errors of their difference
CERTAIN = 0.15  # relative standard error: of less certain constants nothing can be said
SMALLEST_ERROR = 1e-6  # relative


@dataclass(frozen=True)
class Tied:
    """A fit with fewer constants, and the way back to the program that it came from."""

    fit: Fit
    data: Observations  # with the whole system as given
    found: Program  # what was found, before
    groups: Ints  # (constants of `found`,): the named constant of each, or STAYS
    signs: Floats  # (constants of `found`,)

    def back(self, fit: Fit) -> Program:
        """What was found, with the constants of a fit of the tied system."""
        given = self.data.given
        assert given is not None
        numbers = given.numbers_of(fit.program)
        own = self.found.constants
        tied = self.signs * numbers[np.maximum(self.groups, 0)] if len(numbers) else own
        return self.found.with_constants(np.where(self.groups == STAYS, own, tied))


def tie_constants(fit: Fit, data: Observations, *, fit_starts: bool) -> Tied | None:
    """The fit (in the user's units) with equal constants tied; None where the criterion does not gain."""
    whole = _without_velocities(data.completed(fit.program), data)
    if len(whole.owners) and (whole.owners != whole.owners[0]).any():  # constants that vary
        return None
    pairs = _pairs(fit, data, whole, fit_starts)
    while pairs:
        tied = _tied(fit, data, whole, [(a, b) for _, a, b in pairs])
        rtol, steps = (1e-6, 2000) if fit_starts else (1e-9, 10_000)  # as where constants are rounded
        refit = fit_constants(
            tied.fit.program, tied.data, starts=fit.starts, fit_starts=fit_starts, rtol=rtol, max_steps=steps
        )
        fewer = len(set(tied.groups.tolist()) - {STAYS})
        gain = CONSTANT_COST * (int((tied.groups != STAYS).sum()) - fewer)
        before, after = (log_likelihood(one.error, data.count, data.least_error) for one in (fit, refit))
        if TEMPERATURE * (before - after) < gain:
            return replace(tied, fit=refit)
        pairs.pop()  # the least alike
    return None


def _without_velocities(whole: Complete, data: Observations) -> Complete:
    """The system in which x' = v stays as it is."""
    place = np.concatenate([[0], np.cumsum(whole.program.ops == CONST)])
    owners = whole.owners.copy()
    for state, (first, last) in enumerate(component_bounds(whole.program.ops)):
        if state in data.velocities:
            owners[:, place[first] : place[last]] = STAYS
    return whole._replace(owners=owners)


def _pairs(fit: Fit, data: Observations, whole: Complete, fit_starts: bool) -> list[tuple[float, int, int]]:
    """Pairs of constants that may be equal, with their distance in standard errors, the closest first."""
    constants = fit.program.constants
    factors = _factors(whole)
    if len(factors) < 2:
        return []
    errors = standard_errors(fit, data, fit_starts=fit_starts)
    errors = np.maximum(errors, SMALLEST_ERROR * np.abs(constants))
    found = []
    for alike in factors.values():
        own = [k for k in dict.fromkeys(alike) if errors[k] < CERTAIN * abs(constants[k])]
        for i, a in enumerate(own):
            for b in own[i + 1 :]:
                apart = abs(abs(constants[a]) - abs(constants[b]))
                distance = apart / float(np.hypot(errors[a], errors[b]))
                if 0.0 <= distance <= WITHIN:
                    found.append((distance, a, b))
    return sorted(found)


def _factors(whole: Complete) -> dict[bytes, list[int]]:
    """The fitted factors of terms, by the shape of what they multiply."""
    program, owners = whole.program, whole.owners[0]
    place = np.cumsum(program.ops == CONST) - 1
    found: dict[bytes, list[int]] = defaultdict(list)
    for first, _ in component_bounds(program.ops):
        for a, b in term_bounds(program, first):
            k = a
            while k < b and program.ops[k] == MUL:
                k += 1
            if program.ops[k] == CONST and k > a and owners[place[k]] != STAYS:
                shape = np.delete(program.ops[a:b], [0, k - a]).tobytes()
                found[shape].append(int(owners[place[k]]))
    return found


def _tied(fit: Fit, data: Observations, whole: Complete, pairs: list[tuple[int, int]]) -> Tied:
    """The system with all fitted constants as named ones, those of the pairs as one; not yet fitted."""
    constants = fit.program.constants
    owners = whole.owners[0]
    used = np.unique(owners[owners != STAYS])
    leader = {int(one): int(one) for one in used}
    for a, b in pairs:
        first, second = sorted((_root(leader, a), _root(leader, b)))
        leader[second] = first
    roots = sorted({_root(leader, one) for one in leader})
    groups, signs = np.full(len(constants), STAYS), np.ones(len(constants))
    for one in leader:
        root = _root(leader, one)
        groups[one] = roots.index(root)
        signs[one] = 1.0 if constants[one] * constants[root] >= 0.0 else -1.0
    equations = named_equations(whole, groups, signs, data.variables)
    values = np.array([[constants[root]] * (len(data.bounds) - 1) for root in roots]).reshape(len(roots), -1)
    free = np.full(len(roots), np.inf)
    given = Given(
        parts=equations, whole=(True,) * data.dimension, variables=data.variables, values=values,
        varied=(False,) * len(roots), lower=-free, upper=free, units=np.ones(len(roots)),
    )  # fmt: skip
    if data.given is not None and len(data.given.numbers):
        given = _with_limits(given, data.given, groups, signs)
    nothing = given.with_numbers(concatenate([node(CONST)] * data.dimension))
    return Tied(replace(fit, program=nothing), replace(data, given=given), fit.program, groups, signs)


def named_equations(whole: Complete, groups: Ints, signs: Floats, variables: int) -> tuple[Program, ...]:
    """The equations of a system with its fitted constants as variables, after all others.

    groups and signs (constants that were fitted,): see `Tied`.
    """
    equations, at = [], 0
    for first, last in component_bounds(whole.program.ops):
        pieces = []
        for k in range(first, last):
            op, value = int(whole.program.ops[k]), float(whole.program.values[k])
            if op == CONST:
                owner, at = int(whole.owners[0, at]), at + 1
                if owner != STAYS and groups[owner] != STAYS:
                    name = node(VAR, variables + int(groups[owner]))
                    pieces += [name] if signs[owner] > 0.0 else [node(MUL), node(CONST, -1.0), name]
                    continue
            pieces.append(node(op, value))
        equations.append(concatenate(pieces))
    return tuple(equations)


def _with_limits(given: Given, before: Given, groups: Ints, signs: Floats) -> Given:
    """With the bounds of the named constants that were there before."""
    lower, upper = given.lower.copy(), given.upper.copy()
    first = len(groups) - len(before.numbers)
    for k, (low, high) in enumerate(zip(*before.limits(), strict=True)):
        group, sign = int(groups[first + k]), signs[first + k]
        if group != STAYS:
            ends = sorted((sign * low, sign * high))
            lower[group], upper[group] = max(lower[group], ends[0]), min(upper[group], ends[1])
    return replace(given, lower=lower, upper=upper)


def _root(leader: dict[int, int], one: int) -> int:
    while leader[one] != one:
        one = leader[one]
    return one
