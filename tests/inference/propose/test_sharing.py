"""Equations made from those of other variables."""

from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import parse
from odefinder.inference.propose.sharing import shared_equations

NAMES = ["x", "y", "z"]


def proposals(*texts: str) -> set[tuple[int, object]]:
    equations = [parse(text, NAMES) for text in texts]
    return {(k, canonical(one)) for k, one in shared_equations(equations)}


def of(text: str) -> object:
    return canonical(parse(text, NAMES))


def test_identical_units_have_the_same_law() -> None:
    found = proposals("0.5*y - x", "-y", "-z")
    assert (1, of("0.5*x - y")) in found  # both exchanged
    assert (1, of("0.5*z - y")) in found  # all shifted, as in a ring


def test_terms_are_tried_in_other_equations() -> None:
    assert (1, of("-y + 0.5*x*y")) in proposals("0.5*x*y", "-y", "-z")


def test_positions_are_exchanged_with_their_velocities() -> None:
    names = ["x", "y", "v", "w"]
    equations = [parse(text, names) for text in ("v", "w", "-x*y^2", "-y")]
    found = {
        (k, canonical(one))
        for k, one in shared_equations(equations, frozenset({0, 1}), velocities={0: 2, 1: 3})
    }
    assert (3, canonical(parse("-y*x^2", names))) in found
