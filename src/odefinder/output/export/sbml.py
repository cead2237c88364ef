"""SBML Level 3 Version 2: rate rules, parameters, initial assignments, events.

Time begins at 0 in most tools for SBML.  Where the data begin elsewhere and the time matters, the model has a
time of its own: an assignment rule that adds the beginning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from odefinder.data.roles import TIME_NAME
from odefinder.errors import ExpressionError
from odefinder.expressions.program import CONST, VAR, Program, operator
from odefinder.expressions.walk import fold
from odefinder.output.export.language import Language, script
from odefinder.output.export.names import printable
from odefinder.output.export.problem import Piece, Problem

NAMESPACE = "http://www.sbml.org/sbml/level3/version2/core"
MATHML = "http://www.w3.org/1998/Math/MathML"
XHTML = "http://www.w3.org/1999/xhtml"
OWN_TIME = "model_time"
SBML = Language(reserved=frozenset([OWN_TIME, "model", "time"]), time=OWN_TIME)

TAGS = {"add": "plus", "mul": "times", "pow": "power", "log": "ln", "sqrt": "root"}
WHOLE_POWERS = {"pow2": 2.0, "pow3": 3.0, "pow4": 4.0, "pow5": 5.0}


def sbml(problem: Problem) -> str:
    """The document."""
    problem = problem.started()
    words = script(problem, SBML)
    document = Element("sbml", {"xmlns": NAMESPACE, "level": "3", "version": "2"})
    model = SubElement(document, "model", {"id": "model"})
    body = SubElement(SubElement(model, "notes"), "body", {"xmlns": XHTML})
    for line in (*words.remarks, f"Times from {problem.begin!r} to {problem.end!r}."):
        SubElement(body, "p").text = line
    parameters = SubElement(model, "listOfParameters")
    starts = SubElement(model, "listOfInitialAssignments")
    rules = SubElement(model, "listOfRules")

    changing = [one for one in problem.signals if one is not None and one.constant is None]
    if changing or problem.doses or TIME_NAME in problem.inputs:
        _parameter(parameters, OWN_TIME, None, constant=False)
        shifted = _apply("plus", _number(problem.begin), _clock()) if problem.begin else _clock()
        _rule(rules, "assignmentRule", OWN_TIME, shifted)
    for one in words.known():
        _parameter(parameters, one.name, one.value)
    for driver, signal in zip(words.inputs, changing, strict=True):
        _parameter(parameters, driver.name, None, constant=False)
        _rule(rules, "assignmentRule", driver.name, _piecewise(signal.pieces()))
    rows = zip(words.variables, problem.variables, problem.start, words.equations, strict=True)
    for name, title, value, equation in rows:
        start_name = words.names.take(f"start_of_{name}")
        _parameter(parameters, start_name, value)
        _parameter(parameters, name, None, constant=False, title=title)
        start = SubElement(starts, "initialAssignment", {"symbol": name})
        _math(start).append(_symbol(start_name))
        _rule(rules, "rateRule", name, _formula(equation, words.symbols))
    if problem.doses:
        _events(model, problem, dict(zip(problem.variables, words.variables, strict=True)))
    try:
        indent(document)
        text = tostring(document, encoding="unicode")
    except RecursionError:
        raise ExpressionError("an equation is nested too deeply for XML; export to text") from None
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _parameter(
    parent: Element, name: str, value: float | None, *, constant: bool = True, title: str = ""
) -> None:
    entry = SubElement(parent, "parameter", {"id": name, "constant": "true" if constant else "false"})
    if value is not None:
        entry.set("value", repr(value))
    if title and title != name:
        entry.set("name", printable(title))


def _rule(parent: Element, kind: str, name: str, formula: Element) -> None:
    _math(SubElement(parent, kind, {"variable": name})).append(formula)


def _events(model: Element, problem: Problem, renamed: dict[str, str]) -> None:
    events = SubElement(model, "listOfEvents")
    for dose in problem.doses:
        event = SubElement(events, "event", {"useValuesFromTriggerTime": "false"})
        trigger = SubElement(event, "trigger", {"initialValue": "true", "persistent": "true"})
        _math(trigger).append(_apply("geq", _symbol(OWN_TIME), _number(dose.time)))
        assigned = SubElement(event, "listOfEventAssignments")
        name = renamed[str(dose.state)]
        assignment = SubElement(assigned, "eventAssignment", {"variable": name})
        _math(assignment).append(_apply("plus", _symbol(name), _number(dose.amount)))


# ---------------------------------------------------------------------------------------- MathML


def _math(parent: Element) -> Element:
    return SubElement(parent, "math", {"xmlns": MATHML})


def _apply(tag: str, *arguments: Element) -> Element:
    element = Element("apply")
    element.extend([Element(tag), *arguments])
    return element


def _symbol(name: str) -> Element:
    element = Element("ci")
    element.text = name
    return element


def _clock() -> Element:
    url = "http://www.sbml.org/sbml/symbols/time"
    element = Element("csymbol", {"encoding": "text", "definitionURL": url})
    element.text = "time"
    return element


def _number(value: float) -> Element:
    """A number without an exponent: readers of those multiply by a power of ten, which rounds."""
    if math.isnan(value):
        return Element("notanumber")
    if math.isinf(value):
        infinity = Element("infinity")
        return infinity if value > 0 else _apply("minus", infinity)
    element = Element("cn")
    element.text = format(Decimal(repr(value)), "f")
    return element


def _piecewise(parts: Sequence[Piece]) -> Element:
    element = Element("piecewise")
    for part in parts[:-1]:
        piece = SubElement(element, "piece")
        elapsed = _apply("minus", _symbol(OWN_TIME), _number(part.since))
        rise = _apply("times", _number(part.slope), elapsed)
        piece.append(_apply("plus", _number(part.value), rise) if part.slope else _number(part.value))
        piece.append(_apply("lt", _symbol(OWN_TIME), _number(part.until)))
    SubElement(element, "otherwise").append(_number(parts[-1].value))
    return element


def _formula(equation: Program, symbols: Sequence[str]) -> Element:
    """The MathML of an expression."""

    def build(op: int, value: float, arguments: Sequence[Element]) -> Element:
        if op == CONST:
            return _number(value)
        if op == VAR:
            return _symbol(symbols[int(value)])
        name = operator(op).name
        if name in WHOLE_POWERS:
            return _apply("power", arguments[0], _number(WHOLE_POWERS[name]))
        if name == "inv":
            return _apply("divide", _number(1.0), arguments[0])
        return _apply(TAGS.get(name, name), *arguments)

    return fold(equation.ops, equation.values, build)
