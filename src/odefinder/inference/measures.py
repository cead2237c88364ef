"""Scores for motion that no one can follow for long; see docs/chaos.md.

`r2`, over whole trajectories, is the usual one.  The others ask no more of a model of chaotic motion than
can be known: how long it predicts, how well over one window, and whether it has the right attractor.
"""

from __future__ import annotations

from typing import Literal, cast, get_args

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.edge.parameters import kept
from odefinder.edge.rules import Choice
from odefinder.errors import DataError, SettingsError
from odefinder.inference.fit.states import estimate_states
from odefinder.numerics.chaos.attractors import attractor_distance
from odefinder.numerics.chaos.lyapunov import lyapunov_spectrum
from odefinder.numerics.chaos.prediction import valid_time, window_r2
from odefinder.numerics.chaos.records import even_grid, mean_period
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

Measure = Literal["r2", "valid_time", "window_r2", "attractor_distance", "lyapunov_exponent", "dimension"]
MEASURES: tuple[str, ...] = get_args(Measure)

SECONDS = 5.0  # for the Lyapunov exponents of a model
MOST_STEPS = 1_000_000


def checked_measure(measure: object) -> Measure:
    """The name of a measure, or an error that names them all."""
    return cast(Measure, kept("measure", measure, Choice(MEASURES)))


def chaos_measure(system: ODESystem, dataset: Dataset, starts: Floats, measure: str) -> float:
    """One of the measures other than r2.

    valid_time: mean time until the prediction is off by 0.4 standard deviations, in Lyapunov times of the
    system (in periods of the data where it is not chaotic); window_r2: the smallest R2 over the trajectories,
    with a new start each Lyapunov time; attractor_distance: from 0, the same, to 1, nothing in common;
    lyapunov_exponent: the largest one, per unit of time; dimension: that of Kaplan and Yorke.
    """
    if system.inputs or len(dataset.observed) < system.dimension:
        raise SettingsError(
            f"{measure} is for systems without inputs of which all variables were measured; use measure='r2'"
        )
    longest = int(np.argmax([np.ptp(times) for times in dataset.times]))
    period = mean_period(dataset.times[longest], dataset.states[longest])
    if measure == "attractor_distance":
        return _distance(system, dataset, starts, longest, period)
    spectrum = lyapunov_spectrum(system.program, starts[longest], period, seconds=SECONDS)
    if measure == "lyapunov_exponent":
        return spectrum.largest
    if measure == "dimension":
        return spectrum.dimension
    window = spectrum.time if spectrum.chaotic else period
    if measure == "valid_time":
        return _valid_time(system, dataset, starts, window)
    return _window_r2(system, dataset, window)


def _valid_time(system: ODESystem, dataset: Dataset, starts: Floats, window: float) -> float:
    reached = []
    for start, times, states in zip(starts, dataset.times, dataset.states, strict=True):
        reached.append(valid_time(times, states, _path(system, start, times)) / window)
    return float(np.mean(reached))


def _window_r2(system: ODESystem, dataset: Dataset, window: float) -> float:
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    smooth = scaling.original_states(estimate_states(data).states)
    values = []
    for k, (times, states) in enumerate(zip(dataset.times, dataset.states, strict=True)):
        begin = smooth[data.bounds[k] : data.bounds[k + 1]]
        values.append(window_r2(system.program, times, states, window, starts=begin))
    return min(values)


def _distance(system: ODESystem, dataset: Dataset, starts: Floats, longest: int, period: float) -> float:
    """Of the longest record from the model's own, after as long a time as it lasts."""
    step, record = even_grid(dataset.times[longest], dataset.states[longest])
    lag = max(1, round(0.25 * period / step))
    if len(record) < 3 * lag + 10:
        raise DataError("the records are too short for a distance between attractors; use measure='r2'")
    times = step * np.arange(2 * len(record), dtype=np.float64)
    model = _path(system, starts[longest], times)[len(record) :]
    return attractor_distance(record, model, lag).distance


def _path(system: ODESystem, start: Floats, times: Floats) -> Floats:
    """The trajectory; NaN from where it blows up."""
    scale = float(np.abs(start).max()) + 1e-12
    states, _ = integrate(
        system.program, start, times, atol=1e-10 * scale, max_steps=MOST_STEPS, bound=1e9 * scale
    )
    return states
