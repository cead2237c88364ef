"""The constants of a candidate as sliders move them: one slider for each, however often it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.given import STAYS
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, VAR, Program, component_bounds
from odefinder.inference.fit.constants import explicit_form, pinned_constants
from odefinder.inference.law import Law
from odefinder.inference.remarks import Explanation
from odefinder.numerics.signals import Signals
from odefinder.system import ODESystem


@dataclass(frozen=True)
class Sliders:
    """A program, and which slider moves each of its numbers.  Names are those of the table of errors."""

    program: Program
    owners: list[int]  # of each number; STAYS: no slider moves it
    signs: list[float]  # by which the value of the slider is multiplied
    names: list[str]
    values: list[float]

    @property
    def equations(self) -> list[list[int]]:
        """The equations in which each slider has a number."""
        where = np.zeros(len(self.program), np.int64)
        for equation, (first, last) in enumerate(component_bounds(self.program.ops)):
            where[first:last] = equation
        numbers = zip(self.owners, where[self.program.ops == CONST].tolist(), strict=True)
        found: list[dict[int, None]] = [{} for _ in self.names]
        for owner, equation in numbers:
            if owner != STAYS:
                found[owner][equation] = None
        return [list(one) for one in found]

    def moved(self, values: Floats) -> Program:
        """The program with other values of the sliders, as it is printed."""
        numbers = self.program.constants
        for k, (owner, sign) in enumerate(zip(self.owners, self.signs, strict=True)):
            if owner != STAYS:
                numbers[k] = sign * values[owner]
        program = self.program.with_constants(numbers)
        try:
            return canonical(program)
        except ExpressionError:
            return program


def sliders_of(one: Explanation, dataset: Dataset) -> Sliders:
    """The sliders of a candidate."""
    return _of_numbers(one.system, dataset) if one.law is None else _of_law(one.law)


def _of_numbers(system: ODESystem, dataset: Dataset) -> Sliders:
    """Every number has its own, also a factor of 1; its sign stays in the equation."""
    explicit, _ = explicit_form(system.program)
    numbers = explicit.constants
    free = ~pinned_constants(explicit) & (numbers != 0.0)
    closed = np.zeros(len(explicit), np.bool_)
    bounds = component_bounds(explicit.ops)
    for state in dataset.velocities:  # x' = v stays what it is
        closed[slice(*bounds[state])] = True
    free &= ~closed[explicit.ops == CONST]
    owners = np.where(free, np.cumsum(free) - 1, STAYS).tolist()
    names = [f"k{k + 1}" for k in range(int(free.sum()))]
    return Sliders(explicit, owners, np.sign(numbers).tolist(), names, np.abs(numbers[free]).tolist())


def _of_law(law: Law) -> Sliders:
    """Every parameter has one; those that vary between trajectories are signals."""
    ops, numbers = law.system.program.ops.copy(), law.system.program.values.copy()
    first = len(law.system.names) - len(law.parameters)
    own = [k for k, one in enumerate(law.parameters) if not one.varied]
    varied = [k for k, one in enumerate(law.parameters) if one.varied]
    owner = np.full(len(ops), STAYS)
    for place in np.flatnonzero((ops == VAR) & (numbers >= first)).tolist():
        k = int(numbers[place]) - first
        if k in varied:
            numbers[place] = first + varied.index(k)
        else:
            ops[place], numbers[place], owner[place] = CONST, law.parameters[k].values[0], own.index(k)
    owners = owner[ops == CONST].tolist()
    shown = [law.parameters[k] for k in own]
    return Sliders(
        Program(ops, numbers), owners, [1.0] * len(owners),
        [" = ".join([one.name, *one.equal]) for one in shown], [one.values[0] for one in shown],
    )  # fmt: skip


def varied_of(one: Explanation, dataset: Dataset) -> list[dict[str, Any]]:
    """Constants that differ between trajectories: their values, and their columns among the signals."""
    first = len(dataset.inputs) + len(dataset.conditions) + dataset.explicit_time
    found = [(name, one.constants.get(name)) for name in one.system.inputs]
    own = [(name, values) for name, values in found if isinstance(values, tuple)]
    return [
        {"name": name, "column": first + k, "values": list(values)} for k, (name, values) in enumerate(own)
    ]


def with_varied(signals: Sequence[Signals], columns: Sequence[int], values: Floats) -> list[Signals]:
    """The signals (one for each trajectory) with other values (constants, trajectories) of these columns."""
    found = []
    for k, one in enumerate(signals):
        before, after = one.before.copy(), one.after.copy()
        before[:, columns] = after[:, columns] = values[:, k]
        found.append(one._replace(before=before, after=after))
    return found
