"""Named constants as text and LaTeX, under the equations that have them."""

from __future__ import annotations

from collections.abc import Mapping

from odefinder.expressions.printing import latex_name, to_latex
from odefinder.expressions.program import CONST
from odefinder.expressions.terms import node

Constants = Mapping[str, float | tuple[float, ...]]


def constants_text(constants: Constants, digits: int = 4) -> str:
    """One line, `b = 0.004, g = 0.1`; one that varies lists its values; empty without constants."""
    return ", ".join(
        f"{name} = {_one(value, digits) if isinstance(value, float) else _several(value, digits)}"
        for name, value in constants.items()
    )


def _one(value: float, digits: int) -> str:
    return f"{value:.{digits}g}"


def _several(values: tuple[float, ...], digits: int) -> str:
    return "(" + ", ".join(_one(value, digits) for value in values) + ")"


def with_constants(latex: str, constants: Constants, digits: int | None = 4) -> str:
    """An `aligned` block with a line for each named constant at its end."""
    if not constants:
        return latex
    lines = []
    for name, value in constants.items():
        values = [value] if isinstance(value, float) else value
        lines.append(
            rf"{latex_name(name)} &= "
            + r",\; ".join(to_latex(node(CONST, one), [], digits) for one in values)
        )
    end = "\n\\end{aligned}"
    return latex.removesuffix(end) + " \\\\\n" + " \\\\\n".join(lines) + end
