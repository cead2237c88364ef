"""Values against NumPy, derivatives against the complex step of an evaluator written for this test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from odefinder.errors import DataError, ExpressionError
from odefinder.expressions.program import (
    ABS,
    ADD,
    ARITY,
    CONST,
    COS,
    CUBE,
    EXP,
    INV,
    LOG,
    MUL,
    N_OPCODES,
    POW,
    POW4,
    POW5,
    SIN,
    SQRT,
    SQUARE,
    TAN,
    TANH,
    VAR,
    Program,
    concatenate,
    make_program,
    operator,
)
from odefinder.numerics.engine.bytecode import bytecode
from odefinder.numerics.evaluate import eval_system, evaluate, evaluate_gradients, jacobian
from tests.programs import flat, trees, words

# Each works on complex numbers, |z| continued from the real axis so that the complex step sees its slope.
REFERENCE: dict[int, Callable[..., complex]] = {
    ADD: lambda a, b: a + b,
    MUL: lambda a, b: a * b,
    POW: lambda a, b: np.exp(b * np.log(a)),
    INV: lambda a: 1.0 / a,
    SQUARE: lambda a: a**2,
    CUBE: lambda a: a**3,
    POW4: lambda a: a**4,
    POW5: lambda a: a**5,
    SIN: np.sin,
    COS: np.cos,
    TAN: np.tan,
    EXP: np.exp,
    LOG: np.log,
    SQRT: np.sqrt,
    ABS: lambda a: a * np.sign(a.real),
    TANH: np.tanh,
}
OUTSIDE_REAL = {LOG, SQRT, POW}  # real only for a positive argument
LARGEST = 1e4  # beyond it, rounding errors are not what these tests are about


def reference(program: Program, x: NDArray, constants: NDArray) -> list[complex]:
    """The program's values, by recursion; where the comparison makes no sense, hypothesis draws again."""
    remaining = iter(constants)
    nodes = iter(zip(program.ops.tolist(), program.values.tolist(), strict=True))

    def next_value() -> complex:
        op, value = next(nodes)
        if op == CONST:
            return next(remaining)
        if op == VAR:
            return x[int(value)]
        arguments = [next_value() for _ in range(ARITY[op])]
        if op in OUTSIDE_REAL:
            assume(arguments[0].real > 1e-3)
        if op in (INV, ABS):
            assume(abs(arguments[0].real) > 1e-3)
        result = REFERENCE[op](*arguments)
        assume(np.isfinite(result) and abs(result) < LARGEST)
        return result

    return [next_value() for _ in range(len(x))]


TREES = {dimension: trees(dimension, max_leaves=6) for dimension in range(1, 5)}


@st.composite
def systems(draw: st.DrawFn) -> tuple[Program, NDArray]:
    """A random system and a point."""
    dimension = draw(st.integers(1, 4))
    program = concatenate([flat(draw(TREES[dimension])) for _ in range(dimension)])
    return program, np.array([draw(st.floats(-2.0, 2.0)) for _ in range(dimension)])


def unary_program(op: int) -> Program:
    return make_program([op, VAR], [0, 0])


@pytest.mark.parametrize("op", range(ADD, N_OPCODES))
def test_every_operator_has_numpys_value(op: int) -> None:
    points = np.random.default_rng(op).uniform(0.1, 3.0, size=(50, 2)) * [[1.0, -1.0]]
    if ARITY[op] == 2:
        program = make_program([op, VAR, VAR, CONST], [0, 0, 1, 0])
        expected = eval(operator(op).numpy.format("a", "b"), {"np": np, "a": points[:, 0], "b": points[:, 1]})
        result = evaluate(program, points)[:, 0]
    else:
        a = points.reshape(-1, 1)
        with np.errstate(invalid="ignore"):
            expected = eval(operator(op).numpy.format("a"), {"np": np, "a": a[:, 0]})
        result = evaluate(unary_program(op), a)[:, 0]
    np.testing.assert_allclose(result, expected, rtol=4e-16 * 8)


def test_outside_the_domain_nothing_raises() -> None:
    def value(op: int, x: float) -> float:
        return float(evaluate(unary_program(op), np.array([[x]]))[0, 0])

    assert value(INV, 0.0) == np.inf
    assert value(INV, -0.0) == -np.inf
    assert value(LOG, 0.0) == -np.inf
    assert np.isnan(value(LOG, -1.0))
    assert np.isnan(value(SQRT, -1.0))
    assert value(EXP, 1000.0) == np.inf
    assert value(POW5, 1e100) == np.inf
    power = words("pow x0 x1  x1")
    assert np.isnan(evaluate(power, np.array([[-2.0, 0.5]]))[0, 0])
    assert evaluate(power, np.array([[-2.0, 3.0]]))[0, 0] == -8.0
    assert evaluate(power, np.array([[0.0, -1.0]]))[0, 0] == np.inf


@settings(deadline=None, max_examples=200)
@given(systems())
def test_random_programs(case: tuple[Program, NDArray]) -> None:
    """Both evaluators agree bit for bit with each other, and with the reference up to rounding."""
    program, x = case
    result = evaluate(program, x[None])[0]
    out = np.empty(len(x))
    eval_system(program.ops, program.values, len(program), x, np.empty(len(program)), out)
    np.testing.assert_array_equal(out, result)
    expected = np.real(reference(program, x + 0j, program.constants + 0j))
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=200)
@given(systems())
def test_gradients_of_random_programs(case: tuple[Program, NDArray]) -> None:
    program, x = case
    constants = program.constants
    tiny = 1e-30

    def slopes(direction: NDArray) -> NDArray:
        values = reference(program, x + 1j * direction[: len(x)], constants + 1j * direction[len(x) :])
        return np.imag(values) / tiny

    columns = [slopes(tiny * row) for row in np.eye(len(x) + len(constants))]
    expected = np.array(columns).T  # (D, D + constants)
    result = evaluate_gradients(program, np.stack([x] * 8))  # eight points: more than one pass
    np.testing.assert_array_equal(result.f[0], evaluate(program, x[None])[0])
    derivatives = np.zeros_like(expected)
    derivatives[:, : len(x)] = result.jacobian[0]
    derivatives[result.components, len(x) + np.arange(len(constants))] = result.constants[0]
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(derivatives, expected, rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_array_equal(result.jacobian, np.stack([result.jacobian[0]] * 8))
    np.testing.assert_array_equal(jacobian(program, x), result.jacobian[0])


def test_the_component_of_each_constant() -> None:
    program = words("add mul 2 x1 3  x0  4")
    result = evaluate_gradients(program, np.array([[1.0, 5.0, 7.0]]))
    assert result.components.tolist() == [0, 0, 2]
    assert result.constants.tolist() == [[5.0, 1.0, 1.0]]
    assert result.jacobian[0].tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]


def test_conventions_where_no_derivative_exists() -> None:
    assert jacobian(unary_program(ABS), np.array([0.0])) == [[0.0]]
    assert jacobian(unary_program(ABS), np.array([-2.0])) == [[-1.0]]
    # x0^x1 and its exponent: no logarithm of a negative base, nor of zero
    power = words("pow x0 x1 0")
    np.testing.assert_allclose(jacobian(power, np.array([2.0, 3.0]))[0], [12.0, 8.0 * np.log(2.0)])
    assert jacobian(power, np.array([-2.0, 3.0]))[0].tolist() == [12.0, 0.0]
    assert jacobian(power, np.array([0.0, 2.0]))[0].tolist() == [0.0, 0.0]
    assert jacobian(power, np.array([0.0, 1.0]))[0].tolist() == [1.0, 0.0]
    assert evaluate_gradients(words("pow x0 2"), np.array([[-3.0]])).constants.tolist() == [[0.0]]


def test_fused_sums_and_products() -> None:
    """All four ways in which a sum or product contains another, on either side."""
    x = np.array([2.0, 3.0, 5.0, 7.0])
    for inner, outer in ((ADD, ADD), (ADD, MUL), (MUL, ADD), (MUL, MUL)):
        for ops, values in (
            ([outer, inner, VAR, VAR, VAR], [0, 0, 1, 2, 3]),
            ([outer, VAR, inner, VAR, VAR], [0, 3, 0, 1, 2]),
        ):
            program = make_program([*ops, CONST, CONST, CONST], [*values, 0, 0, 0])
            both = 8.0 if inner == ADD else 15.0
            assert evaluate(program, x[None])[0, 0] == (both + 7.0 if outer == ADD else both * 7.0)
            inside = np.array([1.0, 1.0]) if inner == ADD else np.array([5.0, 3.0])
            row = [*(inside * (1.0 if outer == ADD else 7.0)), 1.0 if outer == ADD else both]
            assert jacobian(program, x)[0].tolist() == [0.0, *row]


def test_wrong_points_are_named() -> None:
    program = unary_program(SIN)
    with pytest.raises(DataError, match="points, variables"):
        evaluate(program, np.zeros(3))
    assert evaluate(program, np.zeros((3, 2))).shape == (3, 1)  # the second variable is a signal
    with pytest.raises(ExpressionError, match="variable number 0"):
        evaluate(program, np.zeros((3, 0)))


def test_more_components_than_variables() -> None:
    """As of known equations, whose constants are components of their own: there is room for all of them."""
    numbers = np.arange(40.0)
    program = Program(np.full(40, CONST), numbers)
    assert len(bytecode(len(program), 1).ends) == len(program)
    assert np.array_equal(evaluate(program, np.zeros((3, 1))), np.tile(numbers, (3, 1)))
