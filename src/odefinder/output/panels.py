"""The parts of figures: panels over time, phase portraits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.roles import Role
from odefinder.errors import DataError, SimulationWarning, StiffnessWarning
from odefinder.inference.bands import Bands
from odefinder.numerics.knots import values_at
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.output.axis import LINE, LONG_LINE, PORTRAIT_LINE, set_label
from odefinder.output.colours import colours_of, condition_entries
from odefinder.output.style import COLOURS, FAINT, GREY, INK, set_limits
from odefinder.simulation.trajectory import rows_reached
from odefinder.system import ODESystem

FINE_POINTS = 600  # of a drawn trajectory
MAX_PANELS, MAX_PAIRS = 8, 3
BAND_OPACITY = 0.22
LEGEND, SYMBOL = 64, 5  # letters beside R² that a legend has room for, and those in the place of a symbol


class Simulated(NamedTuple):
    """A system's trajectory for comparison with one observed trajectory."""

    times: Floats  # (n,), fine
    states: Floats  # (n, D), only as far as the solution was found
    stopped: bool
    observed: Floats  # (points, D): at the observed times, NaN where it was not found


def simulate(
    dataset: Dataset, system: ODESystem | None, starts: ArrayLike | None, horizon: float = 0.0
) -> list[Simulated]:
    """The system's trajectory for each observed one, as far as it goes, and `horizon` beyond the data."""
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
            f"starts has shape {first.shape}; give ({len(dataset)}, {dataset.dimension}): "
            "one row per trajectory"
        )
    runs = []
    for k, (start, times) in enumerate(zip(first, dataset.times, strict=True)):
        fine = np.union1d(np.linspace(times[0], times[-1] + horizon, FINE_POINTS), times)
        signals = dataset.driving(k, (fine[0], fine[-1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # the figure shows it
            warnings.simplefilter("ignore", StiffnessWarning)
            states = system.simulate(start, fine, signals)
        reached = max(1, rows_reached(states))
        observed = states[np.searchsorted(fine, times)]
        runs.append(Simulated(fine[:reached], states[:reached], reached < len(fine), observed))
    return runs


def draw_panels(
    figure: Any, dataset: Dataset, simulated: Sequence[Simulated], bands: Sequence[Bands] = ()
) -> None:
    """One panel per variable over a common time axis; bands: one for each of the first trajectories."""
    shown = min(dataset.dimension, MAX_PANELS)
    inputs = min(len(dataset.inputs), MAX_PANELS)
    panels = np.atleast_1d(figure.subplots(shown + inputs, 1, sharex=True))
    draw_inputs(list(panels[shown:]), dataset)
    colour, opacity = colours_of(dataset), _opacity(dataset)
    for j, axes in enumerate(panels[:shown]):
        line = "-" if dataset.roles[j] == Role.OBSERVED else "--"  # what nobody measured
        for k, band in enumerate(bands):
            axes.fill_between(
                band.times, *_ends(band, j), color=colour(k, j), alpha=BAND_OPACITY, linewidth=0
            )
        for k, (times, states) in enumerate(dataset.trajectories()):
            size = 3.6 if len(times) < 150 else 2.4
            axes.plot(times, states[:, j], "o", color=colour(k, j), markersize=size, alpha=opacity,
                      markeredgewidth=0)  # fmt: skip
        for k, run in enumerate(simulated):
            axes.plot(run.times, run.states[:, j], line, color=colour(k, j), linewidth=1.5)
        drawn = [run.states[:, j] for run in simulated] + [np.concatenate(_ends(band, j)) for band in bands]
        set_limits(axes.set_ylim, np.concatenate(dataset.states)[:, j], drawn)
        _mark_stops(axes, simulated, j, colour, say=j == 0)
        set_label(axes.yaxis, dataset.titles[j])
        if simulated:
            axes.set_title(_agreement(dataset, simulated, j), loc="right", fontsize=8, color=GREY, pad=3)
    set_label(panels[-1].xaxis, dataset.clock.label, LONG_LINE)
    if all((times == np.round(times)).all() for times in dataset.times):
        panels[-1].xaxis.get_major_locator().set_params(integer=True)  # years have no halves
    if shown < dataset.dimension:
        panels[0].set_title(f"the first {shown} of {dataset.dimension} variables", loc="left", fontsize=8)
    elif simulated:
        _legend(panels[0], dataset, bands[0].level if bands else None)
    figure.align_ylabels(panels)


def draw_inputs(panels: Sequence[Any], dataset: Dataset) -> None:
    """The known signals of every trajectory, one panel each, in the colours of the trajectories."""
    colour = colours_of(dataset) if len(dataset) > 1 else lambda k, j: GREY
    for j, axes in enumerate(panels):
        for k, (times, signals) in enumerate(zip(dataset.times, dataset.signals, strict=True)):
            inside = signals.knots[(signals.knots >= times[0]) & (signals.knots <= times[-1])]
            fine = np.union1d(np.linspace(times[0], times[-1], FINE_POINTS), inside)
            axes.plot(fine, values_at(signals, fine)[:, j], color=colour(k, j), linewidth=1.2)
        set_label(axes.yaxis, dataset.inputs[j])
        axes.set_title("input", loc="right", fontsize=8, color=GREY, pad=3)


def _opacity(dataset: Dataset) -> float:
    """How opaque observed points are: a great many of them must not hide the line."""
    return float(np.clip(200.0 / sum(map(len, dataset.times)), 0.05, 0.5))


def _ends(band: Bands, variable: int) -> tuple[Floats, Floats]:
    """Both ends of a band; without an end, it reaches far beyond the trajectory."""
    seen = band.states[np.isfinite(band.states[:, variable]), variable]
    far = 10.0 * (float(np.ptp(seen)) or float(np.abs(seen).max(initial=0.0)) or 1.0)
    middle = float(seen.mean())
    return (
        np.maximum(band.lower[:, variable], middle - far),
        np.minimum(band.upper[:, variable], middle + far),
    )


def _legend(axes: Any, dataset: Dataset, level: float | None = None) -> None:
    """Dots and line are grey where colours stand for trajectories; level: of bands, if there are any."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    dots = Line2D([], [], marker="o", linestyle="", color=GREY, markersize=3.6, alpha=0.6, markeredgewidth=0)
    several = f" ({len(dataset)} trajectories)" if len(dataset) > 1 else ""
    band = [] if level is None else [Patch(color=GREY, alpha=BAND_OPACITY, linewidth=0)]
    words = [f"observed{several}", "fitted system", *(f"{100 * level:g} % band" for _ in band if level)]
    conditions = condition_entries(dataset)
    lines = [Line2D([], [], color=colour, linewidth=1.6) for _, colour in conditions]
    words += [text for text, _ in conditions]
    axes.legend([dots, Line2D([], [], color=GREY, linewidth=1.6), *band, *lines], words,
                loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncols=_columns(words), fontsize=8,
                labelcolor=GREY, borderaxespad=0.0, handletextpad=0.5, columnspacing=1.2)  # fmt: skip


def _columns(words: Sequence[str]) -> int:
    """Columns of a legend that leave room for R² beside them; a wider legend would squeeze the panel."""
    for columns in range(min(4, len(words)), 1, -1):
        rows = -(-len(words) // columns)
        widths = [max(map(len, words[k : k + rows])) for k in range(0, len(words), rows)]
        if sum(widths) + SYMBOL * len(widths) <= LEGEND:
            return columns
    return 1


def _mark_stops(
    axes: Any, simulated: Sequence[Simulated], j: int, colour: Callable[[int, int], Any], say: bool
) -> None:
    """A cross where a simulation ends before the data do, explained on the first panel."""
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


def _agreement(dataset: Dataset, simulated: Sequence[Simulated], j: int) -> str:
    """R² of one variable over all trajectories."""
    observed = np.concatenate(dataset.states)[:, j]
    fitted = np.concatenate([run.observed for run in simulated])[:, j]
    if not np.isfinite(observed).any():
        return "not measured"
    if np.nanmax(observed) == np.nanmin(observed):
        return ""
    share = variance_weighted_r2(observed[:, None], fitted[:, None])
    if share == -np.inf:
        return ""
    if share < 0.0:
        return "R² < 0"
    return "R² > 0.9999" if share > 0.9999 else f"R² = {share:.4f}" if share > 0.99 else f"R² = {share:.2f}"


def draw_portrait(
    axes: Any,
    dataset: Dataset,
    system: ODESystem | None,
    simulated: Sequence[Simulated],
    pair: tuple[int, int],
) -> None:
    """The plane of two variables, or the derivative of a single one."""
    if dataset.dimension == 1:
        _draw_phase_line(axes, dataset, system, simulated)
        return
    i, j = pair
    colour, states = colours_of(dataset, one_is_ink=True), np.concatenate(dataset.states)
    set_limits(axes.set_xlim, states[:, i], [run.states[:, i] for run in simulated])
    set_limits(axes.set_ylim, states[:, j], [run.states[:, j] for run in simulated])
    if system is not None and dataset.dimension == 2 and not system.inputs:
        _draw_flow(axes, system)
    opacity = _opacity(dataset)
    for k, observed in enumerate(dataset.states):
        axes.plot(observed[:, i], observed[:, j], "o", color=colour(k, 0), markersize=2.8, alpha=opacity,
                  markeredgewidth=0)  # fmt: skip
    for k, run in enumerate(simulated):
        axes.plot(run.states[:, i], run.states[:, j], color=colour(k, 0), linewidth=1.5)
        axes.plot(run.states[0, i], run.states[0, j], "o", color="white", markeredgecolor=colour(k, 0),
                  markersize=5, zorder=4)  # fmt: skip
    set_label(axes.xaxis, dataset.titles[i], PORTRAIT_LINE)
    set_label(axes.yaxis, dataset.titles[j])
    axes.set_title("phase portrait (ring: start)", loc="left", fontsize=8, color=GREY, pad=4)


def pairs_of_variables(dimension: int) -> list[tuple[int, int]]:
    return list(combinations(range(dimension), 2))[:MAX_PAIRS] or [(0, 0)]


def _draw_flow(axes: Any, system: ODESystem) -> None:
    """Streamlines of a 2-D system, wherever its derivative is finite."""
    (left, right), (low, high) = limits = axes.get_xlim(), axes.get_ylim()
    x, y = np.linspace(left, right, 40), np.linspace(low, high, 40)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    with np.errstate(all="ignore"):
        flow = system.derivative(grid.reshape(-1, 2)).reshape(grid.shape)
        # Streamlines need only the direction; a common size keeps large values from overflowing.
        sides = np.array([np.ptp(x), np.ptp(y)])
        length = np.linalg.norm(flow / sides, axis=-1, keepdims=True)
        flow = flow / np.where(length > 0.0, length, 1.0)
    finite = np.isfinite(flow).all(axis=-1)
    if not finite.any() or not (length[finite] > 0.0).any():
        return
    u, v = (np.ma.masked_array(flow[..., k], ~finite) for k in (0, 1))
    axes.streamplot(x, y, u, v, color=FAINT, linewidth=0.7, density=0.9, arrowsize=0.7, zorder=0)
    axes.set(xlim=limits[0], ylim=limits[1])


def _draw_phase_line(
    axes: Any, dataset: Dataset, system: ODESystem | None, simulated: Sequence[Simulated]
) -> None:
    """x' over x: x grows where the curve is above zero, and can rest where it crosses zero."""
    values = np.concatenate(dataset.states)[:, 0]
    set_limits(axes.set_xlim, values, [])
    set_label(axes.xaxis, dataset.titles[0], PORTRAIT_LINE)
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.plot(values, np.zeros_like(values), "|", color=COLOURS[0], markersize=6, alpha=0.4)
    axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
    name = dataset.variables[0]
    rate = f"{name}'" if len(name) <= LINE // 2 else "rate of change"
    if system is None:
        return
    if system.inputs:  # the rate depends on more than x
        _draw_rates(axes, dataset, system, simulated)
        set_label(axes.yaxis, rate)
        axes.set_title("rate of change along trajectories", loc="left", fontsize=8, color=GREY, pad=4)
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
    set_label(axes.yaxis, rate)
    axes.set_title("rate of change (dot: rest, stable if full)", loc="left", fontsize=8, color=GREY, pad=4)


def _draw_rates(axes: Any, dataset: Dataset, system: ODESystem, simulated: Sequence[Simulated]) -> None:
    """x' over x as the inputs make it."""
    colour = colours_of(dataset, one_is_ink=True)
    for k, run in enumerate(simulated):
        known = values_at(dataset.driving(k, (run.times[0], run.times[-1])), run.times)
        if known.shape[1] == len(system.inputs):
            slope = system.derivative(run.states, known)[:, 0]
            axes.plot(run.states[:, 0], slope, color=colour(k, 0), linewidth=1.2)
