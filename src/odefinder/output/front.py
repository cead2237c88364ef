"""The front of candidates: how complex each is, how far from the data, and which one was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import DataError
from odefinder.output.style import COLOURS, GREY

EXACT = 1e-9  # smaller errors are those of the integration
MOST_TICKS = 5


class Front(NamedTuple):
    """The candidates of a fit."""

    complexity: Sequence[float]
    error: Sequence[float]
    chosen: int


def draw_front(axes: Any, front: Front) -> None:
    """All candidates as dots, the best of each complexity as steps, a ring around the chosen one."""
    complexity, error = np.asarray(front.complexity, np.float64), np.asarray(front.error, np.float64)
    if complexity.shape != error.shape or complexity.ndim != 1 or len(error) == 0:
        raise DataError("give one complexity and one error for every candidate")
    if not 0 <= front.chosen < len(error):
        raise DataError(f"there is no candidate number {front.chosen}; there are {len(error)}, from 0")
    usable = np.isfinite(error) & np.isfinite(complexity)
    exact = usable & (error <= EXACT)
    floor = error[usable & ~exact].min(initial=1.0) / 10.0  # the place of exact fits on a logarithmic axis
    shown = np.where(exact, floor, error)
    order = np.lexsort((shown, complexity))
    order = order[usable[order]]
    best = np.minimum.accumulate(shown[order]) if len(order) else shown[order]
    axes.step(complexity[order], best, where="post", color=COLOURS[0], linewidth=1.2, alpha=0.7)
    axes.plot(complexity[usable], shown[usable], "o", color=COLOURS[0], markersize=3.5, alpha=0.6,
              markeredgewidth=0)  # fmt: skip
    if usable[front.chosen]:
        place = complexity[front.chosen], shown[front.chosen]
        axes.plot(*place, "o", markersize=9, color="none", markeredgecolor=COLOURS[1], markeredgewidth=1.8)
    axes.set_yscale("log")
    axes.set(xlabel="complexity", ylabel="error")
    axes.set_title("candidates (ring: chosen)", loc="left", fontsize=8, color=GREY, pad=4)
    axes.margins(x=0.08, y=0.15)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    if exact.any():
        _name_exact(axes, floor, shown[usable & ~exact])


def _name_exact(axes: Any, floor: float, others: NDArray[np.float64]) -> None:
    """Ticks of powers of ten, and one that says that fits are exact."""
    from matplotlib.ticker import NullLocator

    ticks, words = [floor], ["exact"]
    if len(others):
        first, last = math.ceil(math.log10(others.min())), math.floor(math.log10(others.max()) + 0.5)
        step = max(1, math.ceil((last - first) / MOST_TICKS))
        exponents = list(range(first, last + 1, step))
        ticks += [10.0**exponent for exponent in exponents]
        words += [rf"$\mathdefault{{10^{{{exponent}}}}}$" for exponent in exponents]
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticks(ticks, words)
