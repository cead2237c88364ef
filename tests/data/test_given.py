"""What is given of equations, and what a fit finds, put together."""

from dataclasses import replace

import numpy as np

from odefinder.data.given import STAYS, Given
from odefinder.data.observations import Observations
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import parse
from odefinder.expressions.program import Program, concatenate


def system(*texts: str) -> Program:
    return concatenate([parse(text, ["x", "y", "a", "b"]) for text in texts])


def given(**changes: object) -> Given:
    """x' = -a x, y' = a x + ?; b is a constant that varies over two trajectories."""
    fields: dict[str, object] = {
        "parts": (parse("-a*x", ["x", "y", "a", "b"]), parse("a*b*x", ["x", "y", "a", "b"])),
        "whole": (True, False),
        "variables": 2,
        "values": np.array([[0.5, 0.5], [2.0, 3.0]]),
        "varied": (False, True),
        "lower": np.array([-np.inf, 0.0]),
        "upper": np.array([np.inf, 10.0]),
        "units": np.array([1.0, 1.0]),
    }
    return Given(**(fields | changes))  # type: ignore[arg-type]


def test_known_parts_and_what_was_found_are_added() -> None:
    one = given()
    found = one.with_numbers(system("0", "-0.7*y"))
    assert found.constants.tolist() == [0.0, -0.7, 0.5, 2.0, 3.0]
    whole = one.complete(found)
    first, second = (whole.of_trajectory(k, found.constants) for k in range(2))
    assert canonical(first) == canonical(system("-0.5*x", "0.5*2*x - 0.7*y"))
    assert canonical(second) == canonical(system("-0.5*x", "0.5*3*x - 0.7*y"))


def test_a_constant_that_occurs_twice_is_one_parameter() -> None:
    one = given()
    whole = one.complete(one.with_numbers(system("0", "-0.7*y")))
    a = [k for k, value in enumerate(whole.program.constants) if value == 0.5]
    assert len(a) == 2
    assert len(set(whole.owners[0, a].tolist())) == 1
    assert whole.owners[0, 0] == STAYS  # the factor -1


def test_the_last_equation_follows_from_a_conserved_sum() -> None:
    one = given(parts=(None, None), whole=(False, False), sums={1: (-2.0, 0.0)})
    assert one.closed == {1}
    whole = one.complete(one.with_numbers(system("-0.3*x*y", "0")))
    assert canonical(whole.program) == canonical(system("-0.3*x*y", "0.6*x*y"))


def test_varying_constants_become_variables() -> None:
    one = given()
    symbolic = one.symbolic(one.with_numbers(system("0", "-0.7*y")))
    assert canonical(symbolic) == canonical(
        concatenate([parse(text, ["x", "y", "b"]) for text in ("-0.5*x", "0.5*b*x - 0.7*y")])
    )


def test_no_term_leads_a_positive_state_below_zero() -> None:
    one = given(
        whole=(False, False), reads=(None, None), operators=(None, None), positive=(True, False),
        samples=np.random.default_rng(0).uniform(0.1, 1.0, (20, 2)),
    )  # fmt: skip
    names = ["x", "y"]
    assert one.allows(0, parse("0.4*y - 0.3*x*y", names))
    assert not one.allows(0, parse("-0.4*y + 0.3*x*y", names))
    assert not one.allows(0, parse("-0.1", names))
    assert one.allows(1, parse("-0.4*x", names))


def test_what_is_found_may_be_limited() -> None:
    one = given(
        whole=(False, False), positive=(False, False), reads=(frozenset({0}), None),
        operators=(None, frozenset({"add", "mul"})),
    )  # fmt: skip
    assert one.allows(0, parse("sin(x)", ["x", "y"]))
    assert not one.allows(0, parse("y", ["x", "y"]))
    assert one.allows(1, parse("x*y", ["x", "y"]))
    assert not one.allows(1, parse("sin(x)", ["x", "y"]))


def test_parts_of_trajectories_keep_their_constants() -> None:
    one, times = given(), np.arange(4.0)
    data = replace(Observations.joined([times, times], [np.ones((4, 2))] * 2), given=one)
    part = data.part(np.array([4, 5, 6, 7]), np.array([0, 2, 4]))  # the second trajectory, in two
    found = one.with_numbers(system("0", "-0.7*y"))
    assert part.origins == (1, 1)
    assert part.whole_systems(found) == [data.whole_systems(found)[1]] * 2
