"""What is given of a system's equations, in the units of the data: whole right-hand sides, parts, sums.

A fit works on the program of what is *found*: an equation for each state, without what is given (0 where
nothing is to be found), and after them the named constants, each a number; one that varies has a number for
each trajectory.  `complete` puts both together, for everything that integrates the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import CONST, MUL, VAR, Program, component_bounds, concatenate
from odefinder.expressions.term_rules import TermRule
from odefinder.expressions.terms import node, sum_of, terms_of
from odefinder.numerics.evaluate import evaluate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEGLIGIBLE = 1e-9  # slope in canonical units
STAYS = -1  # the owner of a number that is not fitted


class Complete(NamedTuple):
    """A whole system, and where its constants come from."""

    program: Program  # with the constants of the first trajectory
    owners: Ints  # (trajectories, constants): which constant of what was found each is, or STAYS

    def of_trajectory(self, number: int, found: Floats) -> Program:
        """The system with the constants of one trajectory; found: those of what was found."""
        owner = self.owners[number]
        return self.program.with_constants(
            np.where(owner == STAYS, self.program.constants, found[owner] if len(found) else 0.0)
        )


@dataclass(frozen=True)
class Given:
    """Known parts of D equations in V variables, with P named constants."""

    parts: tuple[Program | None, ...]  # (D,): known terms; variable V + j is the named constant j
    whole: tuple[bool, ...]  # (D,): whether nothing is to be found
    variables: int  # V: states, and what has values but no equations
    values: Floats  # (P, trajectories): the named constants at the start of a fit
    varied: tuple[bool, ...]  # (P,): whether each trajectory has its own
    lower: Floats  # (P,)
    upper: Floats  # (P,)
    units: Floats  # (P,): values, lower and upper are counted in these of the user's
    sums: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    # For states whose equations follow from conserved sums: the share of each of the D equations in them.
    reads: tuple[frozenset[int] | None, ...] = ()  # (D,): what may occur in what is found; None: all
    operators: tuple[frozenset[str] | None, ...] = ()  # (D,): likewise
    terms: tuple[TermRule | None, ...] = ()  # (D,): likewise
    positive: tuple[bool, ...] = ()  # (D,): whether no term that is found may lead below 0
    samples: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (M, V): values of all variables

    @property
    def dimension(self) -> int:
        """The number of states."""
        return len(self.parts)

    @cached_property
    def closed(self) -> frozenset[int]:
        """The states in whose equations nothing is to be found."""
        return frozenset(k for k, whole in enumerate(self.whole) if whole) | frozenset(self.sums)

    @cached_property
    def places(self) -> Ints:
        """(trajectories, P): the place of each named constant among all of their numbers."""
        trajectories = self.values.shape[1]
        sizes = [trajectories if varied else 1 for varied in self.varied]
        first = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        step = np.array(self.varied, np.int64)
        return first[None, :] + np.arange(trajectories)[:, None] * step[None, :]

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of the named constants at the start of a fit."""
        result = np.empty(int(self.places.max()) + 1 if self.places.size else 0)
        result[self.places] = self.values.T
        return result

    def numbers_at(self, values: Floats) -> Floats:
        """The numbers of the named constants (P,) where those of all trajectories are equal."""
        result = self.numbers.copy()
        result[self.places] = values[None, :]
        return result

    def named(self, numbers: Floats) -> Floats:
        """(P, trajectories): the named constants with these numbers."""
        return numbers[self.places].T

    def limits(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the numbers."""
        lower, upper = np.empty_like(self.numbers), np.empty_like(self.numbers)
        lower[self.places], upper[self.places] = self.lower[None, :], self.upper[None, :]
        return lower, upper

    # ------------------------------------------------------------ programs of what is found

    def equations(self, program: Program) -> list[Program]:
        """What was found for each state."""
        return program.components()[: self.dimension]

    def with_numbers(self, program: Program, numbers: Floats | None = None) -> Program:
        """The equations of what was found, followed by numbers of the named constants."""
        values = self.numbers if numbers is None else numbers
        return concatenate([*self.equations(program), *(node(CONST, value) for value in values.tolist())])

    @cached_property
    def nothing_found(self) -> Program:
        """What is found where nothing is: 0 for each state, and the first numbers of the named constants."""
        return self.with_numbers(concatenate([node(CONST)] * self.dimension))

    def numbers_of(self, program: Program) -> Floats:
        """The numbers of the named constants in a program of what was found."""
        count = len(self.numbers)
        return program.values[len(program) - count :].copy()

    def user_values(self, program: Program) -> Floats:
        """(P, trajectories): the named constants of a program of what was found, in the user's units."""
        return self.named(self.numbers_of(program)) * self.units[:, None]

    def symbolic(self, program: Program) -> Program:
        """The whole system with those named constants that vary as further variables, after all others."""
        whole = self.complete(program)
        first = len(program.constants) - len(self.numbers)
        ops, values = whole.program.ops.copy(), whole.program.values.copy()
        nodes = np.flatnonzero(ops == CONST)
        for rank, name in enumerate(np.flatnonzero(self.varied).tolist()):
            own = nodes[whole.owners[0] == first + self.places[0, name]]
            ops[own], values[own] = VAR, self.variables + rank
        return Program(ops, values)

    def allows(self, component: int, found: Program) -> bool:
        """Whether this may be what is found for a state."""
        return component in self.closed or not self.refused(component, found)

    def refused(self, component: int, found: Program) -> list[int]:
        """Which terms of an expression, by number, may not be part of what is found for a state."""
        terms = terms_of(found)
        signs = self.signs(component, terms)
        return [
            k
            for k, (term, sign) in enumerate(zip(terms, signs.tolist(), strict=True))
            if not (sign >= 0.0 and self.may_have(component, term))
        ]

    def restricts(self, component: int) -> bool:
        """Whether not every term may occur in what is found for a state."""
        rules = (self.reads, self.operators, self.terms)
        return any(own[component] is not None for own in rules if own)

    def may_have(self, component: int, found: Program) -> bool:
        """Whether the variables, operators and terms of an expression may be in what is found for a state."""
        reads = self.reads[component] if self.reads else None
        operators = self.operators[component] if self.operators else None
        rule = self.terms[component] if self.terms else None
        if reads is not None and not set(found.values[found.ops == VAR].astype(int).tolist()) <= reads:
            return False
        if operators is not None and not found.operators() <= operators:
            return False
        return rule is None or rule.allows(found)

    def keeps_positive(self, component: int) -> bool:
        """Whether signs of terms matter in what is found for a state."""
        return bool(self.positive and self.positive[component] and len(self.samples))

    def signs(self, component: int, terms: Sequence[Program]) -> Floats:
        """The sign of each term where a state that stays positive is 0: 1, -1, 0 (none), NaN (both).

        Where it has no value there, it has no sign.
        """
        if not self.keeps_positive(component):
            return np.zeros(len(terms))
        states = self.samples.copy()
        states[:, component] = 0.0
        for k, positive in enumerate(self.positive):
            if positive:
                states[:, k] = np.maximum(states[:, k], 0.0)
        found = np.zeros(len(terms))
        for k, term in enumerate(terms):
            with np.errstate(all="ignore"):
                values = evaluate(term, states)[:, 0]
            above, below = bool(np.any(values > NEGLIGIBLE)), bool(np.any(values < -NEGLIGIBLE))
            found[k] = np.nan if above and below else float(above) - float(below)
        return found

    def complete(self, program: Program) -> Complete:
        """The whole system of a program of what was found, numbers included."""
        bounds = component_bounds(program.ops)[: self.dimension]
        count, first = len(program.constants), len(program.constants) - len(self.numbers)
        found = program.constants
        trajectories = self.values.shape[1]
        place = np.cumsum(program.ops == CONST) - 1  # of each node among the constants
        pieces: list[tuple[Program, Ints]] = []
        for component, (a, b) in enumerate(bounds):
            parts = []
            if (part := self.parts[component]) is not None:
                parts.append((part, self._owners_of(part, first)))
            if component not in self.closed:
                rest = Program(program.ops[a:b], program.values[a:b])
                own = np.where(rest.ops == CONST, place[a:b], STAYS)
                parts.append((rest, np.tile(own, (trajectories, 1))))
            pieces.append(_sum(parts, trajectories))
        for component, shares in self.sums.items():
            parts = [_times(share, pieces[other]) for other, share in enumerate(shares) if share != 0.0]
            pieces[component] = _sum(parts, trajectories)
        whole, owners = concatenate([one for one, _ in pieces]), np.hstack([one for _, one in pieces])
        named = (whole.ops == VAR) & (whole.values >= self.variables)
        ops = np.where(named, CONST, whole.ops).astype(np.int8)
        constants = ops == CONST
        numbers = np.where(owners[0] == STAYS, whole.values, found[owners[0]] if count else 0.0)
        program = Program(ops, np.where(constants, numbers, whole.values))
        return Complete(program, np.ascontiguousarray(owners[:, constants]))

    def _owners_of(self, part: Program, first: int) -> Ints:
        """(trajectories, nodes): the constant that each node is; first: the place of the first named one."""
        owners = np.full((self.values.shape[1], len(part)), STAYS, np.int64)
        named = np.flatnonzero((part.ops == VAR) & (part.values >= self.variables))
        owners[:, named] = first + self.places[:, (part.values[named] - self.variables).astype(np.int64)]
        return owners


def _sum(parts: list[tuple[Program, Ints]], trajectories: int) -> tuple[Program, Ints]:
    """The sum of expressions, and the owners of its nodes."""
    total = sum_of([one for one, _ in parts])
    extra = np.full((trajectories, len(total) - sum(len(one) for one, _ in parts)), STAYS, np.int64)
    return total, np.hstack([extra, *(owners for _, owners in parts)])


def _times(share: float, piece: tuple[Program, Ints]) -> tuple[Program, Ints]:
    program, owners = piece
    extra = np.full((len(owners), 2), STAYS, np.int64)
    return concatenate([node(MUL), node(CONST, share), program]), np.hstack([extra, owners])
