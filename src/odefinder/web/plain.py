"""Numbers as JSON can hold them."""

from __future__ import annotations

import math
from typing import Any


def number(value: float) -> float | None:
    """The number, or None where there is none."""
    return float(value) if math.isfinite(value) else None


def numbers(values: Any) -> list[float | None]:
    """A column of numbers."""
    return [number(value) for value in values.tolist()]
