"""Predictions: what one method found in one cell, over the points that it saw, one panel per trajectory."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from odefinder.bench.figures.contestants import Contestant
from odefinder.bench.metrics import GOOD, predicted
from odefinder.bench.protocol import Result, Status
from odefinder.bench.sets import TrueSystem
from odefinder.bench.tasks import Task, make_tasks
from odefinder.errors import SettingsError
from odefinder.output.style import COLOURS, GREY, set_limits, styled
from odefinder.simulation.trajectory import rows_reached
from odefinder.system import ODESystem

COLUMNS, PANELS = 7, 63  # per page: all of ODEBench from one initial value
GOOD_COLOUR, BAD_COLOUR = COLOURS[0], COLOURS[1]


def prediction_cell(
    results: Sequence[Result], ranked: Sequence[Contestant], method: str | None = None
) -> tuple[str, float, float]:
    """The method whose predictions are drawn, and its noisiest cell (sigma, rho)."""
    present = sorted({result.method for result in results})
    if method is None:
        method = next((one.name for one in ranked if one.ours), ranked[0].name)
    elif method not in present:
        raise SettingsError(f"there are no results of {method!r}; choose from {', '.join(present)}")
    sigma, rho = max((result.sigma, result.rho) for result in results if result.method == method)
    return method, sigma, rho


def prediction_pages(
    results: Sequence[Result], systems: Sequence[TrueSystem], run: dict[str, Any]
) -> Iterator[Any]:
    """Figures of the results of one method in one cell; the first initial value of all systems first."""
    found = {(result.system, result.initial): result for result in results}
    chosen = [system for system in systems if any(system.id == name for name, _ in found)]
    sigmas, rhos = (results[0].sigma,), (results[0].rho,)
    made = make_tasks(run["set"], chosen, sigmas=sigmas, rhos=rhos, seed=run["seed"], noise=run["noise"])
    tasks = sorted(made, key=lambda task: task.initial)
    pairs = [(task, found[key]) for task in tasks if (key := (task.system, task.initial)) in found]
    for first in range(0, len(pairs), PANELS):
        yield _page(pairs[first : first + PANELS])


@styled
def _page(pairs: Sequence[tuple[Task, Result]]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    columns = min(COLUMNS, max(4, len(pairs)))
    rows = -(-len(pairs) // columns)
    figure = Figure(figsize=(2.0 * columns, 1.75 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(pairs) :]:
        axes.set_axis_off()
    for axes, (task, result) in zip(grid.flat, pairs, strict=False):
        _panel(axes, task, result)
    handles = [
        Line2D([], [], marker="o", linestyle="", color=GREY, markersize=3.5, alpha=0.6, markeredgewidth=0),
        Line2D([], [], color=GREY, linewidth=4.0, alpha=0.35),
        Line2D([], [], color=GREY, linewidth=1.4),
    ]
    figure.legend(handles, ["observed", "true", "found"], loc="outside upper center", ncols=3, fontsize=11)
    return figure


def _panel(axes: Any, task: Task, result: Result) -> None:
    """The observed points, the true trajectory and that of the system found, from the clean initial value."""
    times, states = task.observed()
    drawn = _trajectory(task, result)
    for j in range(len(task.variables)):
        colour = COLOURS[j % len(COLOURS)]
        axes.plot(times, states[:, j], "o", color=colour, markersize=1.9, alpha=0.45, markeredgewidth=0)
        axes.plot(task.t, task.clean[:, j], color=colour, linewidth=3.0, alpha=0.3)
        axes.plot(task.t[: len(drawn)], drawn[:, j], color=colour, linewidth=1.2)
    set_limits(axes.set_ylim, np.concatenate([states, task.clean]), [drawn] if len(drawn) else [])
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * (high - low))  # room for the verdict
    several = f" ({task.initial})" if task.initial > 1 else ""
    name = textwrap.fill(f"{task.system}  {task.name}{several}", 27, break_on_hyphens=False)
    axes.set_title(name, fontsize=8.5, loc="left", pad=3, linespacing=1.1)
    good = (result.reconstruction or -np.inf) > GOOD
    axes.text(0.99, 0.99, _verdict(result), transform=axes.transAxes, ha="right", va="top", fontsize=7.5,
              color=GOOD_COLOUR if good else BAD_COLOUR, weight="bold",
              bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1.0})  # fmt: skip
    axes.set_xlim(task.t[0], task.t[-1])
    axes.locator_params(nbins=3)
    axes.tick_params(labelsize=7, length=2, pad=1.5)


def _trajectory(task: Task, result: Result) -> np.ndarray:
    """States as far as the system found can be integrated; no rows if there is no system."""
    if not result.equations:
        return np.empty((0, len(task.variables)))
    program = ODESystem.from_text(result.equations, task.variables).program
    states, _ = predicted(program, task.clean[0], task.t, task.clean)
    return states[: rows_reached(states)]


def _verdict(result: Result) -> str:
    if result.reconstruction is None:
        return str(result.status if result.status != Status.OK else Status.DIVERGED)
    if result.reconstruction < 0.0:
        return "R² < 0"
    return f"R² {np.floor(1000.0 * result.reconstruction) / 1000.0:.3f}"
