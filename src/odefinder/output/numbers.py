"""Numbers with errors, for people."""

from __future__ import annotations

import math

from odefinder.expressions.digits import short_number

SMALL, LARGE = -4, 6  # exponents outside of which a power of ten is split off


def with_error(value: float, error: float, digits: int = 4, power: str = "e{}") -> str:
    """0.443(12): the error of the last digits in parentheses; without an error, only the number.

    power: how a power of ten is written.
    """
    if not math.isfinite(error) or error <= 0.0 or not math.isfinite(value):
        mantissa, _, exponent = short_number(value, digits).partition("e")
        return mantissa + (power.format(exponent) if exponent else "")
    exponent_of_error = math.floor(math.log10(error))
    if round(error / 10.0 ** (exponent_of_error - 1)) == 100:  # 0.0996 has the two digits 10
        exponent_of_error += 1
    largest = max(abs(value), error)
    split = math.floor(math.log10(largest))
    split = 0 if SMALL <= split < LARGE and exponent_of_error < 2 else split
    decimals = max(1 - exponent_of_error + split, 0)
    text = f"{value / 10.0**split:.{decimals}f}({round(error / 10.0**split * 10**decimals)})"
    return text + (power.format(split) if split else "")
