"""A Modelica model."""

from __future__ import annotations

from collections.abc import Sequence

from odefinder.data.doses import Dose
from odefinder.errors import SettingsError
from odefinder.output.export.language import Language, script
from odefinder.output.export.problem import Problem, Signal

WORDS = """
algorithm and annotation block break class connect connector constant constrainedby der discrete each else
elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for
function if import impure in initial inner input loop model not operator or outer output package parameter
partial protected public pure record redeclare replaceable return stream then true type when while within
sin cos tan exp log sqrt abs tanh time pre reinit Real Integer Boolean String System start fixed noEvent
StateSelect Modelica smooth sample edge change delay cardinality homotopy terminal
"""
MODELICA = Language(reserved=frozenset(WORDS.split()), comment="//", time="time", undefined="", infinite="")


def modelica(problem: Problem) -> str:
    """The model."""
    problem = problem.started()
    words = script(problem, MODELICA)
    for equation in words.equations:
        if not abs(equation.values).max(initial=0.0) < float("inf"):
            raise SettingsError(
                "Modelica has no number for infinity or for what is not defined, and an equation has one; "
                "export to python, julia or sbml"
            )
    lines = ["model System", *(f"  {line}" for line in words.header())]
    lines += [f"  parameter Real {one.name} = {one.value!r};" for one in words.known()]
    for name, value in zip(words.variables, problem.start, strict=True):
        lines.append(f"  Real {name}(start = {value!r}, fixed = true);")
    lines += [f"  Real {one.name};" for one in words.inputs]
    lines.append("equation")
    for name, formula in zip(words.variables, words.formulas, strict=True):
        lines.append(words.wrapped(f"  der({name}) = {formula};"))
    changing = [one for one in problem.signals if one is not None and one.constant is None]
    for one, signal in zip(words.inputs, changing, strict=True):
        lines += _signal(one.name, signal)
    for name, title in zip(words.variables, problem.variables, strict=True):
        lines += _doses(name, [dose for dose in problem.doses if dose.state == title])
    span = f"StartTime = {problem.begin!r}, StopTime = {problem.end!r}"
    return "\n".join([*lines, f"  annotation(experiment({span}, Tolerance = 1e-8));", "end System;", ""])


def _doses(name: str, doses: Sequence[Dose]) -> list[str]:
    """One when-clause: a variable may be set in no more than one."""
    lines = list[str]()
    for number, dose in enumerate(doses):
        lines.append(f"  {'when' if number == 0 else 'elsewhen'} time >= {dose.time!r} then")
        lines.append(f"    reinit({name}, pre({name}) + ({dose.amount!r}));")
    return [*lines, "  end when;"] if doses else []


def _signal(name: str, signal: Signal) -> list[str]:
    """An if-expression, part by part."""
    *parts, last = signal.pieces()
    lines = [f"  {name} ="]
    for number, part in enumerate(parts):
        rise = f" + ({part.slope!r})*(time - ({part.since!r}))" if part.slope else ""
        word = "if" if number == 0 else "elseif"
        lines.append(f"    {word} time < {part.until!r} then {part.value!r}{rise}")
    return [*lines, f"    else {last.value!r};"]
