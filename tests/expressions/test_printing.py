"""Programs as text, LaTeX and NumPy source."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.digits import short_number
from odefinder.expressions.parse import parse
from odefinder.expressions.printing import latex_name, to_latex, to_python, to_text
from odefinder.expressions.program import (
    ABS,
    ADD,
    ARITY,
    CONST,
    INV,
    LOG,
    MUL,
    N_OPCODES,
    POW,
    SIN,
    SQRT,
    SQUARE,
    VAR,
    Program,
    concatenate,
    make_program,
)
from odefinder.numerics.evaluate import evaluate

NAMES = ["x", "y", "z"]
POINTS = np.array([[0.7, -1.3, 2.1], [-0.4, 0.9, -1.7], [1.9, 0.3, 0.6], [0.0, -2.0, 1.0]])


def program(*nodes: tuple[int, float] | int) -> Program:
    pairs = [node if isinstance(node, tuple) else (node, 0.0) for node in nodes]
    return make_program([op for op, _ in pairs], [value for _, value in pairs])


X, Y, Z = (VAR, 0.0), (VAR, 1.0), (VAR, 2.0)


def c(value: float) -> tuple[int, float]:
    return (CONST, value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("0.5*x*(1 - y) - z/(1 + x^2)", "0.5*x*(1 - y) - z/(1 + x^2)"),
        ("-x + 1", "1 - x"),
        ("-x - y", "-x - y"),
        ("-x - y + z", "z - x - y"),
        ("x + -1*y", "x - y"),
        ("x*-y", "-x*y"),
        ("z - (x + y)", "z - (x + y)"),
        ("-(x + y)*z", "-(x + y)*z"),
        ("x*2", "2*x"),
        ("1*x", "x"),
        ("x/(y*z)", "x/(y*z)"),
        ("x/y/z", "x/(y*z)"),
        ("1/(1/x)", "1/(1/x)"),
        ("x/(y/z)", "x/(y/z)"),
        ("-1/x", "-1/x"),
        ("(x^y)^z", "(x^y)^z"),
        ("x^y^z", "x^(y^z)"),
        ("(-2)^x", "(-2)^x"),
        ("2^(-x)", "2^(-x)"),
        ("(2*x)^2", "(2*x)^2"),
        ("-x^2", "-x^2"),
        ("(-x)^2", "(-x)^2"),
        ("(x^2)^3", "(x^2)^3"),
        ("x^-1.5", "x^(-1.5)"),
        ("sin(x)^2", "sin(x)^2"),
        ("exp(-(x + y))", "exp(-(x + y))"),
        ("abs(-x)", "abs(-x)"),
        ("x/0", "x/0"),
        ("1e-7*x + 1e20", "1e-7*x + 1e20"),
    ],
)
def test_text(source: str, expected: str) -> None:
    assert to_text(parse(source, NAMES), NAMES) == expected


@pytest.mark.parametrize("text", ["3*x^6", "2/(1 + x^9)", "x^12*y", "sin(x)^7", "(x + y)^8", "x^5*y^4"])
def test_canonical_form_is_written_with_one_power(text: str) -> None:
    program = canonical(parse(text, ["x", "y"]))
    assert to_text(program, ["x", "y"], 4) == text


def test_digits() -> None:
    expression = parse("1.23456789*x - 1234567*y + 0.99999999*z", NAMES)
    assert to_text(expression, NAMES, digits=4) == "1.235*x - 1.235e6*y + z"
    assert to_text(expression, NAMES) == "1.23456789*x - 1234567*y + 0.99999999*z"
    near_one = parse("1.00037*x - 0.99996*y*z", NAMES)  # no factor vanishes that is not 1
    assert to_text(near_one, NAMES, digits=4) == "1.00037*x - 0.99996*y*z"
    with pytest.raises(SettingsError, match="between 1 and 17"):
        to_text(expression, NAMES, digits=0)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2"), (0.1, "0.1"), (1e-5, "1e-5"), (1e22, "1e22"), (123456.0, "123456"), (5e-324, "5e-324")],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value, None) == text
    assert float(text) == value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("0.5*x*(1 - y) - z/(1 + x^2)", r"0.5 x \left(1 - y\right) - \frac{z}{1 + x^{2}}"),
        ("-x/(2*y)", r"-\frac{x}{2 y}"),
        ("(x + y)/(x - y)", r"\frac{x + y}{x - y}"),
        ("1.5e-7*x", r"1.5 \cdot 10^{-7} x"),
        ("1e-7*x", r"10^{-7} x"),
        ("x*2^y", r"x \cdot 2^{y}"),
        ("(1e-7)^x", r"\left(10^{-7}\right)^{x}"),
        ("sin(x)^2", r"\sin^{2}\left(x\right)"),
        ("sin(sin(x))^y", r"\sin\left(\sin\left(x\right)\right)^{y}"),
        ("exp(-x)^2", r"\left(e^{-x}\right)^{2}"),
        ("sqrt(x + 1)", r"\sqrt{x + 1}"),
        ("abs(x)", r"\left|x\right|"),
        ("x^(-1.5)", "x^{-1.5}"),
        ("tanh(x)*log(y)", r"\tanh\left(x\right) \log\left(y\right)"),
    ],
)
def test_latex(source: str, expected: str) -> None:
    assert to_latex(parse(source, NAMES), NAMES) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("x0", "x_{0}"),
        ("x_0", "x_{0}"),
        ("x₀", "x_{0}"),
        ("x12", "x_{12}"),
        ("beta", r"\beta"),
        ("β", r"\beta"),
        ("λ_1", r"\lambda_{1}"),
        ("Ω", r"\Omega"),
        ("prey", r"\mathrm{prey}"),
        ("x_max", r"x_{\mathrm{max}}"),
        ("sin_1", r"\mathrm{sin}_{1}"),
        ("a_b_c", r"a_{\mathrm{b\_c}}"),
        ("_x", r"\mathrm{\_x}"),
    ],
)
def test_latex_names(name: str, expected: str) -> None:
    assert latex_name(name) == expected


def test_python_source_has_all_digits_and_no_python_surprises() -> None:
    assert to_python(parse("x^2/3 + sin(y)", NAMES), ["x[0]", "x[1]", "x[2]"]) == (
        "0.3333333333333333*x[0]**2 + np.sin(x[1])"
    )
    # In plain Python 1/0 and 10.0**1000 raise, and (-8)**0.5 is complex.
    assert to_python(program(MUL, X, INV, c(0.0)), NAMES) == "np.inf*x"
    assert to_python(program(ADD, X, POW, c(-8.0), c(0.5)), NAMES) == "x + np.nan"
    assert to_python(program(POW, c(10.0), c(1000.0)), NAMES) == "np.inf"


def test_deep_programs_are_written() -> None:
    deep = program(*[SIN] * 4000, X)
    assert to_text(deep, NAMES) == "sin(" * 4000 + "x" + ")" * 4000
    assert len(to_latex(deep, NAMES)) > 4000


def test_wrong_programs() -> None:
    with pytest.raises(ExpressionError, match="variable number 2 has no name"):
        to_text(program(Z), ["x", "y"])
    with pytest.raises(ExpressionError, match="single expressions"):
        to_text(program(X, Y), NAMES)


def values(component: Program, points: np.ndarray = POINTS) -> np.ndarray:
    return evaluate(concatenate([component] * 3), points)[:, 0]


def random_programs() -> st.SearchStrategy[Program]:
    constants = st.one_of(
        st.sampled_from([-1.0, 1.0, 0.0, -0.0, 2.0, -2.0, 0.5, 3.0, -3.0, math.e]),
        st.floats(-100, 100).filter(lambda v: abs(v) > 1e-3),
    )
    leaves = st.one_of(st.sampled_from([[X], [Y], [Z]]), constants.map(lambda v: [c(v)]))

    def extend(inner: st.SearchStrategy[list]) -> st.SearchStrategy[list]:
        unary = [op for op in range(2, N_OPCODES) if ARITY[op] == 1]
        one = st.builds(lambda op, a: [(op, 0.0), *a], st.sampled_from([*unary, INV, INV]), inner)
        two = st.builds(
            lambda op, a, b: [(op, 0.0), *a, *b], st.sampled_from([ADD, MUL, MUL, POW]), inner, inner
        )
        return st.one_of(one, two)

    return st.recursive(leaves, extend, max_leaves=12).map(lambda nodes: program(*nodes))


def assert_same_values(original: Program, again: np.ndarray) -> None:
    """Equal wherever the value does not hang on the last digits of the constants and variables."""
    expected = values(original)
    well_posed = np.isfinite(expected)
    for factor in (1 - 1e-13, 1 + 1e-13):
        shaken = values(original.with_constants(original.constants * factor), POINTS * factor)
        with np.errstate(all="ignore"):
            well_posed &= np.abs(shaken - expected) <= 1e-9 * np.abs(expected)
    assert not np.isfinite(again[np.isnan(expected)]).any()
    assume(well_posed.any())
    np.testing.assert_allclose(again[well_posed], expected[well_posed], rtol=1e-7, atol=1e-290)


@settings(max_examples=200, deadline=None)
@given(random_programs())
@example(program(INV, INV, X))
@example(program(INV, MUL, INV, X, INV, INV, Y))
@example(program(POW, c(-2.0), c(3.0)))
@example(program(POW, MUL, c(-1.0), X, c(2.0)))
@example(program(MUL, c(-1.0), MUL, c(-1.0), ADD, X, c(-1.0)))
@example(program(ABS, ADD, c(-0.0), MUL, c(0.0), INV, X))
@example(program(POW, POW, X, c(2.0), c(-1.0)))
@example(program(ADD, X, MUL, c(-1.0), ADD, Y, MUL, c(-1.0), Z))
@example(program(SQUARE, INV, MUL, c(-2.0), SQRT, LOG, Y))
def test_text_and_source_keep_the_value(original: Program) -> None:
    clashing = ["sin", "e", "pi"]
    assert_same_values(original, values(parse(to_text(original, NAMES), NAMES)))
    assert to_text(parse(to_text(original, clashing), clashing), NAMES) == to_text(
        parse(to_text(original, NAMES), NAMES), NAMES
    )
    source = to_python(original, ["x[0]", "x[1]", "x[2]"])
    with np.errstate(all="ignore"):
        computed = [float(eval(source, {"np": np, "x": point})) for point in POINTS]
    assert_same_values(original, np.array(computed))


@settings(max_examples=100, deadline=None)
@given(random_programs(), st.sampled_from([None, 3]))
def test_latex_is_balanced(original: Program, digits: int | None) -> None:
    latex = to_latex(original, NAMES, digits)
    for opening, closing in (("{", "}"), (r"\left", r"\right"), ("(", ")")):
        assert latex.count(opening) == latex.count(closing)
    assert "+ -" not in latex
    assert "--" not in latex
