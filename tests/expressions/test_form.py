"""Canonical forms that are carried along."""

import pytest

from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form, pinned
from odefinder.expressions.parse import parse
from odefinder.expressions.program import concatenate
from tests.programs import words


def test_the_key_is_that_of_the_structure() -> None:
    one, other = words("mul 2 add x0 x1"), words("add mul 0.5 x1 mul 3 x0")
    assert Form.of(one).key == Form.of(other).key == skeleton(one)
    assert Form.of(one) != Form.of(other)
    assert Form.of(one) == Form.of(Form.of(one).program)


def test_the_equations_of_a_system_are_forms_of_their_own() -> None:
    equations = [words("mul 2 add x0 x1"), words("sin mul -1 x0")]
    assert Form.of(concatenate(equations)).components() == [Form.of(one) for one in equations]


def test_what_has_no_form() -> None:
    with pytest.raises(ExpressionError, match="no finite canonical form"):
        Form.of(words("inv 0"))


def test_the_one_in_a_denominator_is_pinned() -> None:
    def count(text: str) -> int:
        return pinned(Form.of(parse(text, ["x"])).program.ops)

    assert count("2*x/(3 + x)") == 1
    assert count("2*x/(3 + x)^2 - 1/(1 + 0.2*x^2)") == 2
    assert count("2/x + sin(1 + x) + (1 + x)^2") == 0
