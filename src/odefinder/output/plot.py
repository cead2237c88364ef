"""Figures of data and systems: trajectories over the data, phase portraits, the front of candidates.

Every function returns a Matplotlib `Figure` that needs no display; `save` writes it to a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.names import split_unit
from odefinder.errors import DataError, SettingsError
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.output.equation_image import equation_image
from odefinder.system import ODESystem, SimulationWarning, StiffnessWarning

# Okabe and Ito's palette, which the colour-blind can tell apart; black is kept for text.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, FAINT = "#222222", "#767676", "#C8CED3"
FINE_POINTS = 600  # of a drawn trajectory
MAX_PANELS, MAX_PAIRS = 8, 3
WIDTH = 9.0  # inches
ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")

_STYLE: Any = {
    "font.size": 9.0, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": INK, "xtick.color": GREY, "ytick.color": GREY, "axes.linewidth": 0.8,
    "mathtext.fontset": "cm", "legend.frameon": False, "axes.formatter.useoffset": False,
}  # fmt: skip


P = ParamSpec("P")
R = TypeVar("R")


class Front(NamedTuple):
    """The candidates of a fit: how complex each is, how far from the data, and which one was chosen."""

    complexity: Sequence[float]
    error: Sequence[float]
    chosen: int


class _Simulated(NamedTuple):
    """A system's trajectory beside one observed trajectory."""

    times: Floats  # (n,), fine
    states: Floats  # (n, D), only as far as the solution was found
    stopped: bool
    observed: Floats  # (points, D): at the observed times, NaN where it was not found


# ---------------------------------------------------------------------------------------- figures


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, and leave the user's as it is."""

    @wraps(draw)
    def wrapped(*args: P.args, **options: P.kwargs) -> R:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE):
            return draw(*args, **options)

    return wrapped


@styled
def plot_fit(dataset: Dataset, system: ODESystem | None = None, starts: ArrayLike | None = None) -> Any:
    """The data over time, one panel a variable, with the trajectories of the system.

    `starts` are its initial values, (trajectories, D); without them, the first known values.
    """
    rows = min(dataset.dimension, MAX_PANELS)
    figure, body = _figure(0.6 + max(1.5 * rows, 2.4), system)
    _draw_panels(body, dataset, _simulate(dataset, system, starts))
    return figure


@styled
def phase_portrait(dataset: Dataset, system: ODESystem | None = None, starts: ArrayLike | None = None) -> Any:
    """Variable against variable, in 2-D with the flow; in 1-D the derivative over the variable."""
    plane = dataset.dimension < 3
    figure, body = _figure(4.4 if plane else 3.2, system, width=5.6 if plane else WIDTH)
    pairs = _pairs(dataset.dimension)
    simulated = _simulate(dataset, system, starts)
    for axes, pair in zip(np.atleast_1d(body.subplots(1, len(pairs))), pairs, strict=True):
        _draw_portrait(axes, dataset, system, simulated, pair)
    return figure


@styled
def plot_candidates(front: Front) -> Any:
    """Error against complexity; the chosen candidate is marked."""
    figure, body = _figure(3.4, None, width=5.6)
    _draw_front(body.subplots(), front)
    return figure


@styled
def summary_figure(
    dataset: Dataset, system: ODESystem, starts: ArrayLike | None = None, front: Front | None = None
) -> Any:
    """The equations, the data with the fitted trajectories, the phase portrait and the candidates."""
    rows = min(dataset.dimension, MAX_PANELS)
    figure, body = _figure(0.4 + max(1.45 * rows, 3.4 if front is None else 4.6), system)
    left, right = body.subfigures(1, 2, width_ratios=[1.45, 1.0])
    simulated = _simulate(dataset, system, starts)
    _draw_panels(left, dataset, simulated)
    below = right.subplots(1 if front is None else 2, 1, height_ratios=[1.0] if front is None else [1.5, 1.0])
    portrait, *rest = np.atleast_1d(below)
    _draw_portrait(portrait, dataset, system, simulated, _pairs(dataset.dimension)[0])
    if front is not None:
        _draw_front(rest[0], front)
    return figure


@styled
def save(figure: Any, path: str | Path, dpi: int = 160) -> None:
    """Write a figure; the ending of the path says how."""
    path = check_path(path)
    try:
        figure.savefig(path, dpi=dpi, facecolor="white")
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror or error}") from None


def check_path(path: str | Path) -> Path:
    """The path, if a figure can be written there."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise SettingsError(
            f"figures cannot be written to {str(path)!r}; end the name in {', '.join(ENDINGS)}"
        )
    if not path.parent.is_dir():
        raise SettingsError(f"there is no folder {path.parent}; make it first")
    return path


# ---------------------------------------------------------------------------------------- parts


def _opacity(dataset: Dataset) -> float:
    """How opaque observed points are: very many must not hide the line."""
    return float(np.clip(200.0 / sum(map(len, dataset.times)), 0.05, 0.5))


def _draw_panels(figure: Any, dataset: Dataset, simulated: Sequence[_Simulated]) -> None:
    """One panel a variable over a common time axis."""
    shown = min(dataset.dimension, MAX_PANELS)
    panels = np.atleast_1d(figure.subplots(shown, 1, sharex=True))
    colour, opacity = _colours(dataset), _opacity(dataset)
    for j, axes in enumerate(panels):
        for k, (times, states) in enumerate(dataset.trajectories()):
            size = 3.6 if len(times) < 150 else 2.4
            axes.plot(times, states[:, j], "o", color=colour(k, j), markersize=size, alpha=opacity,
                      markeredgewidth=0)  # fmt: skip
        for k, run in enumerate(simulated):
            axes.plot(run.times, run.states[:, j], color=colour(k, j), linewidth=1.5)
        set_limits(
            axes.set_ylim, np.concatenate(dataset.states)[:, j], [run.states[:, j] for run in simulated]
        )
        _mark_stops(axes, simulated, j, colour, say=j == 0)
        axes.set_ylabel(_label(dataset.titles[j]))
        if simulated:
            axes.set_title(_agreement(dataset, simulated, j), loc="right", fontsize=8, color=GREY, pad=3)
    panels[-1].set_xlabel(_label(dataset.clock.label))
    if all((times == np.round(times)).all() for times in dataset.times):
        panels[-1].xaxis.get_major_locator().set_params(integer=True)  # years have no halves
    if shown < dataset.dimension:
        panels[0].set_title(f"the first {shown} of {dataset.dimension} variables", loc="left", fontsize=8)
    elif simulated:
        _legend(panels[0], len(dataset))
    figure.align_ylabels(panels)


def _legend(axes: Any, trajectories: int) -> None:
    """Dots and line in grey where colours mean trajectories."""
    from matplotlib.lines import Line2D

    dots = Line2D([], [], marker="o", linestyle="", color=GREY, markersize=3.6, alpha=0.6, markeredgewidth=0)
    several = f" ({trajectories} trajectories)" if trajectories > 1 else ""
    axes.legend([dots, Line2D([], [], color=GREY, linewidth=1.6)], [f"observed{several}", "fitted system"],
                loc="lower left", bbox_to_anchor=(-0.01, 0.97), ncols=2, fontsize=8, labelcolor=GREY,
                borderaxespad=0.0, handletextpad=0.5, columnspacing=1.2)  # fmt: skip


def _mark_stops(axes: Any, simulated: Sequence[_Simulated], j: int, colour: Callable, say: bool) -> None:
    """A cross where a simulation ends before the data do, in words on the first panel."""
    stops = [(k, run) for k, run in enumerate(simulated) if run.stopped]
    for k, run in stops:
        low, high = axes.get_ylim()
        axes.axvline(run.times[-1], color=colour(k, j), linewidth=0.9, linestyle=(0, (2, 2)))
        axes.plot(run.times[-1], np.clip(run.states[-1, j], low, high), "X", color=colour(k, j), markersize=7,
                  clip_on=False, markeredgecolor="white")  # fmt: skip
    if stops and say:
        run = min((run for _, run in stops), key=lambda run: float(run.times[-1]))
        left, right = axes.get_xlim()
        late = run.times[-1] > 0.5 * (left + right)
        axes.annotate(f"the solution ends at {run.times[-1]:.3g}", (run.times[-1], 0.5), fontsize=8,
                      color=INK, xycoords=axes.get_xaxis_transform(), textcoords="offset points",
                      xytext=(-7 if late else 7, 0), ha="right" if late else "left", va="center",
                      bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5})  # fmt: skip


def _draw_portrait(
    axes: Any,
    dataset: Dataset,
    system: ODESystem | None,
    simulated: Sequence[_Simulated],
    pair: tuple[int, int],
) -> None:
    """The plane of two variables, or for a single one its derivative."""
    if dataset.dimension == 1:
        _draw_phase_line(axes, dataset, system)
        return
    i, j = pair
    colour, states = _colours(dataset, one_is_ink=True), np.concatenate(dataset.states)
    set_limits(axes.set_xlim, states[:, i], [run.states[:, i] for run in simulated])
    set_limits(axes.set_ylim, states[:, j], [run.states[:, j] for run in simulated])
    if system is not None and dataset.dimension == 2:
        _draw_flow(axes, system)
    opacity = _opacity(dataset)
    for k, observed in enumerate(dataset.states):
        axes.plot(observed[:, i], observed[:, j], "o", color=colour(k, 0), markersize=2.8, alpha=opacity,
                  markeredgewidth=0)  # fmt: skip
    for k, run in enumerate(simulated):
        axes.plot(run.states[:, i], run.states[:, j], color=colour(k, 0), linewidth=1.5)
        axes.plot(run.states[0, i], run.states[0, j], "o", color="white", markeredgecolor=colour(k, 0),
                  markersize=5, zorder=4)  # fmt: skip
    axes.set_xlabel(_label(dataset.titles[i]))
    axes.set_ylabel(_label(dataset.titles[j]))
    axes.set_title("phase portrait (ring: start)", loc="left", fontsize=8, color=GREY, pad=4)


def _draw_flow(axes: Any, system: ODESystem) -> None:
    """Streamlines of a 2-D system, wherever its derivative is finite."""
    (left, right), (low, high) = limits = axes.get_xlim(), axes.get_ylim()
    x, y = np.linspace(left, right, 40), np.linspace(low, high, 40)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    with np.errstate(all="ignore"):
        flow = system.derivative(grid.reshape(-1, 2)).reshape(grid.shape)
        # Streamlines need the direction only; a common size keeps large values from overflowing.
        sides = np.array([np.ptp(x), np.ptp(y)])
        length = np.linalg.norm(flow / sides, axis=-1, keepdims=True)
        flow = flow / np.where(length > 0.0, length, 1.0)
    finite = np.isfinite(flow).all(axis=-1)
    if not finite.any() or not (length[finite] > 0.0).any():
        return
    u, v = (np.ma.masked_array(flow[..., k], ~finite) for k in (0, 1))
    axes.streamplot(x, y, u, v, color=FAINT, linewidth=0.7, density=0.9, arrowsize=0.7, zorder=0)
    axes.set(xlim=limits[0], ylim=limits[1])


def _draw_phase_line(axes: Any, dataset: Dataset, system: ODESystem | None) -> None:
    """x' over x: where it is above zero x grows, where it crosses it x can rest."""
    values = np.concatenate(dataset.states)[:, 0]
    set_limits(axes.set_xlim, values, [])
    axes.set(xlabel=_label(dataset.titles[0]))
    axes.plot(values, np.zeros_like(values), "|", color=COLOURS[0], markersize=6, alpha=0.4)
    axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
    if system is None:
        return
    left, right = axes.get_xlim()
    x = np.linspace(left, right, 400)
    with np.errstate(all="ignore"):
        slope = system.derivative(x[:, None])[:, 0]
    inside = slope[(x >= np.nanmin(values)) & (x <= np.nanmax(values))]
    set_limits(axes.set_ylim, np.append(inside[np.isfinite(inside)], 0.0), [])
    axes.plot(x, np.where(np.isfinite(slope), slope, np.nan), color=INK, linewidth=1.6)
    with np.errstate(invalid="ignore"):
        for k in np.flatnonzero(slope[1:] * slope[:-1] < 0.0):
            stable = slope[k] > 0.0
            axes.plot(x[k], 0.0, "o", color=INK if stable else "white", markeredgecolor=INK, markersize=6)
    axes.set_ylabel(f"{dataset.variables[0]}'")
    axes.set_title("rate of change (dot: rest, stable if full)", loc="left", fontsize=8, color=GREY, pad=4)


def _draw_front(axes: Any, front: Front) -> None:
    """All candidates as dots, the best of each complexity as steps, a ring around the chosen one."""
    complexity, error = np.asarray(front.complexity, np.float64), np.asarray(front.error, np.float64)
    if complexity.shape != error.shape or complexity.ndim != 1 or len(error) == 0:
        raise DataError("give one complexity and one error for every candidate")
    if not 0 <= front.chosen < len(error):
        raise DataError(f"there is no candidate number {front.chosen}; there are {len(error)}, from 0")
    usable = np.isfinite(error) & np.isfinite(complexity)
    floor = error[usable & (error > 0.0)].min(initial=1.0) / 10.0
    shown = np.where(error > 0.0, error, floor)  # an exact fit has a place on the logarithmic axis
    order = np.lexsort((shown, complexity))[: len(shown)]
    order = order[usable[order]]
    best = np.minimum.accumulate(shown[order]) if len(order) else shown[order]
    axes.step(complexity[order], best, where="post", color=COLOURS[0], linewidth=1.2, alpha=0.7)
    axes.plot(complexity[usable], shown[usable], "o", color=COLOURS[0], markersize=3.5, alpha=0.6,
              markeredgewidth=0)  # fmt: skip
    if usable[front.chosen]:
        place = complexity[front.chosen], shown[front.chosen]
        axes.plot(*place, "o", markersize=9, color="none", markeredgecolor=COLOURS[1], markeredgewidth=1.8)
        axes.annotate(
            "chosen", place, xytext=(7, 7), textcoords="offset points", fontsize=8, color=COLOURS[1]
        )
    axes.set_yscale("log")
    axes.set(xlabel="complexity", ylabel="error")
    axes.set_title("candidates", loc="left", fontsize=8, color=GREY, pad=4)
    axes.margins(x=0.08, y=0.15)
    axes.xaxis.get_major_locator().set_params(integer=True)


# ---------------------------------------------------------------------------------------- helpers


def _figure(height: float, system: ODESystem | None, width: float = WIDTH) -> tuple[Any, Any]:
    """A figure that is bound to no window, and its part below the equations."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    equations = None if system is None else equation_image(system, width)
    total = height + (0.0 if equations is None else equations.inches)
    figure = Figure(figsize=(width, total), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.06))
    if equations is None:
        return figure, figure
    parts: Any = figure.subfigures(2, 1, height_ratios=[equations.inches, height])
    head, body = parts
    equations.draw(head, INK)
    return figure, body


def _colours(dataset: Dataset, one_is_ink: bool = False) -> Callable[[int, int], Any]:
    """The colour of trajectory k and variable j: variables differ if there is one trajectory, else these."""
    from matplotlib import colormaps

    if len(dataset) == 1:
        return lambda k, j: INK if one_is_ink else COLOURS[j % len(COLOURS)]
    if len(dataset) <= len(COLOURS):
        return lambda k, j: COLOURS[k]
    shades = colormaps["viridis"](np.linspace(0.0, 0.9, len(dataset)))
    return lambda k, j: shades[k]


def _label(title: str) -> str:
    """A title for an axis: the unit of a long one on its own line, dollars as dollars."""
    name, unit = split_unit(title)
    shown = f"{name[:28]}\n({unit[:28]})" if unit and len(title) > 18 else title[:32]
    return shown.replace("$", r"\$")


def _pairs(dimension: int) -> list[tuple[int, int]]:
    return list(combinations(range(dimension), 2))[:MAX_PAIRS] or [(0, 0)]


def set_limits(setter: Callable[[float, float], Any], data: NDArray, drawn: Sequence[NDArray]) -> None:
    """Limits around the data, and around what was drawn as far as it stays near them."""
    low, high = float(np.nanmin(data)), float(np.nanmax(data))
    size = high - low or abs(high) or 1.0
    for values in drawn:
        low = min(low, max(float(values.min()), low - 0.5 * size))
        high = max(high, min(float(values.max()), high + 0.5 * size))
    margin = 0.08 * (high - low or size)
    setter(low - margin, high + margin)


def _simulate(dataset: Dataset, system: ODESystem | None, starts: ArrayLike | None) -> list[_Simulated]:
    """The system's trajectory beside each observed one, as far as it goes."""
    if system is None:
        return []
    if system.dimension != dataset.dimension:
        raise DataError(
            f"the system has {system.dimension} variables and the data have {dataset.dimension}; give the "
            "system that was fitted to these data"
        )
    first = dataset.first_values() if starts is None else np.atleast_2d(np.asarray(starts, np.float64))
    if first.shape != (len(dataset), dataset.dimension):
        raise DataError(
            f"starts has shape {first.shape}; give ({len(dataset)}, {dataset.dimension}): a row a trajectory"
        )
    runs = []
    for start, times in zip(first, dataset.times, strict=True):
        fine = np.union1d(np.linspace(times[0], times[-1], FINE_POINTS), times)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # the figure says it
            warnings.simplefilter("ignore", StiffnessWarning)
            states = system.simulate(start, fine)
        reached = max(1, int(np.isfinite(states).all(axis=1).sum()))
        observed = states[np.searchsorted(fine, times)]
        runs.append(_Simulated(fine[:reached], states[:reached], reached < len(fine), observed))
    return runs


def _agreement(dataset: Dataset, simulated: Sequence[_Simulated], j: int) -> str:
    """R² of one variable over all trajectories."""
    observed = np.concatenate(dataset.states)[:, j]
    fitted = np.concatenate([run.observed for run in simulated])[:, j]
    if np.nanmax(observed) == np.nanmin(observed):
        return ""
    share = variance_weighted_r2(observed[:, None], fitted[:, None])
    if share == -np.inf:
        return ""
    if share < 0.0:
        return "R² < 0"
    return "R² > 0.9999" if share > 0.9999 else f"R² = {share:.4f}" if share > 0.99 else f"R² = {share:.2f}"
