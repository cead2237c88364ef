"""ODESystem with inputs: variables without equations."""

import math
from typing import Any

import numpy as np
import pytest
import sympy

from odefinder.errors import DataError, ExpressionError
from odefinder.system import ODESystem

PLAIN = ODESystem.from_text("v' = -v")
DRIVEN = ODESystem.from_text("v' = u*k - v; w' = v*u", inputs=["u", "k"])


def test_inputs_have_no_equations() -> None:
    assert DRIVEN.inputs == ("u", "k")
    assert DRIVEN.names == ("v", "w", "u", "k")
    assert DRIVEN.dimension == 2
    assert str(DRIVEN) == "v' = u*k - v\nw' = v*u"
    assert DRIVEN.latex() == "\\begin{aligned}\n\\dot{v} &= u k - v \\\\\n\\dot{w} &= v u\n\\end{aligned}"
    assert ODESystem.from_text("v' = u*k - v; w' = v*u; u' = 0; k' = 0") != DRIVEN
    v, w, u, k = sympy.symbols("v w u k", real=True)
    assert DRIVEN.sympy() == [u * k - v, v * u]
    assert ODESystem.from_sympy({v: u * k - v, w: u * v}, inputs=[u, "k"]).inputs == ("u", "k")
    turned = DRIVEN.with_variables(["w", "v"])
    assert str(turned) == "w' = v*u\nv' = u*k - v"
    assert turned.with_variables(["v", "w"]) == DRIVEN


def test_derivative_with_inputs() -> None:
    np.testing.assert_allclose(DRIVEN.derivative([1.0, 2.0], [3.0, 4.0]), [11.0, 3.0])
    np.testing.assert_allclose(DRIVEN.derivative([1.0, 2.0], {"k": 4.0, "u": 3.0}), [11.0, 3.0])
    rows = DRIVEN.derivative([[1.0, 2.0], [0.0, 0.0]], {"k": 4.0, "u": [3.0, 1.0]})
    np.testing.assert_allclose(rows, [[11.0, 3.0], [4.0, 0.0]])
    for inputs, message in ((None, "has inputs: u, k"), ([1.0], "numbers, 2 for each"), ({"u": 1.0}, "k")):
        with pytest.raises(DataError, match=message):
            DRIVEN.derivative([1.0, 2.0], inputs if inputs != [1.0] else [1.0, 2.0, 3.0])


def test_python_source_with_inputs() -> None:
    namespace: dict[str, Any] = {}
    exec(DRIVEN.python(), namespace)
    np.testing.assert_allclose(namespace["f"](0.0, [1.0, 2.0], [3.0, 4.0]), [11.0, 3.0])
    assert "u holds the inputs at time t: u, k" in DRIVEN.python()
    by_time = ODESystem.from_text("x' = sin(t)*u", inputs=["t", "u"])
    exec(by_time.python(), namespace)
    np.testing.assert_allclose(namespace["f"](2.0, [1.0], [3.0]), [3.0 * math.sin(2.0)])
    exec(ODESystem.from_text("x' = t", inputs=["t"]).python(), namespace)
    assert namespace["f"](2.0, [1.0]).tolist() == [2.0]


def test_inputs_are_saved() -> None:
    assert DRIVEN.to_dict()["version"] == 2
    assert DRIVEN.to_dict()["inputs"] == ["u", "k"]
    assert PLAIN.to_dict()["version"] == 1
    assert "inputs" not in PLAIN.to_dict()
    assert ODESystem.from_json(DRIVEN.to_json()) == DRIVEN


@pytest.mark.parametrize(
    ("equations", "inputs", "message"),
    [
        ("v' = u - v", [], r"give inputs=\['u'\]"),
        ("v' = sin(t)", [], r"inputs=\['t'\]"),
        ("v' = u - v; u' = 1", ["u"], "is an input and has an equation"),
        ("v' = u - v", ["u", "u"], "the input 'u' is given twice"),
        ("v' = u - v", "u", "give the inputs as a list"),
        ("v' = u - v", ["u 1"], "cannot name an input"),
    ],
)
def test_wrong_names_of_inputs(equations: str, inputs: Any, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        ODESystem.from_text(equations, inputs=inputs)
