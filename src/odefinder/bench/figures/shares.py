"""Figures of shares: how many fits are good, by noise, by dimension, by what makes a task hard.

All have one row per question, with reconstruction on the left and generalization on the right.  Methods are
lines with a common legend, or bars if there is only one value on the horizontal axis.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odefinder.bench.figures.contestants import MEASURES, Cell, Contestant, comparable, share
from odefinder.bench.metrics import GOOD
from odefinder.bench.protocol import Result
from odefinder.bench.sets import TrueSystem
from odefinder.expressions.program import ARITY
from odefinder.output.style import FAINT, GREY, INK, WIDTH, styled

MOST_RHOS = 3
RANGES = 6  # of numbers of operators


@dataclass(frozen=True)
class Row:
    """One question: the fits at each place of the horizontal axis."""

    title: str
    axis: str
    fits: Sequence[tuple[float, Result]]
    ticks: Mapping[float, str] | None = None  # place -> label; None: its number
    lines: Sequence[Contestant] | None = None  # None: those of the figure
    errors: bool = False  # whether standard errors are drawn

    @property
    def places(self) -> list[float]:
        return sorted({place for place, _ in self.fits})

    def shares(self, name: str, measure: str) -> dict[float, tuple[float, float]]:
        """Share and its standard error in %, at the places at which a method has fits."""
        found: dict[float, list[Result]] = defaultdict(list)
        for place, result in self.fits:
            if result.method == name:
                found[place].append(result)
        shares = {place: share(found[place], measure) for place in sorted(found)}
        return {place: (value, standard_error(value, len(found[place]))) for place, value in shares.items()}


def standard_error(share: float, count: int) -> float:
    """Of a share in %, with half a fit of either kind added: four of four is not certain."""
    chance = (0.01 * share * count + 0.5) / (count + 1.0)
    return 100.0 * float(np.sqrt(chance * (1.0 - chance) / count))


# ---------------------------------------------------------------------------------------- the figures


def accuracy(results: Sequence[Result], ranked: Sequence[Contestant]) -> Any:
    """Shares of the fits that all methods have by noise, one row for each share of dropped points."""
    names = {one.name for one in ranked}
    results = comparable([result for result in results if result.method in names])
    rhos = sorted({result.rho for result in results})
    if len(rhos) > MOST_RHOS:
        rhos = [rhos[0], rhos[len(rhos) // 2], rhos[-1]]
    rows = [
        Row(_dropped(rho), "noise σ", [(result.sigma, result) for result in results if result.rho == rho])
        for rho in rhos
    ]
    if all(len(row.places) == 1 for row in rows):
        rows = [Row(f"{row.title}, σ = {row.places[0]:g}", row.axis, row.fits) for row in rows]
    return draw_rows(rows, ranked)


def by_dimension(results: Sequence[Result], ranked: Sequence[Contestant]) -> Any:
    """Shares by dimension, in the cleanest and the noisiest cell."""
    dimensions = {result.dimension for result in results}
    which = f", dimension {dimensions.pop()}" if len(dimensions) == 1 else ""  # bars have no axis to show it
    rows = [_by_dimension(_in(results, cell), _cell_title(cell) + which) for cell in ends(results)]
    return draw_rows(rows, ranked)


def ablations(
    results: Sequence[Result],
    ranked: Sequence[Contestant],
    systems: Sequence[TrueSystem],
    settings: Mapping[str, Mapping[str, Any]],
) -> Any:
    """Shares by dimension, operators of the truth, points and samples, in the cleanest cell."""
    cleanest = ends(results)[0]
    inside = _in(results, cleanest)
    rows = [_by_dimension(inside, _cell_title(cleanest))]
    if systems:
        for arity, kind in ((1, "unary"), (2, "binary")):
            counts = {one.id: int((ARITY[one.program.ops] == arity).sum()) for one in systems}
            axis = f"{kind} operators in the truth"
            rows.append(_binned(axis, inside, [counts[result.system] for result in inside]))
    noise = [result for result in results if result.sigma == cleanest[0]]
    if len({result.rho for result in noise}) > 1:
        total = len(systems[0].t) if systems else 100
        fits = [(float(total - int(result.rho * total)), result) for result in noise]
        rows.append(Row("", "points" if systems else "% of the points", fits))
    rows += _samples(inside, ranked, settings)
    return draw_rows([replace(row, errors=True) for row in rows], ranked)


def ends(results: Sequence[Result]) -> list[Cell]:
    """The cleanest and the noisiest cell; one if they are the same."""
    cells = sorted({(result.sigma, result.rho) for result in results})
    return cells[:1] if len(cells) == 1 else [cells[0], cells[-1]]


# ---------------------------------------------------------------------------------------- rows


def _samples(
    results: Sequence[Result], ranked: Sequence[Contestant], settings: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """By the number of samples that the network draws, if variants with other numbers were run."""
    family = "odefinder-decode"
    drawn = {name: int(how.get("samples", 0)) for name, how in settings.items() if name.startswith(family)}
    fits = [(drawn[result.method], result) for result in results if result.method in drawn]
    numbers = sorted({number for number, _ in fits})
    line = [one for one in ranked if one.name == family]
    if len(numbers) < 2 or not line:
        return []
    places = {number: float(place) for place, number in enumerate(numbers)}
    as_one = [(places[number], replace(result, method=family)) for number, result in fits]
    ticks = {place: str(number) for number, place in places.items()}
    return [Row("", "samples of the network (decode only)", as_one, ticks, line)]


def _by_dimension(results: Sequence[Result], title: str) -> Row:
    fits = [(float(result.dimension), result) for result in results]
    ticks = {place: f"{place:g}" for place, _ in fits}
    return Row(title, "dimension (fits)", fits, _with_counts(fits, ticks))


def _binned(axis: str, results: Sequence[Result], numbers: Sequence[int]) -> Row:
    """A place for every range of numbers; all ranges hold about equally many fits."""
    values = np.asarray(numbers)
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, RANGES + 1)).astype(int))
    lows = edges[:-1] if len(edges) > 1 else edges
    places = np.clip(np.searchsorted(lows, values, side="right") - 1, 0, None)
    ticks = {}
    for place in np.unique(places):
        low, high = values[places == place].min(), values[places == place].max()
        ticks[float(place)] = f"{low}" if low == high else f"{low}-{high}"
    fits = [(float(place), result) for place, result in zip(places, results, strict=True)]
    return Row("", f"{axis} (fits)", fits, _with_counts(fits, ticks))


def _with_counts(fits: Sequence[tuple[float, Result]], ticks: Mapping[float, str]) -> dict[float, str]:
    """Labels that say how many fits a method has at a place: a share of only four is not to be trusted."""
    counts = Counter((place, result.method) for place, result in fits)
    most = {place: max(n for (where, _), n in counts.items() if where == place) for place in ticks}
    return {place: f"{label}\n({most[place]})" for place, label in ticks.items()}


def _in(results: Sequence[Result], cell: Cell) -> list[Result]:
    return [result for result in results if (result.sigma, result.rho) == cell]


def _dropped(rho: float) -> str:
    return "all points" if rho == 0.0 else f"{100.0 * rho:g} % of the points dropped"


def _cell_title(cell: Cell) -> str:
    return f"σ = {cell[0]:g}, {_dropped(cell[1])}"


# ---------------------------------------------------------------------------------------- drawing


@styled
def draw_rows(rows: Sequence[Row], ranked: Sequence[Contestant]) -> Any:
    """The figure of some rows."""
    from matplotlib.figure import Figure

    bars = all(len(row.places) == 1 for row in rows)
    each = 0.8 + 0.2 * len(ranked) if bars else 2.5
    written = sum(1 + one.label(short=True).count("\n") for one in ranked)  # lines in the legend
    height = max(each * len(rows) + 0.2, 0.0 if bars else 0.8 + 0.18 * written)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    grid = figure.subplots(len(rows), len(MEASURES), squeeze=False, sharey=True)
    for k, row in enumerate(rows):
        for axes, measure in zip(grid[k], MEASURES, strict=True):
            (_draw_bars if bars else _draw_lines)(axes, row, measure, ranked)
            axes.set_title("\n".join(filter(None, [measure, row.title])), loc="left", fontsize=9, color=INK)
            if not bars:
                axes.set_xlabel(row.axis, labelpad=1.5)
    what = f"% of fits with R² > {GOOD:g}"
    if bars:
        for axes in grid[-1]:
            axes.set_xlabel(what)
        return figure
    figure.supylabel(what, fontsize=9, color=INK)
    _legend(figure, ranked)
    return figure


def _draw_lines(axes: Any, row: Row, measure: str, ranked: Sequence[Contestant]) -> None:
    for one in reversed(row.lines or ranked):  # the best on top
        found = row.shares(one.name, measure)
        if not found:
            continue
        # A line ends where a place in between was not measured.
        shares, errors = zip(*(found.get(place, (np.nan, np.nan)) for place in row.places), strict=True)
        axes.plot(row.places, shares, clip_on=False, **one.line)
        if row.errors:
            axes.errorbar(row.places, shares, errors, fmt="none", ecolor=one.colour, elinewidth=0.8)
    axes.set_ylim(0.0, 100.0)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    places = row.places
    ticks = row.ticks or {place: f"{place:g}" for place in places}
    if row.ticks is not None or len(places) <= 7:
        axes.set_xticks(list(ticks), list(ticks.values()))
    margin = 0.04 * (places[-1] - places[0]) or 0.5
    axes.set_xlim(places[0] - margin, places[-1] + margin)


def _draw_bars(axes: Any, row: Row, measure: str, ranked: Sequence[Contestant]) -> None:
    for k, one in enumerate(ranked):
        shares = [value for value, _ in row.shares(one.name, measure).values()]
        if shares:
            axes.barh(k, shares[0], height=0.7, color=one.colour if one.ours else GREY)
        axes.text(shares[0] + 1.0 if shares else 1.0, k, f"{shares[0]:.0f}" if shares else "not run",
                  va="center", fontsize=8, color=INK)  # fmt: skip
    axes.set_yticks(range(len(ranked)), [one.label() for one in ranked], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(0.0, 108.0), ylim=(len(ranked) - 0.4, -0.6))
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.spines["left"].set_visible(False)


def _legend(figure: Any, ranked: Sequence[Contestant]) -> None:
    """The methods by rank, with their mean."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **one.line) for one in ranked]
    colours = [one.colour if one.ours else INK for one in ranked]
    legend = figure.legend(handles, [f"{one.accuracy:.0f}  {one.label(short=True)}" for one in ranked],
                           loc="outside right upper", title="mean over common fits, %", fontsize=8.5,
                           title_fontsize=8.5, alignment="left", handlelength=2.6, labelspacing=0.55,
                           labelcolor=colours)  # fmt: skip
    legend.get_title().set_color(GREY)
