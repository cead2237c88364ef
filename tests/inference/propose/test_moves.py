"""Changes of structure are valid equations, and lead where they should."""

import pytest

from odefinder.expressions.canonical import skeleton
from odefinder.expressions.parse import parse
from odefinder.expressions.program import Program, component_bounds, make_program
from odefinder.inference.propose.moves import altered, larger, smaller

NAMES = ("x", "y")


def equation(text: str) -> Program:
    return parse(text, NAMES)


@pytest.mark.parametrize("text", ["2*x - 3*x*y + 1", "sin(2*x)/(1 + 0.5*y^2)", "x", "1.5"])
def test_every_change_is_one_complete_equation(text: str) -> None:
    program = equation(text)
    changes = [*smaller(program), *larger(program, 2), *altered(program, 2)]
    for changed in changes:
        checked = make_program(changed.ops, changed.values)
        assert len(component_bounds(checked.ops)) == 1


def reached(changes: list[Program], text: str) -> bool:
    return skeleton(equation(text)) in {skeleton(changed) for changed in changes}


def test_terms_and_functions_can_be_left_out() -> None:
    changes = list(smaller(equation("2*x - 3*x*y + 4*sin(5*y)")))
    assert reached(changes, "2*x - 3*x*y")
    assert reached(changes, "2*x + 4*sin(5*y)")
    assert reached(changes, "2*x - 3*x*y + 4*y")
    assert reached(changes, "2*x - 3*y + 4*sin(5*y)")


def test_terms_and_factors_can_be_added() -> None:
    changes = list(larger(equation("2*x"), 2))
    for text in ("2*x + 3", "2*x + 3*y", "2*x + 3*x^2*y", "2*x*y", "2*x + 3*y^3"):
        assert reached(changes, text), text


def test_variables_can_be_exchanged_and_terms_saturate() -> None:
    changes = list(altered(equation("2*x + 3*x*y"), 2))
    assert reached(changes, "2*y + 3*x*y")
    assert reached(changes, "2*x/(1 + 0.5*y) + 3*x*y")
    assert reached(changes, "2*sin(0.5*x) + 3*x*y")
