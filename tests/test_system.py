"""ODESystem: ways in, simulation, ways out."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from odefinder.errors import (
    DataError,
    ExpressionError,
    OdefinderError,
    SettingsError,
    SimulationWarning,
    StiffnessWarning,
)
from odefinder.expressions.parse import parse
from odefinder.expressions.program import concatenate
from odefinder.system import ODESystem

LOTKA_VOLTERRA = """
    # predator and prey
    prey'     = a*prey - b*prey*hunter
    dhunter/dt = -1.5 hunter + prey*hunter
"""
SYSTEM = ODESystem.from_text(LOTKA_VOLTERRA, constants={"a": 2 / 3, "b": 4 / 3})
DECAY = ODESystem.from_text("x' = -x")


# ------------------------------------------------------------------------------------------- ways in


def test_lines_mapping_and_list_say_the_same() -> None:
    right_sides = {"x": "a*x - x*y", "y": "x*y - y"}
    expected = ODESystem(
        concatenate([parse(text, ["x", "y"], {"a": 0.5}) for text in right_sides.values()]), ("x", "y")
    )
    for equations, variables in [
        ("x' = a*x - x*y\ny' = x*y - y", None),
        ("dx/dt = a*x - x*y; dy/dt = x*y - y", None),
        ("x'(t) = a*x - x*y\n\n  y ' = x*y - y  # comment", None),
        (["x' = a*x - x*y", "y' = x*y - y"], None),
        (["a*x - x*y", "x*y - y"], ["x", "y"]),
        ("a*x - x*y\nx*y - y", ["x", "y"]),
        (right_sides, None),
        (right_sides, ["x", "y"]),
        ({"x'": "a*x - x*y", "dy/dt": "x*y - y"}, None),
        ("y' = x*y - y; x' = a*x - x*y", ["x", "y"]),
    ]:
        assert ODESystem.from_text(equations, variables, {"a": 0.5}) == expected


def test_facts() -> None:
    assert SYSTEM.variables == ("prey", "hunter")
    assert SYSTEM.dimension == 2
    assert SYSTEM.complexity == len(SYSTEM.program) == 16
    assert SYSTEM.constants.tolist() == [2 / 3, -4 / 3, -1.5]
    assert hash(SYSTEM) == hash(ODESystem.from_text(LOTKA_VOLTERRA, constants={"a": 2 / 3, "b": 4 / 3}))


@pytest.mark.parametrize(
    ("equations", "variables", "message"),
    [
        ("", None, "no equations"),
        ([], ["x"], "no equations"),
        ({}, None, "no equations"),
        (["x"], None, "name the variables"),
        (["x", "y"], ["x"], "2 equations for 1 variables"),
        (["x"], ["x", "x"], "'x' is given twice"),
        (["x"], [], "1 equations for 0 variables"),
        ("x' = 1; x' = 2", None, "'x' is given twice"),
        ("x' = 1", ["x", "y"], "no equation for the variable 'y'"),
        ("x' = 1; y' = 2", ["x"], "equation for 'y', which is not one of the variables"),
        ("x' = 1; y", ["x", "y"], "some equations have a left-hand side"),
        ("x'' = -x", None, "take a second variable"),
        ("x = 1", None, "write x' = "),
        ("x' = 1 +", None, r"in the equation of x: the expression ends too early"),
        ("x' = ", None, "in the equation of x: the expression is empty"),
        ("x' = sin(t)", None, "time t cannot occur"),
        ({"x y": "1"}, None, "cannot name a variable"),
        ({"x": 1.0}, None, "must be text"),
        ([1.0], ["x"], "must be text"),
    ],
)
def test_wrong_equations(equations: object, variables: list[str] | None, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        ODESystem.from_text(equations, variables)  # type: ignore[arg-type]


def test_the_program_must_fit_the_variables() -> None:
    with pytest.raises(ExpressionError, match="2 variables need 2 equations"):
        ODESystem(parse("x", ["x"]), ("x", "y"))
    with pytest.raises(ExpressionError, match="variable number 1"):
        ODESystem(parse("y", ["x", "y"]), ("x",))
    with pytest.raises(ExpressionError, match="at least one variable"):
        ODESystem(parse("1", []), ())


def test_sympy_both_ways() -> None:
    x, y = sympy.symbols("x y", real=True)
    system = ODESystem.from_sympy({x: y, y: -x - y / 3})
    assert system == ODESystem.from_sympy([y, -x - y / 3], [x, y])
    assert system.variables == ("x", "y")
    assert system.sympy() == [y, -x - sympy.Float(1 / 3) * y]


# ------------------------------------------------------------------------------------------- values


def test_derivative() -> None:
    np.testing.assert_allclose(SYSTEM.derivative([1.0, 2.0]), [2 / 3 - 8 / 3, -1.0])
    np.testing.assert_allclose(SYSTEM.derivative([[1, 2], [0, 0], [2, 1]]), [[-2, -1], [0, 0], [-4 / 3, 0.5]])
    assert SYSTEM.derivative(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    "x", [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]], np.ones((2, 2, 2)), [[1.0, 2.0], [3.0]]]
)
def test_derivative_of_wrong_shapes(x: object) -> None:
    with pytest.raises(DataError, match=r"shape|equal length"):
        SYSTEM.derivative(x)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [["a", "b"], [1j, 2.0], [None, {}]])
def test_derivative_of_no_numbers(x: object) -> None:
    with pytest.raises(DataError, match="real numbers"):
        SYSTEM.derivative(x)  # type: ignore[arg-type]


def test_simulate_matches_the_closed_form() -> None:
    t = np.linspace(1.0, 6.0, 50)
    x = DECAY.simulate(2.0, t)
    assert x.shape == (50, 1)
    assert x[0, 0] == 2.0
    np.testing.assert_allclose(x[:, 0], 2.0 * np.exp(-(t - 1.0)), rtol=1e-6)
    logistic = ODESystem.from_text("x' = x*(1 - x)")
    np.testing.assert_allclose(logistic.simulate([0.5], t)[:, 0], 1 / (1 + np.exp(-(t - 1.0))), rtol=1e-7)


def test_one_time_is_enough() -> None:
    assert SYSTEM.simulate([1, 2], [0.0]).tolist() == [[1.0, 2.0]]


def test_blow_up_is_announced() -> None:
    system = ODESystem.from_text("x' = x^2")
    with pytest.warns(SimulationWarning, match=r"until t = 0\.75 \(of 2\).*blow up"):
        x = system.simulate([1.0], [0.0, 0.5, 0.75, 1.5, 2.0])
    np.testing.assert_allclose(x[:3, 0], [1.0, 2.0, 4.0], rtol=1e-6)
    assert np.isnan(x[3:]).all()


def test_a_singularity_is_not_called_stiff() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = ODESystem.from_text("x' = -1/(2*x)").simulate([1.0], [0.0, 0.5, 1.5])
    assert [w.category for w in caught] == [SimulationWarning]
    assert "singularity" in str(caught[0].message)
    np.testing.assert_allclose(x[1, 0], math.sqrt(0.5), rtol=1e-6)


def test_no_value_at_the_start() -> None:
    with pytest.warns(SimulationWarning, match=r"until t = 0 .*initial values"):
        x = ODESystem.from_text("x' = log(x)").simulate([-1.0], [0.0, 1.0])
    assert x[0, 0] == -1.0
    assert np.isnan(x[1, 0])


def test_stiff_systems_are_handed_on() -> None:
    system = ODESystem.from_text("x' = y; y' = 1000*(1 - x^2)*y - x")
    with pytest.warns(StiffnessWarning, match="Radau"):
        x = system.simulate([2.0, 0.0], [0.0, 1000.0, 2000.0], max_steps=50_000)
    np.testing.assert_allclose(x[2], [1.706167732170483, -0.8928097010247975e-3], rtol=1e-6)


@pytest.mark.parametrize(
    ("x0", "t", "message"),
    [
        ([1.0], [0.0, 1.0], r"x0 has shape \(1,\).*prey, hunter"),
        ([[1.0, 2.0]], [0.0, 1.0], "x0 has shape"),
        ([1.0, math.nan], [0.0, 1.0], "initial value of hunter is not finite"),
        ([1.0, "b"], [0.0, 1.0], "x0 must be an array of real numbers"),
        ([1.0, 2.0], [], "at least one time"),
        ([1.0, 2.0], 3.0, "at least one time"),
        ([1.0, 2.0], [[0.0, 1.0]], "t has shape"),
        ([1.0, 2.0], [0.0, math.nan], "NaN or infinite"),
        ([1.0, 2.0], [0.0, 2.0, 1.0], "go back after t = 2; sort"),
        ([1.0, 2.0], [0.0, 1.0, 1.0], "the time 1 occurs twice"),
        ([1.0, 2.0], ["now"], "t must be an array of real numbers"),
    ],
)
def test_wrong_simulations(x0: list[float], t: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        SYSTEM.simulate(x0, t)


@pytest.mark.parametrize("setting", [{"rtol": 0.0}, {"atol": -1.0}, {"max_steps": 0}, {"rtol": math.nan}])
def test_wrong_settings(setting: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"(rtol|atol|max_steps) is a (whole )?number"):
        DECAY.simulate([1.0], [0.0, 1.0], **setting)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------- ways out


def test_text() -> None:
    assert str(SYSTEM) == ("prey'   = 0.6667*prey - 1.333*prey*hunter\nhunter' = prey*hunter - 1.5*hunter")
    assert repr(DECAY) == 'ODESystem("x\' = -x")'
    assert ODESystem.from_text(SYSTEM.to_text()).to_text() == SYSTEM.to_text()


def test_latex() -> None:
    system = ODESystem.from_text("x0' = beta*x0/(1 + x0); beta' = 0.123456", None)
    assert system.latex() == (
        "\\begin{aligned}\n"
        "\\dot{x}_{0} &= \\frac{\\beta x_{0}}{1 + x_{0}} \\\\\n"
        "\\dot{\\beta} &= 0.1235\n"
        "\\end{aligned}"
    )
    assert system._repr_latex_() == f"$$\n{system.latex()}\n$$"


def test_python_source_runs_in_solve_ivp() -> None:
    source = SYSTEM.python("field")
    namespace: dict[str, object] = {}
    exec(source, namespace)
    t = np.linspace(0.0, 5.0, 11)
    solution = solve_ivp(namespace["field"], (0.0, 5.0), [1.0, 1.0], t_eval=t, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(SYSTEM.simulate([1.0, 1.0], t), solution.y.T, rtol=1e-6)
    for bad in ("def", "1f", "np", "a b"):
        with pytest.raises(SettingsError, match="cannot name"):
            SYSTEM.python(bad)


def test_python_source_with_awkward_names() -> None:
    system = ODESystem.from_text("t' = lambda*np; np' = x₀; x₀' = -t; lambda' = 1/0 - 1")
    namespace: dict[str, object] = {}
    exec(system.python(), namespace)
    point = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(namespace["f"](0.0, point), system.derivative(point))  # type: ignore[operator]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "system.json"
    system = ODESystem.from_text("β' = sin(β)*0.1 - sin/3; sin' = 1e-300*sin^β")
    system.save(path)
    assert ODESystem.load(path) == system
    assert ODESystem.load(str(path)).variables == ("β", "sin")
    assert json.loads(path.read_text(encoding="utf-8"))["equations"][1] == "sin' = 1e-300*sin^β"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_json_keeps_every_bit(constants: list[float]) -> None:
    program = SYSTEM.program.with_constants(constants)
    again = ODESystem.from_json(ODESystem(program, SYSTEM.variables).to_json())
    assert again.program.values.tobytes() == program.values.tobytes()
    assert again.program.ops.tobytes() == program.ops.tobytes()


GOOD = SYSTEM.to_dict()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "not a saved system"),
        ([], "not a saved system"),
        ({**GOOD, "format": "model"}, "not a saved system"),
        ({**GOOD, "version": 3}, "update odefinder"),
        ({**GOOD, "version": "new"}, "damaged"),
        ({**GOOD, "version": 2}, "'inputs' is not a list"),
        ({**GOOD, "version": 2, "inputs": ["prey"]}, "is an input and has an equation"),
        ({**GOOD, "version": None}, "damaged"),
        ({**GOOD, "variables": "ab"}, "'variables' is not a list"),
        ({**GOOD, "variables": ["a"]}, "1 variables need 1 equations"),
        ({**GOOD, "variables": [["a"], 2]}, "cannot name a variable"),
        ({**GOOD, "program": None}, "'program' is not a list"),
        ({**GOOD, "program": []}, "the program is empty"),
        ({**GOOD, "program": GOOD["program"][:-1]}, "ends too early"),
        ({**GOOD, "program": ["arcsin", "$0", "$1"]}, "'arcsin' is not part of a program"),
        ({**GOOD, "program": ["$0", "$7"]}, "variable number 7"),
        ({**GOOD, "program": ["$0", "$-1"]}, "not part of a program"),
        ({**GOOD, "program": ["$0", True]}, "True is not part"),
        ({**GOOD, "program": ["$0", None]}, "None is not part"),
        ({**GOOD, "program": ["$0", math.nan]}, "not part of a program"),
        ({**GOOD, "program": ["$0", 10**400]}, "not part of a program"),
    ],
)
def test_damaged_data(data: object, message: str) -> None:
    with pytest.raises(OdefinderError, match=message):
        ODESystem.from_dict(data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content", [b"", b"not json", b"[" * 100_000, b"\xff\xfe", b'{"format": "odefinder system"']
)
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot read .*broken\.json"):
        ODESystem.load(path)
    with pytest.raises(DataError, match="there is no file"):
        ODESystem.load(tmp_path / "missing.json")


def test_initial_values_by_name() -> None:
    x, y = SYSTEM.variables
    np.testing.assert_array_equal(
        SYSTEM.simulate({y: 0.5, x: 1.0}, [0.0, 1.0]), SYSTEM.simulate([1.0, 0.5], [0.0, 1.0])
    )
    with pytest.raises(DataError, match="x0 names z; give each of"):
        SYSTEM.simulate({"z": 1.0}, [0.0, 1.0])


def test_variables_in_another_order() -> None:
    system = ODESystem.from_text("x' = a*x - y^2; y' = sin(x)*z; z' = 2", constants={"a": 3.0})
    turned = system.with_variables(["z", "x", "y"])
    assert str(turned) == "z' = 2\nx' = 3*x - y^2\ny' = sin(x)*z"
    assert turned.with_variables(["x", "y", "z"]) == system
    with pytest.raises(ExpressionError, match="in another order"):
        system.with_variables(["x", "y"])


def test_systems_are_equal_whatever_the_order_of_their_terms() -> None:
    one = ODESystem.from_text("x' = 2*x*y - x; y' = y - x")
    other = ODESystem.from_text("x' = -x + y*x*2; y' = -x + y")
    assert one == other
    assert hash(one) == hash(other)
    assert one != ODESystem.from_text("x' = 2*x*y - x; y' = y + x")
    assert one != ODESystem.from_text("x' = 2*x*z - x; z' = z - x")
    assert ODESystem.from_text("x' = 1/0") == ODESystem.from_text("x' = 1/0")
