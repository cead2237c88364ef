"""Programs <-> SymPy."""

import math
import subprocess
import sys

import numpy as np
import pytest
import sympy

from odefinder.errors import ExpressionError
from odefinder.expressions.parse import parse
from odefinder.expressions.program import Program, concatenate, make_program
from odefinder.expressions.sympy_io import from_sympy, to_sympy
from odefinder.numerics.evaluate import evaluate

NAMES = ["x", "y", "z"]
X, Y, Z = sympy.symbols("x y z", real=True)
POINTS = np.array([[0.7, 1.3, 2.1], [0.4, 0.9, 1.7], [1.9, 0.3, 0.6]])


def values(program: Program) -> np.ndarray:
    return evaluate(concatenate([program] * 3), POINTS)[:, 0]


def test_export() -> None:
    expression = to_sympy(parse("x^2 - 3*y/(1 + z) + 0.5*sin(x)", NAMES), NAMES)
    assert expression == X**2 - 3 * Y / (1 + Z) + sympy.Float(0.5) * sympy.sin(X)
    assert all(symbol.is_real for symbol in expression.free_symbols)


def test_whole_numbers_are_integers_and_others_exact() -> None:
    assert isinstance(to_sympy(parse("3", NAMES), NAMES), sympy.Integer)
    assert float(to_sympy(parse("0.1", NAMES), NAMES)) == 0.1


def test_own_symbols() -> None:
    a, b = sympy.symbols("a b")
    assert to_sympy(parse("x*y", NAMES), NAMES, symbols=[a, b]) == a * b
    with pytest.raises(ExpressionError, match="variable number 2"):
        to_sympy(parse("z", NAMES), NAMES, symbols=[a, b])
    with pytest.raises(ExpressionError, match="single expressions"):
        to_sympy(make_program([1, 1], [0, 0]), NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "x^2 - 3*y/(1 + z) + 0.5*sin(x)",
        "-x/(2*y*z)",
        "1/sqrt(x) + x^-1.5 + x^y + 2^x",
        "exp(-x)*log(y) + tan(z) + tanh(x) + abs(x - y)",
        "cot(x) + sec(x) + csc(x) + sinh(y) + cosh(y) + sigmoid(z)",
        "pi*x + e + 1/3",
        "x^7 + y^5 + z^4",
        "-(x + y)^3/(x - 5*z)^2",
    ],
)
def test_round_trip_keeps_the_value(text: str) -> None:
    program = parse(text, NAMES)
    np.testing.assert_allclose(
        values(from_sympy(to_sympy(program, NAMES), NAMES)), values(program), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (X / 2, "0.5*x"),
        (X / (Y * Z), "x/(y*z)"),
        (1 / X, "1/x"),
        (X ** sympy.Rational(-1, 2), "1/sqrt(x)"),
        (sympy.cot(X), "cot(x)"),
        (sympy.sinh(X), "sinh(x)"),
        (sympy.Abs(X), "abs(x)"),
        (sympy.exp(-X), "exp(-x)"),
        (X**Y, "x^y"),
        (sympy.E, "e"),
        (2, "2"),
        (0.25, "0.25"),
        (sympy.GoldenRatio + 0, str((1 + math.sqrt(5)) / 2)),
    ],
)
def test_import(expression: object, text: str) -> None:
    assert from_sympy(expression, NAMES) == parse(text, NAMES)


def test_symbols_are_matched_by_name() -> None:
    assert from_sympy(sympy.Symbol("y"), NAMES) == parse("y", NAMES)  # not declared real
    assert from_sympy(sympy.Symbol("E"), ["E"]) == parse("E", ["E"])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sympy.sign(X), "sign"),
        (sympy.Piecewise((X, X > 0), (0, True)), "Piecewise"),
        (sympy.I * X, "ImaginaryUnit"),
        (sympy.zoo, "ComplexInfinity"),
        (sympy.oo, "Infinity"),
        (sympy.nan, "NaN"),
        (sympy.Integer(10) ** 400, "Integer"),
        (sympy.Function("g")(X), "node g"),
        (sympy.Max(X, Y), "Max"),
        (sympy.Derivative(sympy.Function("g")(X), X), "Derivative"),
        (sympy.Symbol("w"), "unknown name 'w'"),
        ("x + 1", "expected a SymPy expression, not str"),
        (sympy.Matrix([X]), "expected a SymPy expression"),
    ],
)
def test_unsupported(expression: object, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        from_sympy(expression, NAMES)


def test_deep_trees_give_an_error() -> None:
    deep = X
    for _ in range(150):
        deep = sympy.sin(deep, evaluate=False)
    with pytest.raises(ExpressionError, match="nested deeper"):
        from_sympy(deep, NAMES)


def test_sympy_is_imported_only_when_needed() -> None:
    code = (
        "import sys, odefinder.system; print(sorted({'sympy', 'numba', 'scipy', 'torch'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_powers_that_would_fill_the_memory() -> None:
    for text in ("(2*x)^9999999999", "(2*x)^-9999999999", "((((((((((2*x)^5)^5)^5)^5)^5)^5)^5)^5)^5)^5"):
        with pytest.raises(ExpressionError, match="too many digits"):
            to_sympy(parse(text, ["x"]), ["x"])
    assert str(to_sympy(parse("x^9999999999", ["x"]), ["x"])) == "x**9999999999"
