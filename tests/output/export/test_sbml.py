"""The SBML export, read by libsbml: valid, and with the same derivatives."""

import math
from typing import Any

import numpy as np
import pytest

from odefinder import ODESystem
from odefinder.errors import ExpressionError
from odefinder.expressions.program import SIN, VAR, make_program
from odefinder.numerics.knots import values_at
from odefinder.simulation.driving import driving_signals
from tests.output.export.cases import DRIVEN, DRIVERS, EVERYTHING, HOSTILE, PREY, hostile_system

libsbml = pytest.importorskip("libsbml")
pytestmark = pytest.mark.filterwarnings("ignore::odefinder.errors.SimulationWarning")  # held inputs

FUNCTIONS = {
    libsbml.AST_FUNCTION_SIN: math.sin,
    libsbml.AST_FUNCTION_COS: math.cos,
    libsbml.AST_FUNCTION_TAN: math.tan,
    libsbml.AST_FUNCTION_EXP: math.exp,
    libsbml.AST_FUNCTION_LN: math.log,
    libsbml.AST_FUNCTION_ABS: abs,
    libsbml.AST_FUNCTION_TANH: math.tanh,
    libsbml.AST_PLUS: lambda a, b: a + b,
    libsbml.AST_TIMES: lambda a, b: a * b,
    libsbml.AST_MINUS: lambda a, b: a - b,
    libsbml.AST_DIVIDE: lambda a, b: a / b,
    libsbml.AST_POWER: lambda a, b: a**b,
    libsbml.AST_FUNCTION_POWER: lambda a, b: a**b,
    libsbml.AST_FUNCTION_ROOT: lambda degree, a: a ** (1 / degree),
    libsbml.AST_RELATIONAL_LT: lambda a, b: a < b,
    libsbml.AST_RELATIONAL_GEQ: lambda a, b: a >= b,
}


def read(text: str) -> Any:
    """The document, which has to be consistent."""
    document = libsbml.readSBMLFromString(text)
    document.checkConsistency()
    problems = [document.getError(k) for k in range(document.getNumErrors())]
    serious = [one.getMessage() for one in problems if one.getSeverity() >= libsbml.LIBSBML_SEV_ERROR]
    assert serious == []
    return document


def value(node: Any, known: dict[str, float]) -> float:
    """What an expression of libsbml is worth."""
    if node.getType() == libsbml.AST_NAME_TIME:
        return known["time"]
    if node.isName():
        return known[node.getName()]
    if node.isNumber():
        return float(node.getValue())
    parts = [node.getChild(k) for k in range(node.getNumChildren())]
    if node.getType() == libsbml.AST_FUNCTION_PIECEWISE:
        for result, condition in zip(parts[::2], parts[1::2], strict=False):
            if value(condition, known):
                return value(result, known)
        return value(parts[-1], known)
    return float(FUNCTIONS[node.getType()](*(value(part, known) for part in parts)))


def derivatives(model: Any, states: dict[str, float], time: float) -> list[float]:
    """The rates at a time, as a simulator would compute them."""
    parameters = [model.getParameter(k) for k in range(model.getNumParameters())]
    known = {one.getId(): one.getValue() for one in parameters if one.isSetValue()} | states | {"time": time}
    rules = [model.getRule(k) for k in range(model.getNumRules())]
    for rule in rules:
        if rule.isAssignment():
            known[rule.getVariable()] = value(rule.getMath(), known)
    return [value(rule.getMath(), known) for rule in rules if rule.isRate()]


@pytest.mark.parametrize("system", [PREY, EVERYTHING, hostile_system()])
def test_rates(system: ODESystem) -> None:
    model = read(system.export("sbml")).getModel()
    ids = [rule.getVariable() for rule in (model.getRule(k) for k in range(model.getNumRules()))]
    point = np.linspace(0.4, 1.9, system.dimension)
    found = derivatives(model, dict(zip(ids, point, strict=True)), 0.0)
    np.testing.assert_allclose(found, system.derivative(point), rtol=1e-12)


def test_start_values_and_constants_are_exact() -> None:
    model = read(PREY.export("sbml", [1 / 3, 1e-17], [0.0, 1.0])).getModel()
    assert model.getLevel() == 3
    assert model.getVersion() == 2
    known = {one.getId(): one.getValue() for one in map(model.getParameter, range(model.getNumParameters()))}
    assert [known[f"k{k}"] for k in (1, 2, 3, 4)] == [0.4428, 0.0234, 0.03, 1.008]
    starts = [model.getInitialAssignment(k) for k in range(model.getNumInitialAssignments())]
    assert {one.getSymbol(): value(one.getMath(), known) for one in starts} == {"hare": 1 / 3, "lynx": 1e-17}


@pytest.mark.parametrize("begin", [0.0, 1900.25])
def test_inputs_and_time(begin: float) -> None:
    """The time of the model begins with the data, that of SBML at 0."""
    options = DRIVERS | {
        "inputs": {name: (np.add(begin, t), u) for name, (t, u) in DRIVERS["inputs"].items()}
    }
    times = begin + np.linspace(0.0, 10.0, 41)
    model = read(DRIVEN.export("sbml", [1.0, 0.5], times, **options)).getModel()
    signals, _ = driving_signals(DRIVEN.inputs, options["inputs"], options["conditions"], times)
    for time, known in zip(times, values_at(signals, times), strict=True):
        found = derivatives(model, {"x": 1.0, "v": 0.5}, time - begin)
        np.testing.assert_allclose(found, DRIVEN.derivative([1.0, 0.5], known), rtol=1e-9)


def test_doses_are_events() -> None:
    doses = {"lynx": [(0.0, 2.0), (6.0, 50.0)], "hare": [(7.5, -1.0)]}
    model = read(PREY.export("sbml", [30.0, 4.0], [0.0, 10.0], doses=doses)).getModel()
    assert model.getParameter("start_of_lynx").getValue() == 6.0  # what is given at once
    found = []
    for event in map(model.getEvent, range(model.getNumEvents())):
        known = {"hare": 1.0, "lynx": 1.0}
        early, late = (value(event.getTrigger().getMath(), {"model_time": time}) for time in (5.99, 7.5))
        assert (early, late) == (0.0, 1.0)
        change = event.getEventAssignment(0)
        found.append((change.getVariable(), value(change.getMath(), known) - 1.0))
    assert found == [("lynx", 50.0), ("hare", -1.0)]


def test_names_are_kept_as_titles() -> None:
    model = read(hostile_system().export("sbml")).getModel()
    titles = {one.getName() for one in map(model.getParameter, range(model.getNumParameters()))}
    assert {name for name in HOSTILE if not name.isascii()} <= titles


def test_what_is_nested_too_deeply() -> None:
    deep = ODESystem(make_program([SIN] * 4000 + [VAR], [0.0] * 4001), ("x",))
    with pytest.raises(ExpressionError, match="nested too deeply for XML"):
        deep.export("sbml")
