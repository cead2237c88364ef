"""What was said before need not be said again."""

import pytest

from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.description import (
    CONSTANT_COST,
    COPY_COST,
    NODE_COST,
    OWN_SQUARE_COST,
    description,
    own_squares,
    repeated,
)
from odefinder.system import ODESystem

CENTRAL = "x' = u; y' = v; u' = -2*x*(x^2 + y^2)^(-1.5); v' = "


def program(text: str) -> Program:
    return Form.of(ODESystem.from_text(text).program).program


def test_one_equation_costs_its_nodes_constants_and_functions() -> None:
    own = program("x' = 2*exp(3*x)")  # mul 2 exp mul 3 x
    assert description(own) == 6 * NODE_COST + 3 * CONSTANT_COST
    assert description(own, constants=0) == 6 * NODE_COST + CONSTANT_COST


def test_the_one_in_a_denominator_is_no_constant() -> None:
    own = program("x' = 2*x/(3 + x)")  # mul 2/3 mul x inv add 1 mul 1/3 x
    assert description(own) == len(own) * NODE_COST + 3 * CONSTANT_COST  # two constants and an inverse


def test_an_exchanged_copy_costs_its_constants_and_its_name() -> None:
    whole = program(CENTRAL + "-3*y*(x^2 + y^2)^(-1.5)")
    law = whole.components()[3]
    assert repeated(whole) == pytest.approx(NODE_COST * len(law) + CONSTANT_COST - COPY_COST)  # one power


def test_half_a_central_force_is_longer_than_the_whole() -> None:
    assert description(program(CENTRAL + "-2*y*(x^2 + y^2)^(-1.5)")) < description(
        program(CENTRAL + "2*u^3 + 3*u*v^2")
    )


def test_a_function_that_another_equation_has_is_cheaper_the_second_time() -> None:
    alike = program(CENTRAL + "-2*y*(x^2 + y^2)^(-1.5) - 9.8")
    other = program(CENTRAL + "-2*y*(x^2 + u^2)^(-1.5) - 9.8")
    assert repeated(alike) > 0.0 == repeated(other)


def test_polynomials_count_once_where_a_whole_law_of_motion_is_that_of_another_body() -> None:
    assert repeated(program("x' = u; y' = v; u' = -x - x^2*y; v' = -y - y^2*x")) > 0.0
    assert repeated(program("x' = u; y' = v; u' = -x - x^2*y; v' = -y - y^2*x - v")) == 0.0
    assert repeated(program("x' = -x - x^2*y; y' = -y - y^2*x")) == 0.0


def test_what_is_shorter_than_its_name_is_written_again() -> None:
    assert repeated(program("x' = u; y' = v; u' = -9.8; v' = 3")) == 0.0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x' = v; v' = 0.6*v^2 - x", 1),
        ("x' = v; v' = -x - v", 0),
        ("x' = v; v' = -x - 3*x*cos(2*v)", 1),
        ("x' = v; v' = -x - sin(2*v)", 0),
        ("x' = v; v' = -x - v*|v|", 0),
        ("r' = u; a' = w; u' = r*w^2 - r; w' = -2*u*w/r", 0),  # that of another one, and a product
        ("x' = x^2 - y; y' = y^2", 0),  # nothing is a velocity
    ],
)
def test_squares_of_the_own_velocity(text: str, count: int) -> None:
    assert own_squares(program(text)) == count


def test_a_square_of_the_own_velocity_costs_more() -> None:
    without = program("x' = v; v' = 0.6*x^2 - x")
    assert description(program("x' = v; v' = 0.6*v^2 - x")) == description(without) + OWN_SQUARE_COST
