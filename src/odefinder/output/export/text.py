"""Plain text, as `ODESystem.from_text` reads it; the rest is in comments."""

from __future__ import annotations

from odefinder.expressions.printing import to_text
from odefinder.output.export.names import printable
from odefinder.output.export.problem import Problem


def text(problem: Problem) -> str:
    """The equations with all digits, a line each: lines are never broken, as each is an equation."""
    lines = [
        f"{name}' = {to_text(equation, problem.names)}"
        for name, equation in zip(problem.variables, problem.equations, strict=True)
    ]
    if problem.inputs:
        lines.append(f"# inputs: {', '.join(map(printable, problem.inputs))}")
    if not problem.assumed:
        values = (f"{name} = {value!r}" for name, value in zip(problem.variables, problem.start, strict=True))
        lines.append(f"# from t = {problem.begin!r} to {problem.end!r}, beginning at {', '.join(values)}")
    lines += [f"# at t = {dose.time!r} {dose.amount!r} is added to {dose.state}" for dose in problem.doses]
    return "\n".join([*lines, ""])
