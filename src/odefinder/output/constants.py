"""Named constants as text and LaTeX, under the equations that have them."""

from __future__ import annotations

from collections.abc import Mapping

from odefinder.expressions.printing import latex_name, to_latex
from odefinder.expressions.program import CONST
from odefinder.expressions.terms import node
from odefinder.output.numbers import with_error

POWER = r" \cdot 10^{{{}}}"
DIGITS = 4
Constants = Mapping[str, float | tuple[float, ...]]


def constants_text(constants: Constants) -> str:
    """One line, `b = 0.004, g = 0.1`; one that varies lists its values; empty without constants."""
    return ", ".join(
        f"{name} = {_one(value) if isinstance(value, float) else '(' + ', '.join(map(_one, value)) + ')'}"
        for name, value in constants.items()
    )


def _one(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def with_constants(
    latex: str, constants: Constants, digits: int | None = DIGITS, errors: Constants | None = None
) -> str:
    """An `aligned` block with a line for each named constant at its end, perhaps with standard errors."""
    if not constants:
        return latex
    lines = []
    for name, value in constants.items():
        values = _listed(value)
        own = _listed((errors or {}).get(name, 0.0))
        own = own if len(own) == len(values) else (0.0,) * len(values)
        numbers = [_latex(one, error, digits) for one, error in zip(values, own, strict=True)]
        lines.append(rf"{latex_name(name)} &= " + r",\; ".join(numbers))
    end = "\n\\end{aligned}"
    return latex.removesuffix(end) + " \\\\\n" + " \\\\\n".join(lines) + end


def _listed(value: float | tuple[float, ...]) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)


def _latex(value: float, error: float, digits: int | None) -> str:
    if not error > 0.0:
        return to_latex(node(CONST, value), [], digits)
    return ("-" if value < 0.0 else "") + with_error(abs(value), error, digits or DIGITS, POWER)
