"""Figures of data and systems: trajectories over the data, phase portraits, attractors, candidates.

Every function returns a Matplotlib `Figure` that needs no display; `save` writes it to a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from odefinder.data.dataset import Dataset
from odefinder.inference.bands import Bands
from odefinder.output.attractors import draw_attractors
from odefinder.output.equation_image import equation_image
from odefinder.output.front import Front, draw_front
from odefinder.output.panels import (
    MAX_PANELS,
    draw_panels,
    draw_portrait,
    pairs_of_variables,
    simulate,
)
from odefinder.output.style import INK, WIDTH, check_path, save, styled
from odefinder.system import ODESystem

__all__ = [
    "Front",
    "check_path",
    "phase_portrait",
    "plot_attractors",
    "plot_candidates",
    "plot_fit",
    "save",
    "summary_figure",
]


@styled
def plot_fit(
    dataset: Dataset,
    system: ODESystem | None = None,
    starts: ArrayLike | None = None,
    bands: Sequence[Bands] = (),
    horizon: float = 0.0,
) -> Any:
    """The data over time, one panel per variable, with the trajectories of the system.

    `starts` are its initial values, (trajectories, D); by default the first known values.  bands: around the
    first trajectories; horizon: how long the trajectories go on after the data.
    """
    rows = min(dataset.dimension, MAX_PANELS)
    figure, body = _figure(0.6 + max(1.5 * rows, 2.4), system, dataset)
    draw_panels(body, dataset, simulate(dataset, system, starts, horizon), bands)
    return figure


@styled
def phase_portrait(dataset: Dataset, system: ODESystem | None = None, starts: ArrayLike | None = None) -> Any:
    """Variable against variable, in 2-D with the flow; in 1-D the derivative over the variable."""
    plane = dataset.dimension < 3
    figure, body = _figure(4.4 if plane else 3.2, system, dataset, width=5.6 if plane else WIDTH)
    pairs = pairs_of_variables(dataset.dimension)
    simulated = simulate(dataset, system, starts)
    for axes, pair in zip(np.atleast_1d(body.subplots(1, len(pairs))), pairs, strict=True):
        draw_portrait(axes, dataset, system, simulated, pair)
    return figure


@styled
def plot_attractors(dataset: Dataset, system: ODESystem, starts: ArrayLike | None = None) -> Any:
    """The data and the system's own motion side by side, with Lyapunov time, dimension and their distance.

    For chaotic data, where no system can follow a trajectory for long.
    """
    figure, body = _figure(3.7, system, dataset)
    first = dataset.first_values() if starts is None else np.atleast_2d(np.asarray(starts, np.float64))
    draw_attractors(body, dataset, system, first)
    return figure


@styled
def plot_candidates(front: Front) -> Any:
    """Error against complexity; the chosen candidate is marked."""
    figure, body = _figure(3.4, width=5.6)
    draw_front(body.subplots(), front)
    return figure


@styled
def summary_figure(
    dataset: Dataset,
    system: ODESystem,
    starts: ArrayLike | None = None,
    front: Front | None = None,
    bands: Sequence[Bands] = (),
    horizon: float = 0.0,
) -> Any:
    """The equations, the data with the fitted trajectories, the phase portrait and the candidates.

    bands: around the first trajectories; horizon: how long the trajectories go on after the data.
    """
    rows = min(dataset.dimension, MAX_PANELS)
    figure, body = _figure(0.4 + max(1.45 * rows, 3.4 if front is None else 4.6), system, dataset)
    left, right = body.subfigures(1, 2, width_ratios=[1.45, 1.0])
    simulated = simulate(dataset, system, starts, horizon)
    draw_panels(left, dataset, simulated, bands)
    below = right.subplots(1 if front is None else 2, 1, height_ratios=[1.0] if front is None else [1.5, 1.0])
    portrait, *rest = np.atleast_1d(below)
    draw_portrait(portrait, dataset, system, simulated, pairs_of_variables(dataset.dimension)[0])
    if front is not None:
        draw_front(rest[0], front)
    return figure


def _figure(
    height: float, system: ODESystem | None = None, dataset: Dataset | None = None, width: float = WIDTH
) -> tuple[Any, Any]:
    """A figure without a window, and its part below the equations."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    equations = None if system is None or dataset is None else equation_image(system, dataset, width)
    total = height + (0.0 if equations is None else equations.inches)
    figure = Figure(figsize=(width, total), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.06))
    if equations is None:
        return figure, figure
    parts: Any = figure.subfigures(2, 1, height_ratios=[equations.inches, height])
    head, body = parts
    equations.draw(head, INK)
    return figure, body
