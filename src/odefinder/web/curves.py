"""Trajectories of a system for the page: over the data, beyond them, and with other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.signals import Signals
from odefinder.output.higher_order import equations_latex
from odefinder.simulation.trajectory import Task, trajectory
from odefinder.system import ODESystem
from odefinder.web.plain import drawn, numbers
from odefinder.web.tables import data_of

CURVE_POINTS = 800
RTOL = 1e-6
SKETCHED, SKETCH_POINTS, SKETCH_STEPS = 6, 200, 2_000  # trajectories, and of each
MAX_STEPS = 20_000  # of the integrator: a slider must not make the page wait


def curves(
    system: ODESystem,
    starts: Floats,
    dataset: Dataset,
    until: float = 1.0,
    factors: Sequence[float] | None = None,
    signals: Sequence[Signals] | None = None,
) -> list[dict[str, Any]]:
    """The trajectories of a system on a fine grid, for `until` durations of the data.

    signals: what drives them, where it is not what drives the data.
    """
    found = []
    count = int(CURVE_POINTS * max(1.0, until) ** 0.5)
    driven = driving(dataset, until, factors, signals)
    for start, times, one in zip(starts, dataset.times, driven, strict=True):
        grid = np.linspace(times[0], times[0] + until * (times[-1] - times[0]), count)
        states, remark = simulated(system, start, grid, one)
        found.append({"times": numbers(grid), "states": [drawn(one) for one in states.T], "remark": remark})
    return found


def residuals(
    system: ODESystem,
    starts: Floats,
    dataset: Dataset,
    factors: Sequence[float] | None = None,
    signals: Sequence[Signals] | None = None,
) -> list[dict[str, Any]]:
    """Observed minus simulated, at the times of the data that `data_of` keeps."""
    shown = data_of(dataset)["trajectories"]
    found = []
    for start, one, driven in zip(starts, shown, driving(dataset, 1.0, factors, signals), strict=True):
        times, observed = np.array(one["times"]), np.array(one["states"], dtype=np.float64).T
        states, _ = simulated(system, start, times, driven)
        found.append({"times": one["times"], "states": [numbers(left) for left in (observed - states).T]})
    return found


def sketch(system: ODESystem, starts: Floats, dataset: Dataset) -> dict[str, Any]:
    """A system in the middle of a search: equations, and curves that are good enough to look at."""
    found = []
    tasks = list(zip(starts, dataset.times, dataset.all_signals(), strict=True))[:SKETCHED]
    for start, times, signals in tasks:
        grid = np.linspace(times[0], times[-1], SKETCH_POINTS)
        atol = 1e-6 * float(np.abs(start).max()) or 1e-6
        states, _ = integrate(
            system.program, start, grid, signals=signals, rtol=1e-4, atol=atol, max_steps=SKETCH_STEPS
        )
        found.append({"times": numbers(grid), "states": [drawn(one) for one in states.T]})
    latex = equations_latex(system, dataset, system.digits)
    return {"variables": list(system.variables), "latex": latex, "curves": found}


def driving(
    dataset: Dataset,
    until: float = 1.0,
    factors: Sequence[float] | None = None,
    signals: Sequence[Signals] | None = None,
) -> tuple[Signals, ...]:
    """What drives each trajectory; the time goes on beyond the data, everything else keeps its last value.

    factors: by which inputs, then conditions, then doses are multiplied.  Columns: inputs, conditions, the
    time, and constants that differ between trajectories.
    """
    columns = len(dataset.inputs) + len(dataset.conditions)
    scale = np.ones(columns + 1) if factors is None else np.asarray(factors, np.float64)
    found = []
    for one, times in zip(signals or dataset.all_signals(), dataset.times, strict=True):
        if dataset.explicit_time and until > 1.0:
            end = times[0] + until * (times[-1] - times[0])
            one = _longer(one, float(end), columns)
        wide = np.ones(one.before.shape[1])
        wide[:columns] = scale[:columns]
        found.append(
            one._replace(before=one.before * wide, after=one.after * wide, doses=one.doses * scale[columns])
        )
    return tuple(found)


def _longer(signals: Signals, end: float, time: int) -> Signals:
    """With a knot at the end; `time` is the column of the time."""
    knots = np.append(signals.knots, end)
    before, after = (np.vstack([rows, signals.after[-1:]]) for rows in (signals.before, signals.after))
    before[:, time] = after[:, time] = knots
    return Signals(knots, before, after, np.vstack([signals.doses, 0.0 * signals.doses[-1:]]))


def simulated(system: ODESystem, start: Floats, times: Floats, signals: Signals) -> tuple[Floats, str]:
    """The states, NaN where there is no solution, and what to say about that."""
    found = trajectory(Task(system.program, start, times, signals, RTOL, MAX_STEPS))
    return found.states, "" if found.status == Status.OK else found.status.message


def warm_up() -> None:
    """Make the compiled functions of a simulation ready, so that the first slider moves at once."""
    times = np.linspace(0.0, 1.0, 5)
    dataset = Dataset((times,), (np.exp(-times)[:, None],), ("x",))
    curves(ODESystem.from_text("x' = -x"), np.ones((1, 1)), dataset)
