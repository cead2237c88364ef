"""The attractors of data and model side by side, for motion that no model can follow for long."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.errors import DataError, SimulationWarning, StiffnessWarning
from odefinder.numerics.chaos.attractors import attractor_distance
from odefinder.numerics.chaos.lyapunov import Spectrum, lyapunov_spectrum
from odefinder.numerics.chaos.records import even_grid, mean_period
from odefinder.numerics.integrate import Status
from odefinder.output.axis import label
from odefinder.output.style import COLOURS, FAINT, GREY, INK, set_limits
from odefinder.simulation.trajectory import rows_reached
from odefinder.system import ODESystem

FINE_POINTS = 6000  # of the drawn trajectory of the model
QUIET_POINTS = 400  # of the data, up to which they are drawn as dots
BUDGET = 2.0  # seconds for the Lyapunov exponents


def draw_attractors(figure: Any, dataset: Dataset, system: ODESystem, starts: Floats) -> None:
    """Data on the left and, over as long a time, the model on the right; in three dimensions if there are.

    The model runs from the start of the longest trajectory; its first part, as long as the data, is left out.
    """
    import matplotlib as mpl

    if system.dimension != dataset.dimension:
        raise DataError(
            f"the system has {system.dimension} variables and the data have {dataset.dimension}; give the "
            "system that was fitted to these data"
        )
    longest = int(np.argmax([np.ptp(times) for times in dataset.times]))
    period = mean_period(dataset.times[longest], dataset.states[longest])
    step, record = even_grid(dataset.times[longest], dataset.states[longest])
    start = np.asarray(starts, np.float64)[longest]
    duration = float(np.ptp(dataset.times[longest]))
    fine, path = _continued(system, start, duration)
    lag = max(1, round(0.25 * period / step))
    shown = min(dataset.dimension, 3)
    spatial = {"projection": "3d"} if shown == 3 else {}
    with mpl.rc_context({"grid.color": FAINT, "grid.linewidth": 0.5}):
        panels = figure.subplots(1, 2, subplot_kw=spatial)
    points = [_coordinates(states, lag) for states in dataset.states]
    fine_lag = max(1, round(0.25 * period / float(fine[1] - fine[0]))) if len(fine) > 1 else 1
    curve = _coordinates(path, fine_lag)
    for axes, title in zip(panels, ("data", "model"), strict=True):
        _axes(axes, dataset, np.concatenate(points), [curve])
        axes.set_title(title, loc="left", fontsize=9, color=INK)
    for k, cloud in enumerate(points):
        few = len(cloud) <= QUIET_POINTS
        style = {"marker": "o", "markersize": 2.5, "linestyle": ""} if few else {"linewidth": 0.6}
        panels[0].plot(*cloud.T, color=COLOURS[k % len(COLOURS)], alpha=0.85, markeredgewidth=0, **style)
    panels[1].plot(*curve.T, color=INK, linewidth=0.6)
    panels[1].plot(*curve[-1:].T, "o", color=INK, markersize=2.5)  # all that is seen of a state of rest
    spectrum = lyapunov_spectrum(system.program, start, period, seconds=BUDGET)
    panels[1].set_title(_exponents(spectrum), loc="right", fontsize=8, color=GREY)
    if duration > 5.0 * period:
        grid = np.stack([np.interp(step * np.arange(len(record)), fine, column) for column in path.T], axis=1)
        whole = len(path) == FINE_POINTS
        distance = attractor_distance(record, grid if whole else np.full_like(grid, np.nan), lag)
        panels[0].set_title(
            f"distance to the model {distance.distance:.2f}, by chance {distance.reference:.2f}",
            loc="right", fontsize=8, color=GREY,
        )  # fmt: skip


def _continued(system: ODESystem, start: Floats, duration: float) -> tuple[Floats, Floats]:
    """The model's trajectory in its second `duration`, as far as it goes: times from 0 and states."""
    times = np.linspace(0.0, 2.0 * duration, 2 * FINE_POINTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the figure shows it
        warnings.simplefilter("ignore", StiffnessWarning)
        states = system.simulate(start, times)
    reached = rows_reached(states)
    if reached < len(times):  # then what there is
        return times[:reached], states[:reached]
    return times[:FINE_POINTS], states[FINE_POINTS:]


def _coordinates(states: Floats, lag: int) -> Floats:
    """What is drawn: the first three variables, or a single one against itself a little later."""
    if states.shape[1] == 1:
        return np.column_stack([states[:-lag, 0], states[lag:, 0]])
    return states[:, :3]


def _axes(axes: Any, dataset: Dataset, data: Floats, drawn: list[Floats]) -> None:
    """The same limits and labels for both."""
    names = [label(title) for title in dataset.titles[:3]]
    if dataset.dimension == 1:
        names = [names[0], f"{names[0]}, a quarter of a period later"]
    for j, (letter, name) in enumerate(zip("xyz", names, strict=False)):
        set_limits(getattr(axes, f"set_{letter}lim"), data[:, j], [one[:, j] for one in drawn])
        getattr(axes, f"set_{letter}label")(name)
    if len(names) == 3:
        axes.tick_params(labelsize=7)
        axes.locator_params(nbins=5)
        axes.view_init(elev=22.0, azim=-55.0)
        axes.set_box_aspect(None, zoom=0.88)  # or the label on the right is cut off
        for pane in (axes.xaxis, axes.yaxis, axes.zaxis):
            pane.set_pane_color((1.0, 1.0, 1.0, 0.0))


def _exponents(spectrum: Spectrum) -> str:
    if spectrum.status != Status.OK or not np.isfinite(spectrum.largest):
        return "its solution ends"
    if not spectrum.chaotic:
        return f"not chaotic (exponent {spectrum.largest:.2g})"
    return f"Lyapunov time {spectrum.time:.2g}, dimension {spectrum.dimension:.3g}"
