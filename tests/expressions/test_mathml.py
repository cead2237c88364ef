"""Programs as MathML."""

import xml.etree.ElementTree as ET

import pytest

from odefinder.expressions.mathml import mathml_name, to_mathml
from odefinder.expressions.parse import parse


def text_of(markup: str) -> str:
    """What a reader sees, without the layout; the markup must be well formed."""
    return "".join(ET.fromstring(f"<math>{markup}</math>").itertext())


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("1 - x", "1−x"),
        ("x - 2.5e-7*x*y", "x−2.5·10−7xy"),
        ("-0.5*(x - 101)", "−0.5(x−101)"),
        ("x/(1 + y)", "x1+y"),
        ("sin(x)^2 + exp(-y)", "sin\u2061(x)2+e−y"),
        ("sqrt(x) + abs(y)", "x+|y|"),
        ("x^1.5", "x1.5"),
    ],
)
def test_expressions(text: str, seen: str) -> None:
    assert text_of(to_mathml(parse(text, ["x", "y"]), ["x", "y"])) == seen


def test_structure() -> None:
    markup = to_mathml(parse("2*x/y^2", ["x", "y"]), ["x", "y"])
    assert markup == (
        '<mfrac><mrow><mn>2</mn><mspace width="0.17em"/><mi>x</mi></mrow>'
        "<mrow><msup><mrow><mi>y</mi></mrow><mrow><mn>2</mn></mrow></msup></mrow></mfrac>"
    )


@pytest.mark.parametrize(
    ("name", "seen"),
    [("x0", "x0"), ("theta''", "θ″"), ("Omega_max", "Ωmax"), ("lambda", "λ"), ("hare'", "hare′")],
)
def test_names(name: str, seen: str) -> None:
    assert text_of(mathml_name(name)) == seen


def test_names_are_no_markup() -> None:
    assert "<b>" not in mathml_name("<b>")
