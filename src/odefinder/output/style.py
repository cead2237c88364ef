"""What all figures share: colours, style, limits of axes, and how they are written to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from odefinder.edge.parameters import checked
from odefinder.edge.writing import replacing
from odefinder.errors import SettingsError

# Okabe and Ito's palette, which colour-blind readers can tell apart; black is kept for text.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, FAINT = "#222222", "#767676", "#C8CED3"
WIDTH = 9.0  # inches
ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")

_STYLE: Any = {
    "font.size": 9.0, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": INK, "xtick.color": GREY, "ytick.color": GREY, "axes.linewidth": 0.8,
    "mathtext.fontset": "cm", "legend.frameon": False, "axes.formatter.useoffset": False,
}  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, and leave the user's style as it is."""

    @wraps(draw)
    def wrapped(*args: P.args, **options: P.kwargs) -> R:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE):
            return draw(*args, **options)

    return wrapped


@styled
def save(figure: Any, path: str | Path, dpi: int = 160) -> None:
    """Write a figure, in the format that the ending of the path says."""
    path, dots = check_path(path), checked("dpi", dpi)
    with replacing(path) as place:
        figure.savefig(place, dpi=dots, facecolor="white", format=path.suffix.lower().removeprefix("."))


def check_path(path: str | Path) -> Path:
    """The path, if a figure can be written there."""
    path = Path(checked("path", path))
    if path.suffix.lower() not in ENDINGS:
        raise SettingsError(
            f"figures cannot be written to {str(path)!r}; end the name in {', '.join(ENDINGS)}"
        )
    if not os.path.isdir(path.parent):  # which also holds for names that are too long
        raise SettingsError(f"there is no folder {path.parent}; create it first")
    return path


def set_limits(
    setter: Callable[[float, float], Any], data: NDArray[Any], drawn: Sequence[NDArray[Any]]
) -> None:
    """Limits around the data, and around what was drawn as far as it stays near them."""
    if not np.isfinite(data).any():  # nobody measured it: there is only what was drawn
        data = np.concatenate(drawn) if drawn else np.zeros(1)
    low, high = float(np.nanmin(data)), float(np.nanmax(data))
    size = high - low or abs(high) or 1.0
    for values in drawn:
        low = min(low, max(float(values.min()), low - 0.5 * size))
        high = max(high, min(float(values.max()), high + 0.5 * size))
    margin = 0.08 * (high - low or size)
    setter(low - margin, high + margin)
