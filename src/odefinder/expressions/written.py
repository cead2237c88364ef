"""A whole system written out: lines of text, an aligned block of LaTeX, the source of a Python function."""

from __future__ import annotations

from collections.abc import Sequence

from odefinder.expressions.digits import Digits
from odefinder.expressions.printing import latex_derivative, to_latex, to_python, to_text
from odefinder.expressions.program import Program

Labels = Sequence[str | None]


def text_lines(program: Program, variables: Sequence[str], names: Sequence[str], digits: Digits) -> str:
    """One line per equation, `x' = ...`, with the equals signs below each other; names: of all it reads."""
    width = max(map(len, variables)) + 1
    return "\n".join(
        f"{name + chr(39):<{width}} = {to_text(component, names, digits)}"
        for name, component in zip(variables, program.components(), strict=True)
    )


def latex_block(
    program: Program,
    variables: Sequence[str],
    names: Sequence[str],
    digits: Digits,
    labels: Labels | None = None,
) -> str:
    """An `aligned` block.  labels: what stands in place of each constant's magnitude; None: its number."""
    lines, first = list[str](), 0
    for name, component in zip(variables, program.components(), strict=True):
        own = None if labels is None else labels[first : first + len(component.constants)]
        first += len(component.constants)
        lines.append(f"{latex_derivative(name)} &= {to_latex(component, names, digits, own)}")
    return aligned(lines)


def aligned(lines: Sequence[str]) -> str:
    """Lines of LaTeX, each with an & at its equals sign, as one block."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def python_function(
    name: str, program: Program, variables: Sequence[str], inputs: Sequence[str], time_name: str
) -> str:
    """The source of `f(t, x)`, or `f(t, x, u)` with inputs other than the time."""
    signals = [one for one in inputs if one != time_name]
    known = ["t" if one == time_name else f"u[{signals.index(one)}]" for one in inputs]
    sources = [*(f"x[{index}]" for index in range(len(variables))), *known]
    lines = [
        f"        {to_python(component, sources)},  # {variable}'"
        for variable, component in zip(variables, program.components(), strict=True)
    ]
    header = [f"    # x holds {', '.join(variables)}"]
    if signals:
        header.append(f"    # u holds the inputs at time t: {', '.join(signals)}")
    arguments = "t, x, u" if signals else "t, x"
    body = [f"def {name}({arguments}):", *header, "    return np.array([", *lines, "    ])"]
    return "\n".join(["import numpy as np", "", "", *body, ""])
