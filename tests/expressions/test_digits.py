"""Digits of printed constants, and centred forms."""

import numpy as np
import pytest

from odefinder.expressions.digits import as_printed, centred, constant_text
from odefinder.expressions.parse import parse
from odefinder.expressions.printing import to_latex, to_text
from odefinder.numerics.evaluate import evaluate


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (101325.0, 4, "1.013e5"),
        (101325.0, {101325.0: 6}, "101325"),
        (-101325.0, {101325.0: 6}, "-101325"),
        (0.123456, {101325.0: 6}, "0.1235"),
        (1.00004, 4, "1.00004"),  # it would look like 1
        (0.1, None, "0.1"),
    ],
)
def test_a_constant_has_its_own_digits(value: float, digits: object, text: str) -> None:
    assert constant_text(value, digits) == text  # type: ignore[arg-type]


def test_text_and_latex_show_the_same_digits() -> None:
    program = parse("50662.512 - 0.512345*p", ["p"])
    digits = {50662.512: 8}
    assert to_text(program, ["p"], digits) == "50662.512 - 0.5123*p"
    assert to_latex(program, ["p"], digits) == "50662.512 - 0.5123 p"


def test_what_is_printed_is_what_is_read() -> None:
    program = parse("50662.512 - 0.512345*p", ["p"])
    digits = {50662.512: 8}
    assert as_printed(program, digits) == parse(to_text(program, ["p"], digits), ["p"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("50662.5 - 0.5*p", "-0.5*(p - 101325)"),
        ("p + 3*q - 100", "p - 100 + 3*q"),
        ("6 + 2*q - 0.5*p + p*q", "2*q - 0.5*(p - 12) + p*q"),
        ("1 - p^2", "1 - p^2"),
        ("-0.5*p", "-0.5*p"),
    ],
)
def test_a_centred_form_has_the_same_values(text: str, shown: str) -> None:
    program = parse(text, ["p", "q"])
    other = centred(program, [10.0, 1.0])
    points = np.array([[101326.0, 2.0], [0.3, -1.0]])
    np.testing.assert_allclose(evaluate(other, points), evaluate(program, points), rtol=1e-12)
    assert to_text(other, ["p", "q"]) == shown


def test_inputs_are_not_centred() -> None:
    program = parse("2*u + 3", ["x", "u"])
    assert centred(program, [10.0]) == program
