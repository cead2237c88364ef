"""Equations of second and third order as people write them: theta'' = -sin(theta) - 0.2*theta'."""

from __future__ import annotations

from odefinder.data.dataset import Dataset
from odefinder.expressions.printing import to_text
from odefinder.system import ODESystem


def equations_text(system: ODESystem, dataset: Dataset, digits: int | None = 4) -> str:
    """One line per equation; velocities that nobody measured are written as derivatives."""
    position = dict(enumerate(dataset.unseen_derivatives()))
    if system.dimension != len(position) or all(place < 0 for place in position.values()):
        return system.to_text(digits)
    names = list(system.variables)
    for number, place in position.items():  # a state comes before its derivatives
        if place >= 0:
            names[number] = names[place] + "'"
    followed = set(position.values())
    lines = [
        (f"{names[number]}'", to_text(equation, [*names, *system.inputs], digits))
        for number, equation in enumerate(system.program.components())
        if number not in followed
    ]
    width = max(len(left) for left, _ in lines)
    return "\n".join(f"{left:<{width}} = {right}" for left, right in lines)
