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
    make_draft,
    monomial,
    variable_term,
)
from tests.programs import words


@pytest.fixture
def draft() -> np.void:
    return make_draft()[0]


def assembled(draft: np.void, dimension: int, room: int = 64) -> Program:
    ops, values = np.empty(room, np.int8), np.empty(room)
    n = assemble(draft, dimension, ops, values)
    return make_program(ops[:n], values[:n])


def test_a_term_may_appear_in_several_equations(draft: np.void):
    flux = monomial(draft, np.array([1, 2]))
    add(draft, 0, -3.0, flux)
    add(draft, 1, 3.0, flux)
    add(draft, 1, -1.0, variable_term(draft, 1))
    assert assembled(draft, 2) == concatenate(
        [words("mul -3 mul x0 pow2 x1"), words("add mul 3 mul x0 pow2 x1 mul -1 x1")]
    )


def test_an_empty_equation_is_zero_and_an_empty_term_is_one(draft: np.void):
    add(draft, 1, 2.5, begin_term(draft))
    assert not has_part(draft, 0)
    assert has_part(draft, 1)
    assert assembled(draft, 3) == concatenate([words("0"), words("2.5"), words("0")])


@pytest.mark.parametrize(
    ("power", "expected"), [(1, "x2"), (2, "pow2 x2"), (5, "pow5 x2"), (-1, "inv x2"), (-3, "inv pow3 x2")]
)
def test_powers(draft: np.void, power: int, expected: str):
    term = begin_term(draft)
    emit_power(draft, 2, power)
    add(draft, 0, 1.0, term)
    assert assembled(draft, 1) == words(f"mul 1 {expected}")


def test_clear_begins_anew(draft: np.void):
    add(draft, 0, 1.0, variable_term(draft, 0))
    clear(draft)
    term = begin_term(draft)
    emit(draft, SIN, 0.0)
    emit_scaled(draft, 2.0, 0)
    add(draft, 0, -1.0, term)
    assert assembled(draft, 1) == words("mul -1 sin mul 2 x0")


def test_what_does_not_fit_is_refused(draft: np.void):
    for _ in range(5):
        add(draft, 0, 1.0, variable_term(draft, 0))
    ops, values = np.empty(20, np.int8), np.empty(20)
    assert assemble(draft, 1, ops, values) == 19  # 5 terms of 3 nodes and 4 additions
    assert assemble(draft, 1, ops[:18], values[:18]) == -1
    assert assemble(draft, 2, ops, values) == 20
    assert assemble(draft, 3, ops, values) == -1  # no room for the 0 of the third equation


def test_a_draft_says_when_it_is_nearly_full(draft: np.void):
    assert not is_full(draft)
    while not is_full(draft):
        add(draft, 0, 1.0, variable_term(draft, 0))
    assert draft["size"][1] < MAX_TERMS
    assert draft["size"][2] < MAX_PARTS
