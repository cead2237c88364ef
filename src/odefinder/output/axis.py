"""Labels and ticks of axes: long titles on two lines, powers of ten and far levels in the label."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from odefinder.data.names import split_unit

LINE, PORTRAIT_LINE, LONG_LINE = 26, 40, 64  # characters: beside a panel, below a small or a wide one
FAR = 5e3  # times the range: values that stay this far from 0 are shown as differences
SMALL, LARGE = -3, 5  # exponents beyond which ticks are in powers of ten
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def label(title: str, line: int = LINE, power: str = "", level: str = "") -> str:
    """A title for an axis: at most two lines, then the unit; dollar signs stay as they are.

    power: of ten that the ticks are in; level: the number that they are counted from.
    """
    name, unit = split_unit(title)
    lines = textwrap.wrap(name, line, max_lines=2, placeholder=" …") or [name[:line]]
    shown = "\n".join(lines) + (f" − {level}" if level else "")
    unit = " ".join(part for part in (power, unit[:line]) if part)
    if unit:
        shown += f"{' ' if len(lines) == 1 and len(shown) + len(unit) < line - 6 else chr(10)}({unit})"
    return shown.replace("$", r"\$")


def set_label(axis: Any, title: str, line: int = LINE) -> None:
    """Label an axis whose limits are set; large powers and far levels leave the ticks for the label."""
    low, high = sorted(map(float, axis.get_view_interval()))
    level, power = _level(low, high), 1.0
    size = max(abs(low - level), abs(high - level))
    exponent = 3 * math.floor(math.log10(size) / 3.0) if 0.0 < size < math.inf else 0
    if size > 0.0 and not SMALL <= math.log10(size) < LARGE:
        power = 10.0**exponent
    if level != 0.0 or power != 1.0:
        from matplotlib.ticker import FuncFormatter

        axis.set_major_formatter(FuncFormatter(lambda value, _: _tick((value - level) / power)))
    raised = f"10{str(exponent).translate(_RAISED)}" if power != 1.0 else ""
    axis.set_label_text(label(title, line, raised, f"{level:.15g}" if level else ""))


def _level(low: float, high: float) -> float:
    """A round number below the values, if they stay far from 0; otherwise 0."""
    span = high - low
    if not span > 0.0 or low < 0.0 < high or min(abs(low), abs(high)) < FAR * span:
        return 0.0
    step = 10.0 ** math.floor(math.log10(span))
    return round(low / step) * step


def _tick(value: float) -> str:
    return f"{round(value, 9):.6g}".replace("-", "−")
