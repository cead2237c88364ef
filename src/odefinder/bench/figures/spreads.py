"""Figures of spreads: boxes of complexity and time, histograms of R2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefinder.bench.figures.contestants import MEASURES, Contestant
from odefinder.bench.metrics import GOOD
from odefinder.bench.protocol import Result
from odefinder.bench.sets import TrueSystem
from odefinder.output.style import FAINT, GREY, INK, WIDTH, styled

BINS = 10  # of R2 from 0 to 1
COLUMNS = 4


@styled
def cost(results: Sequence[Result], ranked: Sequence[Contestant], systems: Sequence[TrueSystem] = ()) -> Any:
    """Boxes of complexity and of CPU time, with the true systems' complexity as a line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, max(2.2, 0.9 + 0.28 * len(ranked))), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _boxes(left, ranked, [_values(results, one, "complexity") for one in ranked])
    _boxes(right, ranked, [_values(results, one, "cpu_s") for one in ranked])
    seen = {result.system for result in results}
    truths = [system.program.complexity for system in systems if system.id in seen]
    left.set_xlabel("complexity: operators, variables and constants")
    right.set_xlabel("CPU seconds per fit")
    if truths:
        middle = float(np.median(truths))
        left.axvline(middle, color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=0)
        left.text(middle, 1.01, f"true systems: {middle:g}", transform=left.get_xaxis_transform(),
                  ha="center", va="bottom", fontsize=8, color=INK)  # fmt: skip
    right.set_title(
        "the most accurate at the top; box: quartiles, whiskers: all", loc="right", fontsize=8, color=GREY
    )
    left.set_yticks(range(len(ranked)), [one.label() for one in ranked], color=INK)
    left.set_ylim(len(ranked) - 0.4, -0.6)
    return figure


@styled
def r2(results: Sequence[Result], ranked: Sequence[Contestant]) -> Any:
    """Histograms of R2, one panel per method; fits below 0 or failed are in one bin on the left."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    columns = min(COLUMNS, len(ranked))
    rows = -(-len(ranked) // columns)
    width = max(4.5, WIDTH * columns / COLUMNS)
    figure = Figure(figsize=(width, 0.8 + 1.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for k, axes in enumerate(grid.flat):
        if k >= len(ranked):
            axes.set_axis_off()
            continue
        _histogram(axes, results, ranked[k])
    for axes in grid[-1]:
        axes.set_xlabel("R²", labelpad=1)
    figure.supylabel("% of fits", fontsize=9, color=INK)
    handles = [Patch(color=GREY, alpha=0.55, linewidth=0), Line2D([], [], color=INK, linewidth=1.3)]
    figure.legend(handles, MEASURES, loc="outside upper center", ncols=2, fontsize=9)
    return figure


# ---------------------------------------------------------------------------------------- parts


def _values(results: Sequence[Result], one: Contestant, name: str) -> list[float]:
    """The values that a logarithmic axis can show."""
    values = [getattr(result, name) for result in results if result.method == one.name]
    return [float(value) for value in values if value is not None and value > 0.0]


def _boxes(axes: Any, ranked: Sequence[Contestant], columns: Sequence[Sequence[float]]) -> None:
    """Horizontal boxes on a logarithmic axis; the whiskers reach to the smallest and the largest value."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for k, (one, values) in enumerate(zip(ranked, columns, strict=True)):
        if not values:
            axes.text(0.02, k, "none", transform=axes.get_yaxis_transform(), va="center", color=GREY)
            continue
        colour = one.colour if one.ours else GREY
        axes.boxplot(values, positions=[k], orientation="horizontal", widths=0.6, whis=(0, 100),
                     patch_artist=True, manage_ticks=False,
                     boxprops={"facecolor": colour, "alpha": 0.35, "linewidth": 0},
                     whiskerprops={"color": colour}, capprops={"color": colour},
                     medianprops={"color": colour, "linewidth": 2.2})  # fmt: skip
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1.0,) if high > 1e3 * low else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=7))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _histogram(axes: Any, results: Sequence[Result], one: Contestant) -> None:
    edges = np.linspace(0.0, 1.0, BINS + 1)
    low = np.array([-0.2, -0.1])  # where the bin of failures stands
    mine = [result for result in results if result.method == one.name]
    for measure in MEASURES:
        found = [getattr(result, measure) for result in mine]
        values = np.array([value for value in found if value is not None and value >= 0.0])
        counts, _ = np.histogram(values, edges)
        heights = 100.0 * counts / len(mine)
        bad = 100.0 * (len(mine) - len(values)) / len(mine)
        for places, shares in ((low, np.array([bad])), (edges, heights)):
            if measure == MEASURES[0]:
                axes.stairs(shares, places, fill=True, color=one.colour if one.ours else GREY, alpha=0.55)
            else:
                axes.stairs(shares, places, color=INK, linewidth=1.2)
    axes.set_xlim(-0.25, 1.03)
    axes.set_ylim(bottom=0.0)
    axes.set_xticks([-0.15, 0.0, 0.5, GOOD], ["<0,\nfailed", "0", "0.5", f"{GOOD:g}"])
    axes.tick_params(labelsize=8)
    axes.set_title(one.label(short=True), loc="left", fontsize=8.5, color=one.colour if one.ours else INK)
