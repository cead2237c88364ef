"""The parser: what each notation means, and what each mistake is told."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.errors import ExpressionError
from odefinder.expressions.parse import MAX_DEPTH, parse
from odefinder.expressions.program import CONST, VAR, Program, operator

NAMES = ["x", "y", "z"]


def prefix(program: Program) -> list[str | float]:
    """The program as a readable list: operators by name, variables as x, y, z, constants as numbers."""
    return [
        value if op == CONST else NAMES[int(value)] if op == VAR else operator(op).name
        for op, value in zip(program.ops.tolist(), program.values.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # sums and signs
        ("x + y", ["add", "x", "y"]),
        ("x - y", ["add", "x", "mul", -1.0, "y"]),
        ("x - 2", ["add", "x", -2.0]),
        ("x - 2*y", ["add", "x", "mul", -2.0, "y"]),
        ("x - 2*y*z", ["add", "x", "mul", "mul", -2.0, "y", "z"]),
        ("x - y - z", ["add", "add", "x", "mul", -1.0, "y", "mul", -1.0, "z"]),
        ("-x", ["mul", -1.0, "x"]),
        ("+x", ["x"]),
        ("--x", ["x"]),
        ("-(-x)", ["x"]),
        ("-3*x", ["mul", -3.0, "x"]),
        ("-x*y + z", ["add", "mul", -1.0, "mul", "x", "y", "z"]),
        ("x*-y", ["mul", "x", "mul", -1.0, "y"]),
        ("x − 2·y", ["add", "x", "mul", -2.0, "y"]),
        # products and quotients
        ("x/y", ["mul", "x", "inv", "y"]),
        ("1/x", ["inv", "x"]),
        ("3/x", ["mul", 3.0, "inv", "x"]),
        ("x/4", ["mul", 0.25, "x"]),
        ("x/1", ["x"]),
        ("3*x/4", ["mul", 0.75, "x"]),
        ("x/-y*z", ["mul", "mul", "x", "inv", "mul", -1.0, "y", "z"]),
        ("x/y/z", ["mul", "mul", "x", "inv", "y", "inv", "z"]),
        ("x/0", ["mul", "x", "inv", 0.0]),
        ("2x", ["mul", 2.0, "x"]),
        ("2 x*y", ["mul", "mul", 2.0, "x", "y"]),
        ("2(x + 1)", ["mul", 2.0, "add", "x", 1.0]),
        ("x*2y", ["mul", "mul", "x", 2.0, "y"]),
        ("2sin(x)", ["mul", 2.0, "sin", "x"]),
        ("2x^2", ["mul", 2.0, "pow2", "x"]),
        # powers
        ("x^2", ["pow2", "x"]),
        ("x**3", ["pow3", "x"]),
        ("x^4 + x^5", ["add", "pow4", "x", "pow5", "x"]),
        ("x^6", ["pow", "x", 6.0]),
        ("x^1", ["x"]),
        ("x^0", [1.0]),
        ("x^-1", ["inv", "x"]),
        ("x^-3", ["inv", "pow3", "x"]),
        ("x^-7", ["inv", "pow", "x", 7.0]),
        ("x^0.5", ["sqrt", "x"]),
        ("x^(1/2)", ["sqrt", "x"]),
        ("x^1.5", ["pow", "x", 1.5]),
        ("x^y^z", ["pow", "x", "pow", "y", "z"]),
        ("-x^2", ["mul", -1.0, "pow2", "x"]),
        ("(-x)^2", ["pow2", "mul", -1.0, "x"]),
        ("2^-x*y", ["mul", "pow", 2.0, "mul", -1.0, "x", "y"]),
        ("e^x", ["exp", "x"]),
        # functions
        ("ln(x) + log(y)", ["add", "log", "x", "log", "y"]),
        ("sin(x)^2", ["pow2", "sin", "x"]),
        ("|x - |y||", ["abs", "add", "x", "mul", -1.0, "abs", "y"]),
        ("|x|*|y|", ["mul", "abs", "x", "abs", "y"]),
        ("cot(x)", ["inv", "tan", "x"]),
        ("sec(x)", ["inv", "cos", "x"]),
        ("csc(x)", ["inv", "sin", "x"]),
        ("cosh(x)", ["mul", 0.5, "add", "exp", "x", "exp", "mul", -1.0, "x"]),
        ("sinh(x)", ["mul", 0.5, "add", "exp", "x", "mul", -1.0, "exp", "mul", -1.0, "x"]),
        ("sigmoid(x)", ["inv", "add", 1.0, "exp", "mul", -1.0, "x"]),
        # numbers
        (".5 + 2. + 1e-3", [0.5 + 2.0 + 1e-3]),
        ("1/3", [1 / 3]),
        ("2*pi", [2 * math.pi]),
        ("E", [math.e]),
        ("sqrt(2)*x", ["mul", math.sqrt(2), "x"]),
        ("2^-1", [0.5]),
        ("-2^2", [-4.0]),
        ("2^3^2", [512.0]),
        ("log(0)", ["log", 0.0]),
    ],
)
def test_meaning(text: str, expected: list[str | float]) -> None:
    assert prefix(parse(text, NAMES)) == expected


def test_constants_are_replaced_by_their_values() -> None:
    assert prefix(parse("-β*x + c_1", NAMES, {"β": 0.5, "c_1": 2})) == ["add", "mul", -0.5, "x", 2.0]


@pytest.mark.parametrize(
    "name", ["N", "E", "I", "beta", "pi", "S", "e", "sin_1", "sin", "x₀", "β", "_a", "e3"]
)
def test_the_users_names_win(name: str) -> None:
    assert prefix(parse(f"2*{name}", [name])) == ["mul", 2.0, "x"]
    assert prefix(parse(f"x*{name}", ["x"], {name: 3.0})) == ["mul", "x", 3.0]


def test_a_variable_may_be_called_like_a_function() -> None:
    assert prefix(parse("sin(sin) + sin", ["sin"])) == ["add", "sin", "x", "x"]


def test_long_flat_sums_are_no_nesting() -> None:
    assert len(parse(" + ".join(["x"] * 2000), NAMES)) == 3999


def test_nesting_up_to_the_limit() -> None:
    assert prefix(parse("(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH, NAMES)) == ["x"]
    # The costliest way down: a sum, a product and a call at every level.
    assert len(parse("x - y*sin(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH, NAMES)) == 7 * MAX_DEPTH + 1


MISTAKES = [
    ("", "empty", None),
    ("   ", "empty", None),
    ("x + sni(y)", "unknown name 'sni'; did you mean 'sin'?", 4),
    ("x + w", "variables: x, y, z", 4),
    ("x*t", "time t cannot occur", 2),
    ("sign(x)", "unknown name 'sign'", 0),
    ("x y", "operator is missing before 'y'", 2),
    ("2 3", "operator is missing before '3'", 2),
    ("(x)(y)", "operator is missing before '('", 3),
    ("x(y)", "'x' is not a function", 0),
    ("pi(y)", "'pi' is not a function", 0),
    ("(x + 1", "'(' is never closed", 0),
    ("sin(x + 1", "'(' is never closed", 3),
    ("|x", "'|' is never closed", 0),
    ("x + 1)", "')' was never opened", 5),
    ("()", "unexpected ')'", 1),
    ("x +", "ends too early", 3),
    ("x*/y", "unexpected '/'", 2),
    ("sin", "has no argument", 0),
    ("sin x", "has no argument", 0),
    ("sin^2(x)", "has no argument", 0),
    ("sin()", "has no argument", 4),
    ("sin(x, y)", "one argument", 5),
    ("1/2x", "not clear what the '/' applies to", 3),
    ("x^2y", "not clear what the '^' applies to", 3),
    ("x^-2(y)", "not clear", 4),
    ("x²", "write powers as x^2", 1),
    ("x = 1", "unexpected character '='", 2),
    ("x\n+ $", "unexpected character '$'", 4),
    ("1e999*x", "too large", 0),
    ("__import__('os')", "unexpected character", 11),
]


@pytest.mark.parametrize(("text", "message", "position"), MISTAKES)
def test_mistakes_are_explained(text: str, message: str, position: int | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    lines = str(caught.value).splitlines()
    assert message in str(caught.value)
    if position is not None:
        assert lines[1] == "  " + text.replace("\n", " ")
        assert lines[2] == " " * (position + 2) + "^"


def test_unknown_names_list_what_is_known() -> None:
    with pytest.raises(ExpressionError, match="did you mean 'alpha'") as caught:
        parse("alhpa*prey", ["prey"], {"alpha": 1.0})
    assert "variables: prey\nconstants: alpha\nfunctions: sin, cos" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "x",
        "x^" * 9_000 + "x",
        "-(" * 9_000,
        "|" * 15_000,
        "sinh(" * 40 + "x" + ")" * 40,  # 2^40 nodes
        " + ".join(["x"] * 5_000),
        "x" * 19_000,
        "x" * 30_000,
        "1" * 19_999,
        "sin(" * 4_000,
    ],
)
def test_excessive_texts_fail_at_once(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    assert time.perf_counter() - start < 60.0  # a guard against hanging, not a measurement
    assert len(str(caught.value)) < 500


def test_long_texts_are_shown_around_the_mistake() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("x + " * 100 + "w" + " + x" * 100, NAMES)
    line, caret = str(caught.value).splitlines()[1:3]
    assert len(line) < 110
    assert line[caret.index("^")] == "w"


@pytest.mark.parametrize(
    ("variables", "constants", "message"),
    [
        (["x", "x"], None, "'x' is given twice"),
        (["x"], {"x": 1.0}, "'x' is given twice"),
        (["2x"], None, "cannot name a variable"),
        ([""], None, "cannot name a variable"),
        (["x y"], None, "cannot name a variable"),
        ([3], None, "cannot name a variable"),
        ("xy", None, "list of names"),
        (["x"], {"a b": 1.0}, "cannot name a constant"),
        (["x"], {"a": math.nan}, "finite number"),
        (["x"], {"a": "one"}, "finite number"),
    ],
)
def test_names_are_checked(variables: list[str], constants: dict[str, float] | None, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse("1", variables, constants)


def test_only_text_is_parsed() -> None:
    with pytest.raises(ExpressionError, match="must be text, not float"):
        parse(1.0, NAMES)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="xyz 0123456789.eE+-*/^()|,sincoplg_²β\n", max_size=40))
def test_any_text_is_a_program_or_an_expression_error(text: str) -> None:
    try:
        program = parse(text, NAMES)
    except ExpressionError:
        return
    assert np.isfinite(program.constants).all()
    assert len(program.components()) == 1
