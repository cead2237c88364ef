"""Equations of which a part is known, as people write them."""

import pytest

from odefinder.errors import SettingsError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import parse
from odefinder.inference.fit.known_text import known_states, read_known

NAMES = ("S", "I")


def test_names_that_are_no_variables_are_constants() -> None:
    read = read_known("S' = -b*S*I; I' = b*S*I - g*I", NAMES, {})
    assert read.constants == ("b", "g")
    assert [one.state for one in read.equations] == ["S", "I"]
    assert all(one.whole for one in read.equations)
    assert read.equations[1].part == canonical(parse("b*S*I - g*I", ["S", "I", "b", "g"]))


def test_a_question_mark_stands_for_terms_to_be_found() -> None:
    read = read_known("I' = b*S*I - ?", NAMES, {})
    assert not read.equations[0].whole
    assert read.equations[0].part == canonical(parse("b*S*I", ["S", "I", "b"]))
    assert read_known("I' = ?", NAMES, {}).equations[0].part is None


def test_the_variables_of_what_is_unknown_can_be_named() -> None:
    assert read_known("I' = b*S*I + ?(I)", NAMES, {}).equations[0].reads == ("I",)


def test_fixed_constants_are_numbers() -> None:
    read = read_known("S' = -b*S*I + 1e-3*pi", NAMES, {"b": 0.5})
    assert read.constants == ()
    assert read.equations[0].part == canonical(parse("-0.5*S*I + 1e-3*pi", NAMES))


def test_order_two_is_written_with_two_primes() -> None:
    read = read_known("theta'' = -k*sin(theta) - c*theta' + ?", ("theta", "theta_dot"), {})
    assert read.equations[0].state == "theta_dot"
    assert read.equations[0].part == canonical(
        parse("-k*sin(theta) - c*theta_dot", ["theta", "theta_dot", "k", "c"])
    )


@pytest.mark.parametrize(
    "known", ["S' = -b*S*I\nI' = ?", ["dS/dt = -b*S*I", "I' = ?"], {"S": "-b*S*I", "I'": "?"}]
)
def test_lines_lists_and_mappings_are_read_alike(known: object) -> None:
    assert known_states(known) == ("S", "I")
    assert read_known(known, NAMES, {}).constants == ("b",)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("S' = ? + ?", "question marks"),
        ("S' = S*?", "term of its own"),
        ("S' = -b*S; S' = 0", "two equations"),
        ("S' -b*S", "has no '='"),
        ("S + I = 1", "left-hand side"),
        ("", "empty"),
        (3, "is text"),
        ("S' = -b*I'", "derivative of I"),
        ("S' = -b*S*(", "in the known equation of S"),
        ("S' = t", "the time t"),
        ("S' = ?(Q)", "'Q'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(known: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message.replace("?", r"\?")):
        read_known(known, NAMES, {})
