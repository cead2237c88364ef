"""LaTeX for papers: numbers are rounded, as nobody prints 17 digits."""

from __future__ import annotations

from odefinder.expressions.printing import latex_name, to_latex
from odefinder.output.export.problem import Problem


def latex(problem: Problem) -> str:
    """An `aligned` block for mathematics mode."""
    lines = (
        rf"\dot{{{latex_name(name)}}} &= {to_latex(equation, problem.names, problem.digits)}"
        for name, equation in zip(problem.variables, problem.equations, strict=True)
    )
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"
