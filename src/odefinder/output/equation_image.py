"""Equations drawn by Matplotlib: aligned at the equals sign, as large as fits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.expressions.digits import Digits
from odefinder.expressions.printing import to_latex, to_text
from odefinder.expressions.program import Program
from odefinder.output.higher_order import latex_left, state_names, written_equations
from odefinder.system import ODESystem

SIZES = (14.0, 12.5, 11.0, 9.5, 8.0)  # points
MAX_LINES = 8
DIGITS = 3
GAP = 0.45  # between lines, in heights of letters
_MARGIN = 0.96  # share of the width that is used
_POINTS = 72.0  # per inch


class EquationImage(NamedTuple):
    """What to draw, and how much room it takes."""

    lines: list[tuple[str, str]]  # left-hand side, and the rest starting with the equals sign
    heights: list[tuple[float, float]]  # of each line, below and above its base line, in points
    left: float  # the width of the widest left-hand side, in points
    right: float
    size: float  # of the letters, in points

    @property
    def inches(self) -> float:
        """The height of all lines."""
        gaps = (len(self.lines) + 2.5) * GAP * self.size
        return (sum(below + above for below, above in self.heights) + gaps) / _POINTS

    def draw(self, figure: Any, colour: str) -> None:
        """Fill a figure (or part of one) that has the height `inches`."""
        width, height = (_POINTS * side for side in figure.bbox.size / figure.get_figure(root=True).dpi)
        middle = (width + self.left - self.right) / 2.0
        y = height - 2.0 * GAP * self.size
        for (left, right), (below, above) in zip(self.lines, self.heights, strict=True):
            y -= above
            for text, side in ((left, "right"), (right, "left")):
                figure.text(
                    middle / width, y / height, text, ha=side, va="baseline", fontsize=self.size,
                    math_fontfamily="cm", color=colour,
                )  # fmt: skip
            y -= below + GAP * self.size


def equation_image(system: ODESystem, dataset: Dataset, inches: float) -> EquationImage:
    """The equations for a figure of this width; lines that are too long are cut."""
    available = _POINTS * inches * _MARGIN
    names = [*state_names(system, dataset), *system.inputs]
    every = [(names[number], equation) for number, equation, _ in written_equations(system, dataset)]
    shown, digits = every[:MAX_LINES], system.digits or DIGITS
    lines = [_formula(name, equation, names, digits) for name, equation in shown]
    size = next((size for size in SIZES if _total(lines, size) <= available), SIZES[-1])
    if _total(lines, size) > available:
        room = available - max(_extent(left, size)[0] for left, _ in lines)
        lines = [
            line
            if _extent(line[1], size)[0] <= room
            else (line[0], _cut(to_text(equation, names, digits), size, room))
            for (_, equation), line in zip(shown, lines, strict=True)
        ]
    if len(every) > MAX_LINES:
        lines.append(("", rf"$\;\ldots\;\mathrm{{and\ {len(every) - MAX_LINES}\ more}}$"))
    extents = [(_extent(left, size), _extent(right, size)) for left, right in lines]
    heights = [(max(left[1], right[1]), max(left[2], right[2], 0.7 * size)) for left, right in extents]
    widths = [max(one[side][0] for one in extents) for side in (0, 1)]
    return EquationImage(lines, heights, widths[0], widths[1], size)


def _total(lines: list[tuple[str, str]], size: float) -> float:
    """The width of the aligned lines."""
    return sum(max(_extent(line[side], size)[0] for line in lines) for side in (0, 1))


def _formula(name: str, equation: Program, names: Sequence[str], digits: Digits) -> tuple[str, str]:
    """One equation in Matplotlib's subset of LaTeX."""
    left, right = latex_left(name), to_latex(equation, names, digits)
    # Brackets grow only around fractions; functions stand apart from the factor before them.
    flat = re.compile(r"\\left([(|])((?:(?!\\left|\\right|\\frac).)*)\\right([)|])")
    while flat.search(right):
        right = flat.sub(r"\1\2\3", right)
    right = re.sub(r"(?<=[\w}]) (?=\\(?:sin|cos|tan|tanh|log)\b)", r"\\,", right)
    right = re.sub("^-", "{-}", right)  # a sign, with no space after it
    if not re.search(r"\^\{[^{}]*\\frac", right):
        right = right.replace(r"\frac", r"\dfrac")
    return f"${left}$", rf"$\;=\;{right}$"


def _extent(text: str, size: float) -> tuple[float, float, float]:
    """Width, depth below and height above the base line, in points; infinite if it cannot be drawn."""
    width, below, above = _extent_of_one(text)
    return size * width, size * below, size * above


@lru_cache(maxsize=256)
def _extent_of_one(text: str) -> tuple[float, float, float]:
    """The extent per point of letter size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text:
        return 0.0, 0.0, 0.0
    try:
        box = TextPath((0, 0), text, size=10.0, prop=FontProperties(math_fontfamily="cm")).get_extents()
    except (ValueError, RuntimeError):
        return float("inf"), 0.0, 0.0
    if not np.isfinite(box.extents).all():  # nothing but what has no width, such as underscores
        return 0.0, 0.0, 0.0
    return float(box.x1) / 10.0, max(0.0, -float(box.y0)) / 10.0, float(box.y1) / 10.0


def _cut(text: str, size: float, room: float) -> str:
    """Plain text that ends where the figure does."""
    text = "  = " + text
    length = max(8, int(room / (0.6 * size))) if np.isfinite(room) else 8
    return text if len(text) <= length else text[: length - 4] + " ..."
