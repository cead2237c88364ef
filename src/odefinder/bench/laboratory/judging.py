"""How a model is judged: on the part of the records that it has not seen, and on another experiment.

Both are scored against the clean truth, by R2 over all observed variables, each in units of its own spread.
The forecast is a simulation of the whole record from the model's own start, of which only the unseen part
counts.  In the other experiment, the true start of observed states is given.  States that nobody sees have
none: theirs are fitted, the same way for all methods, by least squares on the first tenth of the record, with
the constants kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from odefinder.bench.laboratory.entries import LabSystem, Split
from odefinder.bench.laboratory.records import Record
from odefinder.bench.laboratory.tasks import LabTask, seen_points
from odefinder.errors import OdefinderError
from odefinder.system import ODESystem

Floats = NDArray[np.float64]

FIRST = 0.1  # share of another record on which unseen starts are fitted
FEWEST = 5  # points for that
GOOD = 0.9  # the R2 above which a score counts
FAR = 1e6  # residual of a simulation that does not exist
EVALUATIONS = 200  # of the simulation, for each first guess of unseen starts


@dataclass(frozen=True, eq=False)
class Model:
    """What a method returns: a system, and its start (trajectories, D) in each record that was fitted.

    The system's variables are the observed ones by their names and, in any order, those that nobody sees; its
    inputs are inputs, conditions and t by their names.
    """

    system: ODESystem
    starts: Floats


class NotSupported(OdefinderError):
    """A method cannot do a task of this kind."""


Fit = Callable[[LabTask], Model]


@dataclass(frozen=True)
class Scores:
    """R2 on what a model has not seen; None where the simulation fails."""

    forecast: float | None
    other: float | None


def judge(model: Model, lab: LabSystem, split: Split) -> Scores:
    """Both scores of a model."""
    first = seen_points(lab)
    pairs = [(lab.truth(record)[:, : len(lab.observed)], record) for record in split.seen]
    forecasts = [
        (truth, observed_columns(model, record.simulate(model.system, start, lab.t), lab.observed), first)
        for (truth, record), start in zip(pairs, model.starts, strict=True)
    ]
    truth = lab.truth(split.other)[:, : len(lab.observed)]
    count = max(round(FIRST * len(lab.t)), FEWEST)
    start = start_of(model, split.other, lab.t[:count], truth[:count], lab.observed)
    other = observed_columns(model, split.other.simulate(model.system, start, lab.t), lab.observed)
    return Scores(r2(forecasts), r2([(truth, other, 0)]))


def r2(pairs: Sequence[tuple[Floats, Floats, int]]) -> float | None:
    """R2 of predictions (N, D) of truths (N, D), counted from a row; None where one is not finite.

    Variables are scaled by their spread over the whole of all records; the mean of each record is its own.
    """
    scale = np.concatenate([truth - truth.mean(axis=0) for truth, _, _ in pairs]).std(axis=0)
    residual = spread = 0.0
    for truth, predicted, first in pairs:
        seen, model = truth[first:] / scale, predicted[first:] / scale
        with np.errstate(over="ignore"):
            residual += float(((model - seen) ** 2).sum())
        spread += float(((seen - seen.mean(axis=0)) ** 2).sum())
    return 1.0 - residual / spread if np.isfinite(residual) else None


def start_of(model: Model, record: Record, t: Floats, truth: Floats, observed: Sequence[str]) -> Floats:
    """The start in a new record: the true one of observed states, a fitted one of all others.

    t (n,), truth (n, D): the first part of the record, on which it is fitted.
    """
    names = model.system.variables
    unseen = [number for number, name in enumerate(names) if name not in observed]
    start = np.zeros(len(names))
    for column, name in enumerate(observed):
        start[names.index(name)] = truth[0, column]
    if not unseen:
        return start
    scale = truth.std(axis=0)
    scale[scale == 0.0] = 1.0

    def misfit(values: Floats) -> Floats:
        trial = start.copy()
        trial[unseen] = values
        found = observed_columns(model, record.simulate(model.system, trial, t), observed)
        return np.nan_to_num((found - truth) / scale, nan=FAR, posinf=FAR, neginf=-FAR).ravel()

    slopes = np.polyfit(t - t[0], truth, min(2, len(t) - 1))[-2]
    fits = [
        least_squares(misfit, guess, x_scale=np.maximum(np.abs(guess), 1e-3), max_nfev=EVALUATIONS)
        for guess in _guesses(model, dict(zip(observed, slopes, strict=True)), unseen)
    ]
    start[unseen] = min(fits, key=lambda fit: float(fit.cost)).x
    return start


def _guesses(model: Model, slopes: Mapping[str, float], unseen: Sequence[int]) -> Iterator[Floats]:
    """First guesses of unseen starts: slopes for velocities, multiples of the fitted starts for others."""
    names = model.system.variables
    velocities = {
        names.index(f"{name}_dot"): slope for name, slope in slopes.items() if f"{name}_dot" in names
    }
    means = model.starts.mean(axis=0)
    for factor in (1.0, 0.2, 3.0) if set(unseen) - set(velocities) else (1.0,):
        guess = np.where(means == 0.0, 1.0, means) * factor
        for number, slope in velocities.items():
            guess[number] = slope
        yield guess[list(unseen)]


def observed_columns(model: Model, states: Floats, observed: Sequence[str]) -> Floats:
    """The columns of the observed variables."""
    return states[:, [model.system.variables.index(name) for name in observed]]
