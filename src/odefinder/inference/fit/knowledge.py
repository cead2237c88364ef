"""What the user knows of the system before a fit: equations, constants, bounds, signs, conserved sums.

`Knowledge` is in the user's names and units.  A fit reads it as `Given`, in the units of its data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.given import Floats, Given
from odefinder.data.units import Scaling
from odefinder.expressions.program import CONST, Program, concatenate
from odefinder.expressions.term_rules import TermRule
from odefinder.expressions.terms import node

NO_BOUNDS = (-np.inf, np.inf)


@dataclass(frozen=True)
class Knowledge:
    """D states and what is known about their equations, with P named constants that are fitted."""

    variables: tuple[str, ...]  # (D,): the states
    inputs: tuple[str, ...] = ()  # what equations may read and has none
    constants: tuple[str, ...] = ()  # (P,): their names
    parts: tuple[Program | None, ...] = ()  # (D,): known terms; constants follow states and inputs
    whole: tuple[bool, ...] = ()  # (D,): whether nothing is to be found
    reads: tuple[frozenset[int] | None, ...] = ()  # (D,): what may occur in what is found; None: all
    operators: tuple[frozenset[str] | None, ...] = ()  # (D,): likewise
    terms: tuple[TermRule | None, ...] = ()  # (D,): likewise
    positive: tuple[bool, ...] = ()  # (D,): whether nothing that is found may lead below 0
    bounds: tuple[tuple[float, float], ...] = ()  # (P,)
    varied: tuple[bool, ...] = ()  # (P,): whether each trajectory has its own
    sums: tuple[tuple[float, ...], ...] = ()  # conserved: factors (D,) of the states in each
    follow: tuple[int, ...] = ()  # for each of the sums, the state whose equation follows from it
    starts: tuple[tuple[float, float], ...] = ()  # (D,): bounds of initial values; empty: none are known
    fixed: tuple[tuple[str, float], ...] = ()  # constants with given values; the parts have these numbers
    assumed: tuple[str, ...] = ()  # names that were taken for constants only because they are not columns

    @property
    def dimension(self) -> int:
        """The number of states."""
        return len(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """What equations may read, in the order of programs."""
        return (*self.variables, *self.inputs)

    @property
    def complete(self) -> bool:
        """Whether nothing is to be found but constants."""
        return all(whole or k in self.follow for k, whole in enumerate(self.whole)) and bool(self.whole)

    def given(self, values: Floats, scaling: Scaling | None = None, units: Floats | None = None) -> Given:
        """The same for data in these units; by default the user's.

        values (P, trajectories): the named constants at the start, and units (P,) in which they are
        counted, both in the user's units.
        """
        units = np.ones(len(self.constants)) if units is None else units
        factors = np.ones(len(self.names)) if scaling is None else scaling.factors
        parts = self.parts or (None,) * self.dimension
        lower, upper = np.array(self.bounds or [NO_BOUNDS] * len(units), np.float64).reshape(-1, 2).T
        nothing = (None,) * self.dimension
        return Given(
            parts=parts if scaling is None else _scaled(parts, scaling, units),
            whole=self.whole or (False,) * self.dimension,
            variables=len(self.names),
            values=values / units[:, None],
            varied=self.varied or (False,) * len(units),
            lower=lower / units,
            upper=upper / units,
            units=units,
            sums=self._shares(factors),
            reads=self.reads or nothing,
            operators=self.operators or nothing,
            terms=(self.terms or nothing) if scaling is None else self._rules(scaling),
            positive=self.positive or (False,) * self.dimension,
        )

    def _rules(self, scaling: Scaling) -> tuple[TermRule | None, ...]:
        """The rules for terms, the allowed ones with constants in canonical units."""
        rules = list(self.terms or (None,) * self.dimension)
        for k, rule in enumerate(rules):
            if rule is not None and rule.offered:
                changed = []
                for term in rule.offered:
                    system = concatenate([term if j == k else node(CONST) for j in range(self.dimension)])
                    changed.append(scaling.to_scaled(system).components()[k])
                rules[k] = replace(rule, offered=tuple(changed))
        return tuple(rules)

    def _shares(self, factors: Floats) -> dict[int, tuple[float, ...]]:
        """For each state that follows from the sums: the shares of the other states' equations in its own."""
        if not self.sums:
            return {}
        weights = np.array(self.sums) * factors[: self.dimension]
        rest = [k for k in range(self.dimension) if k not in self.follow]
        shares = np.zeros((len(self.sums), self.dimension))
        shares[:, rest] = -np.linalg.solve(weights[:, list(self.follow)], weights[:, rest])
        return {state: tuple(row.tolist()) for state, row in zip(self.follow, shares, strict=True)}


def _scaled(parts: Sequence[Program | None], scaling: Scaling, units: Floats) -> tuple[Program | None, ...]:
    """The known parts in canonical units, the named constants in theirs."""
    wider = Scaling(np.concatenate([scaling.factors, units]), scaling.rate, scaling.known + len(units))
    system = concatenate([node(CONST) if part is None else part for part in parts])
    changed = wider.to_scaled(system).components()
    return tuple(None if part is None else one for part, one in zip(parts, changed, strict=True))


def named_values(knowledge: Knowledge, values: Floats) -> Mapping[str, float | tuple[float, ...]]:
    """The constants by name, from values (P, trajectories): a number, or one for each trajectory."""
    found: dict[str, float | tuple[float, ...]] = {}
    for name, row, varied in zip(knowledge.constants, values.tolist(), knowledge.varied, strict=True):
        found[name] = tuple(row) if varied else row[0]
    return {**found, **dict(knowledge.fixed)}
