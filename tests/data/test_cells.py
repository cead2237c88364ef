"""Numbers as people write them."""

import pytest

from odefinder.data.cells import number_of


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1,000", ".", 1000.0),
        ("-1,234,567.5", ".", -1234567.5),
        ("12 000", ".", 12000.0),
        ("12\u00a0000,5", ",", 12000.5),
        ("1.234,5", ",", 1234.5),
        ("12 %", ".", 12.0),
        ("0,5%", ",", 0.5),
        ("1e3", ".", 1000.0),
        ("1,00", ".", None),
        ("1.000", ",", None),  # one, or a thousand
        ("1_000", ".", None),
        ("10,000,00", ".", None),
        ("%", ".", None),
        ("12 34", ".", None),
    ],
)
def test_numbers(text: str, decimal: str, value: float | None) -> None:
    assert number_of(text, decimal) == value
