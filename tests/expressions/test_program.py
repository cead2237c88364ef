"""The prefix program: what is valid, and what one can ask of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.errors import ExpressionError
from odefinder.expressions.program import (
    ADD,
    ARITY,
    CONST,
    COS,
    MAX_NODES,
    MUL,
    N_OPCODES,
    OPCODE_BY_NAME,
    OPERATORS,
    POW,
    SIN,
    SQUARE,
    VAR,
    Program,
    check_system,
    component_bounds,
    concatenate,
    make_program,
    operator,
    subtree_end,
)
from tests.programs import programs, words

LOTKA_VOLTERRA = concatenate([words("add x0 mul -1 mul x0 x1"), words("add mul -2 x1 mul x0 x1")])


def test_operator_table():
    assert len(OPERATORS) == N_OPCODES - 2
    assert [operator(code).name for code in (ADD, MUL, POW, SQUARE, SIN, COS)] == [
        "add", "mul", "pow", "pow2", "sin", "cos",
    ]  # fmt: skip
    assert all(operator(code).name == name for name, code in OPCODE_BY_NAME.items())
    assert ARITY[CONST] == ARITY[VAR] == 0
    assert [code for code in range(N_OPCODES) if ARITY[code] == 2] == [ADD, MUL, POW]


@pytest.mark.parametrize(
    ("ops", "values", "message"),
    [
        ([CONST, CONST], [1.0], r"opcodes and values of one length, got \(2,\) and \(1,\)"),
        ([[CONST]], [[1.0]], "one length"),
        ([], [], "the program is empty"),
        ([N_OPCODES], [0.0], f"{N_OPCODES} is not an opcode; opcodes run from 0 to {N_OPCODES - 1}"),
        ([-1], [0.0], "-1 is not an opcode"),
        ([300], [0.0], "300 is not an opcode"),  # not wrapped round to int8
        ([CONST], [np.nan], "must be finite"),
        ([CONST], [-np.inf], "must be finite"),
        ([VAR], [-1.0], "whole number, 0 or larger"),
        ([VAR], [0.5], "whole number"),
        ([ADD, VAR], [0.0, 0.0], r"ends too early: 1 argument\(s\) missing"),
        ([ADD], [0.0], r"ends too early: 2 argument\(s\) missing"),
        ([VAR, MUL, SIN], [0.0, 0.0, 0.0], r"ends too early: 2 argument\(s\) missing"),
        (
            [CONST] * (MAX_NODES + 1),
            [0.0] * (MAX_NODES + 1),
            f"{MAX_NODES + 1} nodes; the limit is {MAX_NODES}",
        ),
    ],
)
def test_invalid_programs_are_explained(ops: list, values: list, message: str):
    with pytest.raises(ExpressionError, match=message):
        make_program(ops, values)


def test_the_longest_program_is_allowed():
    assert len(make_program([CONST] * MAX_NODES, [1.0] * MAX_NODES)) == MAX_NODES


def test_operators_have_no_values():
    assert make_program([ADD, VAR, CONST], [7.0, 1.0, 2.0]) == make_program(
        [ADD, VAR, CONST], [0.0, 1.0, 2.0]
    )


def test_complexity_counts_operators_variables_and_constants():
    assert words("x0").complexity == 1
    assert words("add mul 2 x0 sin x1").complexity == 6  # +, x, sin; 2; x0, x1
    assert LOTKA_VOLTERRA.complexity == len(LOTKA_VOLTERRA) == 14


def test_components_and_concatenate_are_inverse():
    first, second = LOTKA_VOLTERRA.components()
    assert first == words("add x0 mul -1 mul x0 x1")
    assert second == words("add mul -2 x1 mul x0 x1")
    assert component_bounds(LOTKA_VOLTERRA.ops) == [(0, 7), (7, 14)]
    assert concatenate([first, second]) == LOTKA_VOLTERRA


def test_subtree_end():
    ops = words("add mul 2 x0 sin x1").ops
    assert [subtree_end(ops, start) for start in range(len(ops))] == [6, 4, 3, 4, 6, 6]


def test_constants_can_be_read_and_replaced():
    program = words("add 1.5 mul -2 sin add x0 3")
    assert program.constants.tolist() == [1.5, -2.0, 3.0]
    changed = program.with_constants([4.0, 5.0, 6.0])
    assert changed == words("add 4 mul 5 sin add x0 6")
    assert program.constants.tolist() == [1.5, -2.0, 3.0]  # the old program is untouched
    with pytest.raises(ValueError):
        program.with_constants([1.0, 2.0])


def test_operators_by_name():
    assert words("add mul 2 x0 sin inv x1").operators() == {"add", "mul", "sin", "inv"}
    assert words("x0").operators() == set()


def test_equality_and_hash_see_structure_and_values():
    program = words("add x0 mul 2 x1")
    same = Program(program.ops.copy(), program.values.copy())
    assert program == same
    assert hash(program) == hash(same)
    assert len({program, same, words("add x0 mul 2 x0"), words("add x0 mul 3 x1")}) == 3
    assert program != words("add x0 mul 2 x1").with_constants([2.5])
    assert program != "add x0 mul 2 x1"
    assert words("-0.0") == words("0")
    assert hash(words("-0.0")) == hash(words("0"))


def test_a_system_has_one_equation_a_variable_and_no_other_variables():
    check_system(LOTKA_VOLTERRA, 2)
    with pytest.raises(ExpressionError, match="3 variables need 3 equations, the program has 2"):
        check_system(LOTKA_VOLTERRA, 3)
    with pytest.raises(ExpressionError, match="uses variable number 1, but there are only 1"):
        check_system(words("x1"), 1)
    check_system(words("2"), 1)


@settings(max_examples=100, deadline=None)
@given(st.lists(programs(), min_size=1, max_size=4))
def test_prefix_order_needs_no_separators(parts: list[Program]):
    assert concatenate(parts).components() == parts


@settings(max_examples=100, deadline=None)
@given(programs(), st.data())
def test_a_cut_program_is_invalid(program: Program, data: st.DataObject):
    cut = data.draw(st.integers(0, len(program) - 1))
    with pytest.raises(ExpressionError):
        make_program(program.ops[:cut], program.values[:cut])
