"""Systems under construction."""

import numpy as np
import pytest

from odefinder.expressions.program import SIN, Program, concatenate, make_program
from odefinder.prior.assembly import (
    MAX_PARTS,
    MAX_TERMS,
    add,
    assemble,
    begin_term,
    clear,
    emit,
    emit_power,
    emit_scaled,
    has_part,
    is_full,
    make_assembly,
    monomial,
    variable_term,
)
from tests.programs import words


@pytest.fixture
def assembly() -> np.void:
    return make_assembly()[0]


def assembled(assembly: np.void, dimension: int, room: int = 64) -> Program:
    ops, values = np.empty(room, np.int8), np.empty(room)
    n = assemble(assembly, dimension, ops, values)
    return make_program(ops[:n], values[:n])


def test_a_term_may_appear_in_several_equations(assembly: np.void):
    flux = monomial(assembly, np.array([1, 2]))
    add(assembly, 0, -3.0, flux)
    add(assembly, 1, 3.0, flux)
    add(assembly, 1, -1.0, variable_term(assembly, 1))
    assert assembled(assembly, 2) == concatenate(
        [words("mul -3 mul x0 pow2 x1"), words("add mul 3 mul x0 pow2 x1 mul -1 x1")]
    )


def test_an_empty_equation_is_zero_and_an_empty_term_is_one(assembly: np.void):
    add(assembly, 1, 2.5, begin_term(assembly))
    assert not has_part(assembly, 0)
    assert has_part(assembly, 1)
    assert assembled(assembly, 3) == concatenate([words("0"), words("2.5"), words("0")])


@pytest.mark.parametrize(
    ("power", "expected"), [(1, "x2"), (2, "pow2 x2"), (5, "pow5 x2"), (-1, "inv x2"), (-3, "inv pow3 x2")]
)
def test_powers(assembly: np.void, power: int, expected: str):
    term = begin_term(assembly)
    emit_power(assembly, 2, power)
    add(assembly, 0, 1.0, term)
    assert assembled(assembly, 1) == words(f"mul 1 {expected}")


def test_clear_begins_again(assembly: np.void):
    add(assembly, 0, 1.0, variable_term(assembly, 0))
    clear(assembly)
    term = begin_term(assembly)
    emit(assembly, SIN, 0.0)
    emit_scaled(assembly, 2.0, 0)
    add(assembly, 0, -1.0, term)
    assert assembled(assembly, 1) == words("mul -1 sin mul 2 x0")


def test_what_does_not_fit_is_refused(assembly: np.void):
    for _ in range(5):
        add(assembly, 0, 1.0, variable_term(assembly, 0))
    ops, values = np.empty(20, np.int8), np.empty(20)
    assert assemble(assembly, 1, ops, values) == 19  # 5 terms of 3 nodes and 4 additions
    assert assemble(assembly, 1, ops[:18], values[:18]) == -1
    assert assemble(assembly, 2, ops, values) == 20
    assert assemble(assembly, 3, ops, values) == -1  # no room for the 0 of the third equation


def test_a_draft_says_when_it_is_nearly_full(assembly: np.void):
    assert not is_full(assembly)
    while not is_full(assembly):
        add(assembly, 0, 1.0, variable_term(assembly, 0))
    assert assembly["size"][1] < MAX_TERMS
    assert assembly["size"][2] < MAX_PARTS
