"""The SymPy export, executed."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from odefinder import ODESystem
from tests.output.export.cases import DRIVEN, DRIVERS, EVERYTHING, PREY, hostile_system

pytestmark = pytest.mark.filterwarnings("ignore::odefinder.errors.SimulationWarning")  # held inputs


@pytest.mark.parametrize("system", [PREY, EVERYTHING, hostile_system()])
def test_expressions(system: ODESystem) -> None:
    names: dict[str, Any] = {}
    exec(system.export("sympy"), names)
    point = np.linspace(0.4, 1.9, system.dimension)
    symbols = list(names["equations"])
    found = [float(one.subs(dict(zip(symbols, point, strict=True)))) for one in names["numeric"].values()]
    np.testing.assert_allclose(found, system.derivative(point), rtol=1e-12)
    assert all(set(one.free_symbols) <= {*symbols} for one in names["numeric"].values())
    values = sorted(float(value) for value in names["values"].values())
    assert set(values) <= set(np.abs(system.constants).tolist())  # exact


def test_inputs_stay_symbols_and_conditions_have_values() -> None:
    names: dict[str, Any] = {}
    exec(DRIVEN.export("sympy", [1.0, 0.0], [0.0, 1.0], **DRIVERS), names)
    equation = names["numeric"][names["v"]]
    assert {str(symbol) for symbol in equation.free_symbols} == {"x", "v", "u", "w", "t"}
    assert names["start"] == {names["x"]: 1.0, names["v"]: 0.0}
    assert isinstance(names["equations"][names["x"]], sp.Expr)
