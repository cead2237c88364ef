"""The parameters of a law in canonical units: what `fit.constants.Constants` is for a plain system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from odefinder.data.given import Given
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.program import VAR, Program
from odefinder.inference.fit.constants import explicit_form, simple_numbers
from odefinder.inference.fit.errors import SMALLEST_ERROR, Curvature
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.law import Law
from odefinder.inference.prepared import Prepared
from odefinder.system import ODESystem

STEP = 1e-6  # relative: by which parameters are moved to see how numbers follow
AT_BOUND = 1e-9  # relative


@dataclass(frozen=True)
class Parameters:
    """C numbers: one for each parameter, or for each trajectory where it varies."""

    law: Law
    given: Given  # in canonical units
    scaled: Program  # what a fit starts with: nothing is to be found but the numbers
    numbers: Ints  # (C,): the parameter of each
    trajectories: Ints  # (C,): the trajectory of each, -1: all

    @property
    def units(self) -> Floats:
        """(C,): what 1 is in `scaled`."""
        return self.given.units[self.numbers]

    @property
    def values(self) -> Floats:
        """(C,): in the user's units."""
        return self.given.numbers * self.units

    @property
    def places(self) -> Ints:
        """(C,): which constants of `scaled` they are."""
        count = len(self.scaled.constants)
        return np.arange(count - len(self.numbers), count)

    @property
    def free(self) -> Bools:
        """(C,): all of them can be fitted."""
        return np.ones(len(self.numbers), np.bool_)

    @property
    def held(self) -> Bools:
        """Which constants of `scaled` are never fitted."""
        held = np.ones(len(self.scaled.constants), np.bool_)
        held[self.places] = False
        return held

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest values (C,) in the user's units."""
        low, high = np.array([one.bounds for one in self.law.parameters]).reshape(-1, 2).T
        return low[self.numbers], high[self.numbers]

    @property
    def at_bound(self) -> Bools:
        """(C,): which of them a bound holds back."""
        near = [
            np.isfinite(end) & (np.abs(self.values - end) <= AT_BOUND * self.units) for end in self.bounds
        ]
        return near[0] | near[1]

    @property
    def rounded(self) -> Bools:
        """(C,): which of them were rounded to simple numbers."""
        return simple_numbers(self.values) & ~self.at_bound

    def in_users_units(self, scaled: Floats) -> Floats:
        """Own numbers (..., C) from the constants of `scaled` (..., all of them)."""
        return np.asarray(scaled[..., self.places] * self.units)

    @cached_property
    def equations(self) -> list[str]:
        """(C,): the variables in whose equations they are."""
        system = self.law.system
        first = len(system.names) - len(self.law.parameters)
        read = [set(one.values[one.ops == VAR].tolist()) for one in system.program.components()]
        return [
            ", ".join(name for name, own in zip(system.variables, read, strict=True) if first + k in own)
            for k in self.numbers.tolist()
        ]

    def written_errors(self, system: ODESystem, curvature: Curvature) -> Floats:
        """Standard errors of the numbers of the printed system; NaN where it is written in another way."""
        explicit, written = explicit_form(system.program)
        slopes = self._slopes(explicit)
        if slopes is None:
            return np.full(int(written.sum()), np.nan)
        wider = np.zeros((len(slopes), len(curvature.free)))
        wider[:, self.places] = slopes * self.units
        errors = curvature.errors_of(wider)
        moved = (slopes != 0.0).any(axis=1)
        return np.where(moved, np.maximum(errors, SMALLEST_ERROR * np.abs(explicit.constants)), 0.0)[written]

    def _slopes(self, explicit: Program) -> Floats | None:
        """Derivatives (numbers, C) of the numbers of the printed system; None if it is another system."""
        rows = len(self.law.parameters)
        values = self.law.values(np.zeros(1, np.int64))[:, 0]
        slopes = np.zeros((len(explicit.constants), len(self.numbers)))
        try:
            if not np.array_equal(self.law.numbers(values).ops, explicit.ops):
                return None
            for one in range(rows):
                step = STEP * (abs(values[one]) or 1.0)
                up, down = (self.law.numbers(values + sign * step * np.eye(rows)[one]) for sign in (1, -1))
                if np.array_equal(up.ops, explicit.ops) and np.array_equal(down.ops, explicit.ops):
                    change = (up.constants - down.constants) / (2.0 * step)  # 0 for one that varies
                    slopes[:, self.numbers == one] = change[:, None]
        except ExpressionError:
            return None
        size = np.abs(slopes) * np.maximum(np.abs(self.values), 1e-300)
        return np.where(size > STEP * np.abs(explicit.constants)[:, None], slopes, 0.0)


def parameters_of(law: Law, prepared: Prepared) -> tuple[Parameters, Observations]:
    """The parameters of a law, and the data with the law as what is known."""
    values = law.values(prepared.chosen)
    units = np.abs(values).max(axis=1, initial=0.0)
    units = np.where(units > 0.0, units, 1.0)
    given = law.knowledge().given(values, prepared.scaling, units)
    numbers = np.zeros(len(given.numbers), np.int64)
    trajectories = np.full(len(given.numbers), -1)
    for k, row in enumerate(given.places):
        numbers[row] = np.arange(len(row))
        trajectories[row] = np.where(given.varied, k, -1)
    return Parameters(law, given, given.nothing_found, numbers, trajectories), replace(
        prepared.data, given=given
    )
