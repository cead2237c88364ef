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


def drawn(values: Any) -> list[float | None]:
    """A column of numbers for a chart: seven digits are more than anybody can see."""
    return [float(f"{value:.7g}") if math.isfinite(value) else None for value in values.tolist()]
