"""LaTeX for papers: numbers are rounded, as nobody prints 17 digits."""

from __future__ import annotations

from odefinder.expressions.program import concatenate
from odefinder.expressions.written import latex_block
from odefinder.output.export.problem import Problem


def latex(problem: Problem) -> str:
    """An `aligned` block for mathematics mode."""
    system = concatenate(problem.equations)
    return latex_block(system, problem.variables, problem.names, problem.digits) + "\n"
