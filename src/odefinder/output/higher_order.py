"""Equations of second and third order as people write them: theta'' = -sin(theta) - 0.2*theta'."""

from __future__ import annotations

from collections.abc import Sequence

from odefinder.data.dataset import Dataset
from odefinder.expressions.printing import to_text
from odefinder.system import ODESystem


def state_names(system: ODESystem, dataset: Dataset) -> list[str]:
    """The variables as people write them: a velocity that nobody measured is the derivative of its state."""
    names, places = list(system.variables), dataset.unseen_derivatives()
    if len(places) == len(names):
        for number, place in enumerate(places):  # a state comes before its derivatives
            if place >= 0:
                names[number] = names[place] + "'"
    return names


def equations_text(
    system: ODESystem,
    dataset: Dataset,
    exact: bool = False,
    labels: Sequence[str | None] | None = None,
) -> str:
    """One line per equation; velocities that nobody measured are written as derivatives.

    exact: with all digits, not only those that reproduce the trajectory.  labels: what stands in place of
    each constant, in program order; None: its number.
    """
    digits = None if exact else system.digits
    names, followed = state_names(system, dataset), set(dataset.unseen_derivatives())
    lines, first = [], 0
    for number, equation in enumerate(system.program.components()):
        own = None if labels is None else labels[first : first + len(equation.constants)]
        first += len(equation.constants)
        if number not in followed:
            lines.append((f"{names[number]}'", to_text(equation, [*names, *system.inputs], digits, own)))
    width = max(len(left) for left, _ in lines)
    return "\n".join(f"{left:<{width}} = {right}" for left, right in lines)
