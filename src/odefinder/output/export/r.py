"""A script for R with deSolve; R reads the last digit of some numbers in its own way."""

from __future__ import annotations

from odefinder.output.export.language import Language, listed, script
from odefinder.output.export.problem import Problem

WORDS = """
if else repeat while function for next break TRUE FALSE NULL Inf NaN NA NA_integer_ NA_real_ NA_complex_
NA_character_ in T F c list sin cos tan exp log sqrt abs tanh library ode approx seq sort unique
events stops t state parameters derivative start times doses solution
"""
R = Language(reserved=frozenset(WORDS.split()))


def r(problem: Problem) -> str:
    """The script."""
    problem = problem.started()
    words, stops = script(problem, R), problem.stops()
    lines = [*words.header(), "", "library(deSolve)", ""]
    lines += [f"{one.name} <- {one.value!r}" for one in words.known()]
    for one in words.inputs:
        lines += listed(f"{one.table} <- c(", one.points.times, ")")
        lines += listed(f"{one.values} <- c(", one.points.values, ")")
    lines += ["", "derivative <- function(t, state, parameters) {"]
    lines += [f'    {name} <- state[["{name}"]]' for name in words.variables]
    for one in words.inputs:
        lines.append(f'    {one.name} <- approx({one.table}, {one.values}, t, rule = 2, ties = "ordered")$y')
    lines.append("    list(c(")
    formulas = [words.wrapped(f"        {formula}") for formula in words.formulas]
    lines += [",\n".join(formulas), "    ))", "}", ""]
    pairs = [f"{name} = {value!r}" for name, value in zip(words.variables, problem.start, strict=True)]
    lines += listed("start <- c(", pairs, ")")
    lines.append(f"times <- seq({problem.begin!r}, {problem.end!r}, length.out = 201)")
    if stops:
        lines.append("# Rows at the times where inputs bend or jump, or doses are given, too.")
        lines += [*listed("stops <- c(", stops, ")"), "times <- sort(unique(c(times, stops)))"]
    extra = ""
    if problem.doses:
        renamed = dict(zip(problem.variables, words.variables, strict=True))
        lines.append("doses <- data.frame(")
        lines += listed("var = c(", [f'"{renamed[str(dose.state)]}"' for dose in problem.doses], "),", "    ")
        lines += listed("time = c(", [dose.time for dose in problem.doses], "),", "    ")
        lines += listed("value = c(", [dose.amount for dose in problem.doses], "),", "    ")
        lines += ['    method = "add"', ")"]
        extra = ", events = list(data = doses)"
    lines.append(f"solution <- ode(start, times, derivative, NULL, rtol = 1e-8, atol = 1e-10{extra})")
    return "\n".join([*lines, ""])
