"""Variables that never change within a trajectory: their derivative is 0, exactly.

A fit reads them as conditions where they differ between trajectories, and not at all where they do not: what
is constant everywhere cannot be told from a number.  In the result they are variables again, with x' = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.roles import Role
from odefinder.errors import ExpressionError
from odefinder.expressions.program import CONST, concatenate
from odefinder.expressions.terms import node
from odefinder.inference.law import Law
from odefinder.inference.remarks import Explanation
from odefinder.system import ODESystem


@dataclass(frozen=True)
class Still:
    """The data as they came, and what a fit reads of them."""

    whole: Dataset
    moving: Dataset

    def system(self, system: ODESystem) -> ODESystem:
        """A system of what moves, together with the equations of what does not."""
        varied = [name for name in system.inputs if name not in self.moving.known]  # constants
        order = [*self.whole.names, *varied]
        moved = system.program.renumbered([order.index(name) for name in system.names])
        equations = dict(zip(self.moving.variables, moved.components(), strict=True))
        program = concatenate([equations.get(name, node(CONST)) for name in self.whole.variables])
        inputs = (*self.whole.known, *varied)
        return replace(system, program=program, variables=self.whole.variables, inputs=inputs)

    def explanations(self, found: Sequence[Explanation]) -> list[Explanation]:
        """The same for all systems that were found."""
        result = []
        for one in found:
            with suppress(ExpressionError):  # a constant that varies is called like one of the others
                system, starts = self.system(one.system), self.starts(one.starts)
                result.append(replace(one, system=system, starts=starts, law=self._law(one.law)))
        return result

    def _law(self, law: Law | None) -> Law | None:
        if law is not None:
            with suppress(ExpressionError):  # likewise
                return replace(law, system=self.system(law.system))
        return None

    def starts(self, starts: Floats) -> Floats:
        """Initial values (trajectories, D) of all variables."""
        result = self.whole.first_values()
        result[:, [self.whole.variables.index(name) for name in self.moving.variables]] = starts
        return result

    def noise(self, noise: Floats) -> Floats:
        """The noise (D,) of all variables: what never changes has none."""
        result = np.zeros(self.whole.dimension)
        result[[self.whole.variables.index(name) for name in self.moving.variables]] = noise
        return result


def without_still(dataset: Dataset) -> Still | None:
    """What a fit is to read; None where everything moves, or nothing does."""
    still = [j for j in range(dataset.dimension) if _is_still(dataset, j)]
    moving = [name for j, name in enumerate(dataset.variables) if j not in still]
    if not still or not any(name in dataset.observed for name in moving):
        return None
    values = dataset.first_values()[:, still]
    differ = (values != values[:1]).any(axis=0)
    settings = [one for one in (dataset.settings, values[:, differ]) if one is not None]
    names = [dataset.variables[j] for j, own in zip(still, differ, strict=True) if own]
    conditions = (*dataset.conditions, *names)
    fitted = replace(
        dataset.with_variables(moving),
        conditions=conditions,
        settings=np.hstack(settings) if conditions else None,
    )
    return Still(dataset, fitted)


def _is_still(dataset: Dataset, column: int) -> bool:
    """Whether an observed state has one value in each trajectory; a dose may move it, and a velocity does."""
    if dataset.roles[column] != Role.OBSERVED or column in dataset.velocities or any(dataset.doses):
        return False
    if dataset.derivative_of[column] >= 0:
        return False
    for states in dataset.states:
        known = states[:, column][np.isfinite(states[:, column])]
        if len(known) == 0 or (known != known[0]).any():
            return False
    return True
