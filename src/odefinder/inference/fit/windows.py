"""Windows of a long record: when a record is long, how it is cut, and how a system fits window by window.

Nobody can follow chaotic motion for long, but everybody can over a window of about a Lyapunov time.  Windows
are joined (`shooting.py`), so the whole record still says what the constants are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import DataError
from odefinder.expressions.program import Program
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.segments import Segments
from odefinder.inference.fit.shooting import cut, fit_shots
from odefinder.limits.deadline import Deadline
from odefinder.numerics.chaos.records import mean_period
from odefinder.numerics.integrate import Status, integrate

LONG = 3.0  # periods: records that last longer are long
FEWEST_POINTS, FEWEST_PER_PERIOD = 100, 10.0
WINDOW = 0.5  # periods, before a Lyapunov time is known; shorter than it in all systems looked at
SHORTEST = 4  # intervals of a window
LOOSE, JOINED, EXACT = (1.0,), (1.0, 30.0), (30.0, 1000.0)  # penalties of the jumps between windows


@dataclass(frozen=True)
class WindowFit:
    """A system fitted over windows."""

    fit: Fit  # its error counts the jumps, too
    nodes: Floats  # (windows, D): the states at their starts


def long_period(data: Observations) -> float | None:
    """The time scale of a record that is long, autonomous and fully observed; None for others."""
    if data.known is not None or data.signals or data.unseen.any() or data.count < FEWEST_POINTS:
        return None
    try:
        periods = [mean_period(t, x) for t, x in data.trajectories()]
    except DataError:  # too few points, or nothing moves
        return None
    period = float(np.median(periods))
    spans = np.array([t[-1] - t[0] for t, _ in data.trajectories()])
    lengths = np.diff(data.bounds)
    dense = lengths.sum() / spans.sum() * period >= FEWEST_PER_PERIOD
    return period if spans.max() >= LONG * period and dense and lengths.max() >= FEWEST_POINTS else None


def window_cuts(data: Observations, length: float) -> Segments:
    """Windows of about this length in time."""
    steps = np.diff(data.times)
    return cut(data, max(SHORTEST, round(length / float(np.median(steps[steps > 0.0])))))


def fit_windows(
    program: Program,
    data: Observations,
    states: Floats,
    windows: Segments,
    *,
    nodes: Floats | None = None,
    penalties: tuple[float, ...] = JOINED,
    iterations: int = 12,
    rtol: float = 1e-6,
    deadline: Deadline | None = None,
) -> WindowFit:
    """The system with its constants fitted over all windows; states (N, D), or nodes, say where to begin."""
    begin = states.copy()
    if nodes is not None:
        begin[windows.first] = nodes
    shots = fit_shots(
        program,
        data,
        begin,
        windows,
        penalties=penalties,
        iterations=iterations,
        rtol=rtol,
        deadline=deadline,
    )
    starts = shots.nodes[np.r_[True, ~windows.joins[:-1]]]
    return WindowFit(Fit(shots.program, starts, shots.cost / data.count), shots.nodes)


def window_path(program: Program, nodes: Floats, windows: Segments, data: Observations) -> Floats:
    """The states (N, D) that a system predicts within each window; NaN where it cannot be integrated."""
    path = np.full(data.states.shape, np.nan)
    for first, last, start in zip(windows.first, windows.last, nodes, strict=True):
        states, status = integrate(program, start, data.times[first : last + 1], rtol=1e-6, atol=1e-9)
        if status == Status.OK:
            path[first : last + 1] = states
    return path
