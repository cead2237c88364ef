"""A result as text: the table of systems with the chosen one marked."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.inference.remarks import Explanation
from odefinder.output.constants import constants_text
from odefinder.output.higher_order import equations_text

SHOWN = 6  # systems that are shown unless all are asked for
WIDTH = 100  # of the notes
MARK = ">>>>"


def header(explanations: Sequence[Explanation]) -> list[str]:
    """The titles of the columns; R2 over windows has one where systems were found over them."""
    windows = ["over windows"] * _has_windows(explanations)
    return ["", "row", "complexity", "R2", *windows, "weight", "source", "system"]


def _has_windows(explanations: Sequence[Explanation]) -> bool:
    return any(one.r2_windows is not None for one in explanations)


def rows(
    dataset: Dataset, explanations: Sequence[Explanation], chosen: int, limit: int | None = SHOWN
) -> list[list[str]]:
    """The cells under `header`; a system has one line per equation.  The chosen row is always among them."""
    windows = _has_windows(explanations)
    shown = list(range(len(explanations)))[:limit]
    if chosen not in shown:
        shown.append(chosen)
    return [
        [
            MARK if k == chosen else "",
            str(k),
            str(explanations[k].system.complexity),
            share(explanations[k].r2),
            *([share(explanations[k].explained)] if windows else []),
            _weight(explanations[k].weight),
            explanations[k].source,
            "\n".join(
                filter(None, [equations_text(explanations[k].system, dataset), named(explanations[k])])
            ),
        ]
        for k in shown
    ]


def named(one: Explanation) -> str:
    """The named constants of a system, in parentheses; empty if it has none."""
    return f"({constants_text(one.constants)})" if one.constants else ""


def as_text(
    dataset: Dataset,
    explanations: Sequence[Explanation],
    chosen: int,
    notes: Sequence[str] = (),
    limit: int | None = SHOWN,
) -> str:
    """The table as plain text, with the data above it and the notes below."""
    cells = rows(dataset, explanations, chosen, limit)
    titles = header(explanations)
    widths = [max(len(row[j]) for row in [titles, *cells]) for j in range(len(titles) - 1)]
    lines = [str(dataset), "", _line(titles, widths)]
    for row in cells:
        first, *rest = row[-1].splitlines()
        lines.append(_line([*row[:-1], first], widths))
        lines += [_line([*[""] * len(widths), equation], widths) for equation in rest]
    hidden = len(explanations) - len(cells)
    if hidden:
        lines.append(f"and {hidden} more")
    lines += [""] * bool(notes)
    lines += [textwrap.fill(f"- {note}", WIDTH, subsequent_indent="  ") for note in notes]
    return "\n".join(lines)


def share(r2: float) -> str:
    """R2 as text: never rounded up to 1."""
    if not np.isfinite(r2):
        return "-"
    return ">0.9999" if r2 > 0.9999 else f"{r2:.4f}" if r2 > -10 else f"{r2:.0e}"


def _weight(weight: float) -> str:
    return f"{weight:.3f}" if weight >= 0.0005 else "<0.001"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Numbers are aligned to the right, the words of the first and of the last two columns to the left."""
    padded = [
        cell.ljust(width) if j in (0, len(widths) - 1) else cell.rjust(width)
        for j, (cell, width) in enumerate(zip(cells, widths, strict=False))
    ]
    return "  ".join([*padded, cells[-1]]).rstrip()
