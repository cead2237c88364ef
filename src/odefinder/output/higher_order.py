"""Equations of second and third order as people write them: theta'' = -sin(theta) - 0.2*theta'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odefinder.data.dataset import Dataset
from odefinder.expressions.digits import Digits
from odefinder.expressions.printing import latex_derivative, to_latex, to_text
from odefinder.expressions.program import Program
from odefinder.expressions.written import aligned
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
    names, digits = [*state_names(system, dataset), *system.inputs], None if exact else system.digits
    lines = [
        (f"{names[number]}'", to_text(equation, names, digits, own))
        for number, equation, own in written_equations(system, dataset, labels)
    ]
    width = max(len(left) for left, _ in lines)
    return "\n".join(f"{left:<{width}} = {right}" for left, right in lines)


def equations_latex(
    system: ODESystem, dataset: Dataset, digits: Digits, labels: Sequence[str | None] | None = None
) -> str:
    """The same as an `aligned` block of LaTeX; labels: what stands in place of each constant's magnitude."""
    names = [*state_names(system, dataset), *system.inputs]
    return aligned(
        [
            f"{latex_left(names[number])} &= {to_latex(equation, names, digits, own)}"
            for number, equation, own in written_equations(system, dataset, labels)
        ]
    )


def latex_left(name: str) -> str:
    """The left-hand side of an equation: the derivative of x, or of x'."""
    plain = name.rstrip("'")
    return latex_derivative(plain, 1 + len(name) - len(plain))


def written_equations(
    system: ODESystem, dataset: Dataset, labels: Sequence[str | None] | None = None
) -> Iterator[tuple[int, Program, Sequence[str | None] | None]]:
    """The number of each equation that people write, x' = v left out, its program and its labels."""
    followed, first = set(dataset.unseen_derivatives()), 0
    for number, equation in enumerate(system.program.components()):
        own = None if labels is None else labels[first : first + len(equation.constants)]
        first += len(equation.constants)
        if number not in followed:
            yield number, equation, own
