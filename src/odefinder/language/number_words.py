"""Numbers as words: sign, mantissa and exponent (paper: "Tokenizing numbers").

The *input* numbers, read by the encoder, always follow the paper: a number rounded to four digits is the
three words sign, mantissa, exponent.  A `NumberScheme` says how a constant of the target is spelled.
Functions that work on one example are compiled and allocate nothing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import DataError, ExpressionError, SettingsError

PAD = 0  # the input's word for a missing number, and the target's padding

FIELDS = ("sign", "mantissa", "exponent")
EXPONENT_LIMIT = 100  # for any scheme: E-100 .. E100
_ZERO_POWER = 128  # index of 10**0
_POWERS = np.array([float(f"1e{k}") for k in range(-_ZERO_POWER, _ZERO_POWER + 1)])  # correctly rounded
_LOG10_2 = 1292913986  # log10(2) * 2**32


@compiled
def split_number(
    x: float, digits: int, decimals: int, exponent_min: int, exponent_max: int
) -> tuple[int, int, int]:
    """(sign, mantissa, exponent) of a number rounded to `digits` digits, halves away from zero; NaN is 0.

    The number is mantissa * 10**(exponent - decimals), negative for sign 1; the mantissa has exactly
    `digits` digits.  Zero, and anything smaller than the smallest such number, is (0, 0, 0); anything
    larger than the largest becomes the largest.
    """
    sign = 1 if x < 0.0 else 0
    magnitude = abs(x)
    # Indices of two powers of ten: the smallest number, and the first one beyond the largest.
    smallest = _ZERO_POWER + exponent_min - decimals + digits - 1
    largest = _ZERO_POWER + exponent_max - decimals + digits
    limit = int(_POWERS[_ZERO_POWER + digits])
    if not magnitude >= _POWERS[smallest - 1]:  # written so that NaN stops here too
        return 0, 0, 0
    if magnitude >= _POWERS[largest]:
        return sign, limit - 1, exponent_max
    # floor(log10): the binary exponent says `leading` or one more, and the table of powers decides.
    leading = ((math.frexp(magnitude)[1] - 1) * _LOG10_2) >> 32
    if magnitude >= _POWERS[_ZERO_POWER + leading + 1]:
        leading += 1
    shift = digits - 1 - leading
    # Up to 10**22 the powers are exact, so one multiplication or division is correctly rounded.
    if shift >= 0:
        mantissa = int(magnitude * _POWERS[_ZERO_POWER + shift] + 0.5)
    else:
        mantissa = int(magnitude / _POWERS[_ZERO_POWER - shift] + 0.5)
    if mantissa >= limit:  # 9999.5 -> 1000 E1
        mantissa //= 10
        leading += 1
    exponent = leading - digits + 1 + decimals
    if exponent < exponent_min:
        return 0, 0, 0
    if exponent > exponent_max:
        return sign, limit - 1, exponent_max
    return sign, mantissa, exponent


# ---------------------------------------------------------------- input numbers

_INPUT_DIGITS = 4
_INPUT_SIGN = 1  # "+", "-"
_INPUT_MANTISSA = 3  # "0000" .. "9999"
_INPUT_EXPONENT = _INPUT_MANTISSA + 10**_INPUT_DIGITS + EXPONENT_LIMIT  # the id of "E0"
INPUT_SIZE = _INPUT_EXPONENT + EXPONENT_LIMIT + 1  # the paper's 10203 words and PAD


@compiled
def encode_numbers(x: NDArray[np.float64], out: NDArray[np.int16]) -> None:
    """Write the ids of x (n,) into out (n, 3): sign, mantissa, exponent.  NaN, a missing entry, is PAD.

    Zero is + 0000 E0.
    """
    for i in range(x.shape[0]):
        if math.isnan(x[i]):
            out[i, 0], out[i, 1], out[i, 2] = PAD, PAD, PAD
        else:
            sign, mantissa, exponent = split_number(x[i], _INPUT_DIGITS, 0, -EXPONENT_LIMIT, EXPONENT_LIMIT)
            out[i, 0] = _INPUT_SIGN + sign
            out[i, 1] = _INPUT_MANTISSA + mantissa
            out[i, 2] = _INPUT_EXPONENT + exponent


def number_ids(values: ArrayLike, *, allow_missing: bool = False) -> NDArray[np.int16]:
    """Input ids (..., 3) of an array of numbers (...); with `allow_missing`, NaN becomes PAD."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any() or (not allow_missing and np.isnan(array).any()):
        raise DataError("only finite numbers have tokens; remove NaN and infinite values first")
    out = np.empty((array.size, 3), dtype=np.int16)
    encode_numbers(array.ravel(), out)
    return out.reshape(*array.shape, 3)


def decode_numbers(ids: ArrayLike) -> NDArray[np.float64]:
    """The numbers (...) of input ids (..., 3); a PAD triple is NaN."""
    array = np.asarray(ids, dtype=np.int64)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise ExpressionError(f"numbers are triples of ids, got an array of shape {array.shape}")
    missing = (array == PAD).all(axis=-1)
    first = np.array([_INPUT_SIGN, _INPUT_MANTISSA, _INPUT_EXPONENT - EXPONENT_LIMIT])
    fields = np.where(missing[..., None], 0, array - first)
    if (fields < 0).any() or (fields >= np.array([2, 10**_INPUT_DIGITS, 2 * EXPONENT_LIMIT + 1])).any():
        raise ExpressionError("the ids are not triples of sign, mantissa, exponent")
    mantissa, exponent = fields[..., 1], fields[..., 2] - EXPONENT_LIMIT
    power = _POWERS[_ZERO_POWER + np.abs(exponent)]
    magnitude = np.where(exponent < 0, mantissa / power, mantissa * power)
    return np.where(missing, np.nan, np.where((fields[..., 0] == 1) & (mantissa > 0), -magnitude, magnitude))


# ---------------------------------------------------------------- how targets spell constants


@dataclass(frozen=True)
class NumberScheme:
    """How a constant is spelled; the default is the preset `coarse`."""

    digits: int = 2
    # One token each, in this order; "+" merges fields into one token: ("sign+exponent", "mantissa").
    order: tuple[str, ...] = ("sign", "exponent", "mantissa")
    exponent_min: int = -12  # smaller numbers become 0
    exponent_max: int = 12  # larger numbers become the largest
    exact: tuple[float, ...] = (0.0, 1.0)  # numbers with a word of their own
    scientific: bool = True  # the mantissa 24 means 2.4; otherwise 24, as in the paper

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(self.order))  # JSON has only lists
        object.__setattr__(self, "exact", tuple(float(value) for value in self.exact))
        if not 1 <= self.digits <= 4:
            raise SettingsError(f"a mantissa has 1 to 4 digits, not {self.digits}")
        if sorted(itertools.chain.from_iterable(self.parts)) != sorted(FIELDS):
            raise SettingsError(
                f"the order must name sign, exponent and mantissa once each, got {self.order}"
            )
        if not -EXPONENT_LIMIT <= self.exponent_min <= 0 <= self.exponent_max <= EXPONENT_LIMIT:
            raise SettingsError(
                f"the exponents must include 0 and stay within -{EXPONENT_LIMIT} .. {EXPONENT_LIMIT}, "
                f"got {self.exponent_min} .. {self.exponent_max}"
            )
        if len(set(self.exact)) < len(self.exact):
            raise SettingsError(f"an exact number is listed twice: {self.exact}")
        for value in self.exact:
            if not self._can_write(value):
                raise SettingsError(f"the exact number {value} has more digits than the scheme can write")

    def _can_write(self, value: float) -> bool:
        """Whether no digit is lost.  Calls nothing compiled: the presets below are checked on import."""
        if not math.isfinite(value) or value == 0.0:
            return value == 0.0
        rounded = f"{value:.{self.digits - 1}e}"
        exponent = int(rounded.partition("e")[2]) - self.digits + 1 + self.decimals
        return self.exponent_min <= exponent <= self.exponent_max and math.isclose(float(rounded), value)

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The fields of each token."""
        return tuple(tuple(part.split("+")) for part in self.order)

    @property
    def decimals(self) -> int:
        """Digits of the mantissa after the decimal point."""
        return self.digits - 1 if self.scientific else 0

    @property
    def mantissa_min(self) -> int:
        """The first mantissa word: 0 where zero has no word of its own."""
        return 10 ** (self.digits - 1) if 0.0 in self.exact else 0

    def field_words(self, field: str) -> list[str]:
        """The words of one field, in the order of their ids."""
        if field == "sign":
            return ["+", "-"]
        if field == "exponent":
            return [f"E{e}" for e in range(self.exponent_min, self.exponent_max + 1)]
        return [f"{m:0{self.digits}d}" for m in range(self.mantissa_min, 10**self.digits)]

    def split(self, x: float) -> tuple[int, int, int]:
        """Sign, mantissa and exponent of a rounded number (see `split_number`)."""
        return split_number(x, self.digits, self.decimals, self.exponent_min, self.exponent_max)

    def value(self, sign: int, mantissa: int, exponent: int) -> float:
        """The number of a sign, mantissa and exponent, correctly rounded."""
        return float(f"{'-' if sign and mantissa else ''}{mantissa}e{exponent - self.decimals}")


NUMBER_SCHEMES = {
    "coarse": NumberScheme(),
    "fine": NumberScheme(digits=4),
    "paper": NumberScheme(
        digits=4,
        order=("sign", "mantissa", "exponent"),
        exponent_min=-EXPONENT_LIMIT,
        exponent_max=EXPONENT_LIMIT,
        exact=(),
        scientific=False,
    ),
}
