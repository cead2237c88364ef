"""A system written with its parameters: each constant has one name, however often it occurs.

The numbers of a printed system hide what was fitted: b may stand in two equations, tied constants are one,
fixed ones were never free, and one that varies has a value for each trajectory.  Errors and bands are about
the parameters, so a result keeps them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.given import STAYS
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, VAR, Program, concatenate
from odefinder.inference.choose.ties import named_equations
from odefinder.inference.fit.constants import pinned_constants
from odefinder.inference.fit.knowledge import NO_BOUNDS, Knowledge
from odefinder.inference.fit.refine import given_constants
from odefinder.inference.known_parts import Named, for_all_trajectories
from odefinder.system import ODESystem


@dataclass(frozen=True)
class Parameter:
    """A constant that was fitted, in the user's units."""

    name: str  # in the equations
    values: tuple[float, ...]  # one, or one for each trajectory
    varied: bool = False  # whether each trajectory has its own
    bounds: tuple[float, float] = NO_BOUNDS
    equal: tuple[str, ...] = ()  # others of the user's names that were tied to it
    tied: bool = False  # whether several constants were found to be equal


@dataclass(frozen=True)
class Law:
    """A system with the names of its parameters as further inputs, after those of the data."""

    system: ODESystem
    parameters: tuple[Parameter, ...]
    fixed: tuple[tuple[str, float], ...] = ()  # given by the user; the system has these numbers

    def knowledge(self) -> Knowledge:
        """The same for a fit in which everything but the constants is known."""
        count = len(self.system.inputs) - len(self.parameters)
        return Knowledge(
            variables=self.system.variables,
            inputs=self.system.inputs[:count],
            constants=tuple(one.name for one in self.parameters),
            parts=tuple(self.system.program.components()),
            whole=(True,) * self.system.dimension,
            bounds=tuple(one.bounds for one in self.parameters),
            varied=tuple(one.varied for one in self.parameters),
        )

    def values(self, trajectories: Ints) -> Floats:
        """(P, trajectories): the parameters of these trajectories."""
        rows = [
            np.array(one.values)[trajectories] if one.varied else np.full(len(trajectories), one.values[0])
            for one in self.parameters
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(trajectories))

    def numbers(self, values: Floats) -> Program:
        """The printed system, in explicit form, with other values (P,) of the parameters.

        Parameters that vary between trajectories are variables of it, as in results.
        """
        program, known = self.system.program, len(self.system.names) - len(self.parameters)
        place = np.where(program.ops == VAR, program.values - known, -1.0).astype(np.int64)
        varied = np.array([one.varied for one in self.parameters], np.bool_)
        rank = np.cumsum(varied) - 1
        own = np.flatnonzero(place >= 0)
        ops, numbers = program.ops.copy(), program.values.copy()
        for k in own.tolist():
            one = int(place[k])
            ops[k], numbers[k] = (VAR, known + rank[one]) if varied[one] else (CONST, values[one])
        return canonical(Program(ops, numbers), explicit=True)

    def of_trajectories(self, fitted: Ints, count: int) -> Law:
        """The same for `count` trajectories, of which these were fitted; the others are as usual."""
        return replace(self, parameters=tuple(_spread(one, fitted, count) for one in self.parameters))


def _spread(one: Parameter, fitted: Ints, count: int) -> Parameter:
    if not one.varied:
        return one
    return replace(one, values=for_all_trajectories(one.values, fitted, count))


def law_of(named: Named, data: Observations, system: ODESystem) -> Law | None:
    """The law of a result; None where every number of the system is a parameter of its own.

    data: in the user's units, with what is given there; system: as it is printed.
    """
    centred = named.given is None and system.program is not named.system.program
    if centred or (named.given is None and named.ties is None):
        return None
    found, knowledge = named.found, named.knowledge
    constants = found.constants
    names = () if knowledge is None else knowledge.constants
    first = len(constants) - (0 if named.given is None else len(named.given.numbers))
    free = ~(pinned_constants(found) | given_constants(found, data)) & (constants != 0.0)
    free[first:] = True
    ties = np.full(len(constants), STAYS) if named.ties is None else named.ties
    owner = _named_owner(named, first)
    groups, signs = np.full(len(constants), STAYS), np.ones(len(constants))
    parameters: list[Parameter] = []
    fixed = () if knowledge is None else knowledge.fixed
    taken = {*named.system.names, *names, *(name for name, _ in fixed)}
    fresh = fresh_names(taken)
    for k in [*range(first, len(constants)), *range(first)]:  # those of the user come first
        if not free[k] or groups[k] != STAYS:
            continue
        same = np.flatnonzero(ties == ties[k]) if ties[k] != STAYS else np.array([k])
        own = [j for j in dict.fromkeys(owner[same].tolist()) if j != STAYS]
        if own and named.given is not None and knowledge is not None:
            same = np.union1d(same, np.flatnonzero(np.isin(owner, own)))
            values, one = tuple(constants[first + named.given.places[:, own[0]]].tolist()), own[0]
            varied = bool(named.given.varied[one])
            low, high = np.array([(knowledge.bounds or (NO_BOUNDS,) * len(names))[j] for j in own]).T
            parameter = Parameter(
                names[one], values if varied else values[:1], varied, (float(low.max()), float(high.min())),
                tuple(names[j] for j in own[1:]),
            )  # fmt: skip
        else:
            parameter = Parameter(next(fresh), (abs(float(constants[k])),))
        tied = len(own) > 1 or int((owner[same] == STAYS).sum()) > (0 if own else 1)
        groups[same] = len(parameters)
        signs[same] = np.where(constants[same] * parameter.values[0] >= 0.0, 1.0, -1.0)
        signs[same[owner[same] == (own[0] if own else -2)]] = 1.0
        parameters.append(replace(parameter, tied=tied))
    return _written(named, data, groups, signs, parameters, fixed)


def _written(
    named: Named, data: Observations, groups: Ints, signs: Floats, parameters: Sequence[Parameter],
    fixed: tuple[tuple[str, float], ...],
) -> Law | None:  # fmt: skip
    """The law, if its numbers are those of the result."""
    equations = named_equations(data.completed(named.found), groups, signs, data.variables)
    program = concatenate(equations)
    varied = [one.name for one in parameters if one.varied]
    inputs = [name for name in named.system.inputs if name not in varied]
    try:
        return Law(
            ODESystem(
                _readable(program, data.variables, len(parameters)),
                named.system.variables,
                (*inputs, *(one.name for one in parameters)),
            ),
            tuple(parameters),
            fixed,
        )
    except ExpressionError:  # names that no system can have
        return None


def _readable(program: Program, known: int, count: int) -> Program:
    """The program with parameters before variables: b*S*I; they are the last `count` of known + count."""
    last = program.ops == VAR
    turned = np.where(last, (program.values + count) % (known + count), program.values)
    one = canonical(Program(program.ops, turned))
    back = np.where(one.ops == VAR, (one.values + known) % (known + count), one.values)
    return Program(one.ops, back)


def _named_owner(named: Named, first: int) -> Ints:
    """(constants,): the named constant that each is, or STAYS."""
    owner = np.full(len(named.found.constants), STAYS)
    if named.given is not None:
        for row in named.given.places:
            owner[first + row] = np.arange(len(row))
    return owner


def fresh_names(taken: Collection[str]) -> Iterator[str]:
    """k1, k2, ... without those that are taken."""
    return (f"k{number}" for number in range(1, 10**6) if f"k{number}" not in taken)
