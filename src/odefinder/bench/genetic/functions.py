"""exp, log, sin and cos of whole arrays, in loops that become vector instructions.

The library's functions take one number at a time, and took two thirds of the time of a run.  Here we use the
textbook reductions to a short interval and a series there; they agree with the library to a few units in
the last place.  Waves with arguments above a hundred thousand are left to the library.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled

Floats = NDArray[np.float64]

# Added to a number, this leaves its nearest whole number in the last bits.
ROUND = 6755399441055744.0  # 1.5 * 2^52
ROUND_BITS = int(np.float64(ROUND).view(np.int64))
LOG2_E = 1.0 / math.log(2.0)
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
TWO_OVER_PI = 2.0 / math.pi
# pi / 2 in three parts, of which the first two have 33 bits
QUARTER_1, QUARTER_2 = 1.57079632673412561417e00, 6.07710050630396597660e-11
QUARTER_3 = 2.02226624879595063154e-21
LARGEST_ANGLE = 1e5
LARGEST_EXPONENT, SMALLEST_EXPONENT = 709.0, -708.0  # beyond: inf and 0
ONE_BITS, SQRT_HALF_BITS = 0x3FF0000000000000, 0x3FE6A09E667F3BCD
MANTISSA_BITS = 0x000FFFFFFFFFFFFF
SMALLEST_NORMAL = 2.2250738585072014e-308
(E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13) = (1.0 / math.factorial(k) for k in range(2, 14))


@compiled
def exp_all(a: Floats, out: Floats, scratch: Floats) -> None:
    """out = exp(a): 2^k exp(r) with |r| <= ln(2) / 2."""
    n = len(out)
    bits = scratch.view(np.int64)
    for i in range(n):
        x = min(max(a[i], SMALLEST_EXPONENT), LARGEST_EXPONENT)
        shifted = x * LOG2_E + ROUND
        k = shifted - ROUND
        scratch[i] = shifted
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        r2 = r * r
        high = E8 + r * E9 + r2 * (E10 + r * E11 + r2 * (E12 + r * E13))
        low = E2 + r * E3 + r2 * (E4 + r * E5 + r2 * (E6 + r * E7))
        r4 = r2 * r2
        out[i] = 1.0 + (r + r2 * (low + r4 * r2 * high))
    for i in range(n):
        bits[i] = (bits[i] << 52) + ONE_BITS  # the lowest bits are k
    for i in range(n):
        x = a[i]
        value = out[i] * scratch[i]
        value = np.inf if x > LARGEST_EXPONENT else value
        value = 0.0 if x < SMALLEST_EXPONENT else value
        out[i] = value if x == x else np.nan


@compiled
def log_all(a: Floats, out: Floats, scratch: Floats) -> None:
    """out = log(|a|): k log(2) + log(m) with m between sqrt(1/2) and sqrt(2)."""
    n = len(out)
    source, bits, mantissa = a.view(np.int64), scratch.view(np.int64), out.view(np.int64)
    for i in range(n):
        offset = (source[i] & 0x7FFFFFFFFFFFFFFF) - SQRT_HALF_BITS
        k = offset >> 52
        bits[i] = k + ROUND_BITS
        mantissa[i] = (offset & MANTISSA_BITS) + SQRT_HALF_BITS
    for i in range(n):
        k = scratch[i] - ROUND
        m = out[i]
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        series = 2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (
            2.0 / 11 + z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19))))))))  # fmt: skip
        value = k * LN2_HIGH + (2.0 * s + (s * z * series + k * LN2_LOW))
        x = abs(a[i])
        value = -np.inf if x < SMALLEST_NORMAL else value
        out[i] = value if x < np.inf else x  # inf and NaN


@compiled
def wave_all(a: Floats, out: Floats, scratch: Floats, quarters: int) -> None:
    """out = sin(a + quarters * pi / 2), from the sine and cosine of the rest after quarter turns."""
    n = len(out)
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(a[i]))
    if not largest < LARGEST_ANGLE:
        for i in range(n):
            out[i] = math.sin(a[i]) if quarters == 0 else math.cos(a[i])
        return
    bits = scratch.view(np.int64)
    for i in range(n):
        scratch[i] = a[i] * TWO_OVER_PI + ROUND
    for i in range(n):
        k = scratch[i] - ROUND
        turn = bits[i] + quarters
        r = ((a[i] - k * QUARTER_1) - k * QUARTER_2) - k * QUARTER_3
        z = r * r
        sine = r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (
            -1.0 / 39916800 + z * (1.0 / 6227020800 - z / 1307674368000))))))  # fmt: skip
        cosine = 1.0 - z * (0.5 - z * (1.0 / 24 - z * (1.0 / 720 - z * (1.0 / 40320 - z * (
            1.0 / 3628800 - z * (1.0 / 479001600 - z * (
                1.0 / 87178291200 - z / 20922789888000)))))))  # fmt: skip
        value = cosine if turn & 1 else sine
        out[i] = -value if turn & 2 else value
