"""The canonical form: it keeps the value, and what is equal by its rules has one form."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical, skeleton
from odefinder.expressions.program import (
    ADD,
    CONST,
    COS,
    EXP,
    INV,
    MUL,
    SIN,
    SQUARE,
    TANH,
    Program,
    concatenate,
    operator,
)
from tests.programs import Tree, flat, trees, values_at, words

POINTS = np.random.default_rng(0).normal(0.0, 1.5, (40, 3))


def text(program: Program) -> str:
    names = {0: lambda v: f"{v:g}", 1: lambda v: f"x{v:g}"}
    pairs = zip(program.ops.tolist(), program.values.tolist(), strict=True)
    return " ".join(names[op](v) if op in names else operator(op).name for op, v in pairs)


@pytest.mark.parametrize(
    ("given_words", "expected"),
    [
        ("add x0 x0", "mul 2 x0"),
        ("mul x0 add 3 mul -2 x1", "add mul 3 x0 mul -2 mul x0 x1"),
        ("inv add 2 mul 3 x0", "mul 0.5 inv add 1 mul 1.5 x0"),
        ("inv add x0 mul 3 x1", "inv add x0 mul 3 x1"),
        ("inv mul x0 x1", "mul inv x0 inv x1"),
        ("pow2 add 2 mul 4 x0", "mul 16 pow2 add 0.5 x0"),
        ("sin add 4 mul -2 x0", "sin add -0.858407 mul 2 x0"),
        ("sin add 1.5707963267948966 x0", "cos x0"),
        ("cos mul -1 x0", "cos x0"),
        ("tanh add 1 mul -2 x0", "mul -1 tanh add -1 mul 2 x0"),
        ("exp add 1 x0", "mul 2.71828 exp x0"),
        ("mul exp x0 exp mul 2 x1", "exp add x0 mul 2 x1"),
        ("inv exp x0", "exp mul -1 x0"),
        ("mul add 1 x0 add 2 x1", "mul add 1 x0 add 2 x1"),
        ("add inv add 1 mul 2 x0 mul x1 inv add 2 mul 4 x0", "mul 0.5 mul inv add 1 mul 2 x0 add 2 x1"),
        ("mul x0 log mul 3 x0", "add mul 1.09861 x0 mul x0 log x0"),
        ("sqrt mul 4 x0", "mul 2 sqrt x0"),
        ("mul x0 pow x0 1.2", "pow x0 2.2"),
        ("abs mul -3 mul x0 x1", "mul 3 mul abs x0 abs x1"),
        ("pow3 abs x0", "mul pow2 x0 abs x0"),
        ("mul add x0 1 pow2 add 1 x0", "pow3 add 1 x0"),
        ("inv add 1 inv x0", "mul x0 inv add 1 x0"),
        ("add x0 mul -1 x0", "0"),
        ("pow 2 x0", "exp mul 0.693147 x0"),
        ("pow2 pow2 pow2 x0", "mul pow5 x0 pow3 x0"),
        ("mul 2 mul 3 x0", "mul 6 x0"),
        ("pow x0 x1", "pow x0 x1"),
    ],
)
def test_rules(given_words: str, expected: str) -> None:
    assert text(canonical(words(given_words))) == expected


def test_system_keeps_its_equations() -> None:
    system = concatenate([words("add x1 x1"), words("mul x0 -1"), words("0")])
    assert text(canonical(system)) == "mul 2 x1 mul -1 x0 0"


@pytest.mark.parametrize("impossible", ["inv 0", "log -1", "sqrt -2", "inv add x0 mul -1 x0", "exp 1000"])
def test_no_finite_form(impossible: str) -> None:
    with pytest.raises(ExpressionError, match="no finite canonical form"):
        canonical(words(impossible))


def test_skeleton_ignores_values_but_not_structure() -> None:
    assert skeleton(words("add x0 mul 2 sin x1")) == skeleton(words("add mul 3 sin mul 5 x1 mul -4 x0"))
    assert skeleton(words("add x0 mul 2 sin x1")) != skeleton(words("add x0 mul 2 sin add 1 x1"))
    assert skeleton(words("x0")) != skeleton(words("x1"))
    # Not only the leading coefficient of a normalised sum may happen to be 1.
    assert skeleton(words("inv add x0 x1")) == skeleton(words("inv add x0 mul 10 x1"))


def same_value(p: Program, q: Program) -> bool:
    """Equal wherever the first is finite and not swamped by cancellation."""
    a, b = values_at(p, POINTS), values_at(q, POINTS)
    usable = np.isfinite(a) & (np.abs(a) < 1e6)
    return bool(np.all(np.isclose(a[usable], b[usable], rtol=1e-5, atol=1e-7)))


def moderate(tree: Tree) -> bool:
    """No intermediate value is so large or small that rounding decides the result."""
    for child in tree[2]:
        if not moderate(child):
            return False
    values = values_at(flat(tree), POINTS)
    finite = np.abs(values[np.isfinite(values)])
    return finite.size > 0 and finite.max() < 1e4 and (finite[finite > 0].min(initial=1.0) > 1e-4)


slow = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def canonical_or_skip(program: Program) -> Program:
    try:
        return canonical(program, explicit=True)
    except ExpressionError:
        assume(False)
        raise


@slow
@given(trees())
def test_value_is_kept(tree: Tree) -> None:
    assume(moderate(tree))
    program = flat(tree)
    assert same_value(program, canonical_or_skip(program))


@slow
@given(trees())
def test_idempotent(tree: Tree) -> None:
    assume(moderate(tree))
    once = canonical_or_skip(flat(tree))
    again = canonical(once, explicit=True)
    assert text(once) == text(again)


def constant(value: float) -> Tree:
    return (CONST, value, ())


def times(a: Tree, b: Tree) -> Tree:
    return (MUL, 0.0, (a, b))


def plus(a: Tree, b: Tree) -> Tree:
    return (ADD, 0.0, (a, b))


def rewritten(tree: Tree, choose: st.DataObject) -> Tree:
    """The same expression written in another way that the rules know."""
    op, value, children = tree
    children = tuple(rewritten(child, choose) for child in children)
    same = (op, value, children)
    kind = choose.draw(st.integers(0, 5))
    scale = choose.draw(st.sampled_from([-2.0, 0.5, 3.0]))
    if kind == 0:
        return times(constant(scale), times(constant(1 / scale), same))
    if kind == 1:
        return plus(times(constant(0.25), same), times(constant(0.75), same))
    if op in (ADD, MUL):
        left, right = children
        if kind == 2 and right[0] == op:
            return (op, 0.0, ((op, 0.0, (left, right[2][0])), right[2][1]))
        if kind == 3 and op == MUL and right[0] == ADD and left[0] in (CONST, 1):
            return plus(times(left, right[2][0]), times(left, right[2][1]))
        return (op, 0.0, (right, left))
    if not children:
        return same
    (inner,) = children if len(children) == 1 else (None,)
    if op in (SIN, TANH):
        return times(constant(-1.0), (op, 0.0, (times(constant(-1.0), inner),)))
    if op == COS:
        return (SIN, 0.0, (plus(inner, constant(math.pi / 2)),))
    if op == INV:
        return times(constant(scale), (INV, 0.0, (times(inner, constant(scale)),)))
    if op == SQUARE:
        return times(inner, inner)
    if op == EXP:
        return times(constant(math.exp(0.5)), (EXP, 0.0, (plus(constant(-0.5), inner),)))
    return same


@slow
@given(trees(), st.data())
def test_one_form_for_equal_programs(tree: Tree, data: st.DataObject) -> None:
    assume(moderate(tree))
    first = canonical_or_skip(flat(tree))
    other = flat(rewritten(tree, data))
    assume(same_value(flat(tree), other))
    second = canonical(other, explicit=True)
    assert first.ops.tolist() == second.ops.tolist(), f"{text(first)} != {text(second)}"
    assert np.allclose(first.values, second.values, rtol=1e-6, atol=1e-9)
