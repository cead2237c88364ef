"""The baseline: SINDy with control inputs, of which the model is chosen by simulation.

As `methods/sindy_simulation.py`, and for laboratories: inputs and conditions are variables of the library
without equations; velocities of order 2 are derivatives of splines, x' = v is fixed; with explicit time the
library has t and sines and cosines of t, whose frequencies are peaks of the spectrum.  Records are cut where
an input jumps or a dose is given, because splines cannot follow.  Hidden states are beyond it.  The sparse
regression, thresholded least squares with columns of unit length, is written again: pysindy is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.laboratory.judging import Model, NotSupported, r2
from odefinder.bench.laboratory.tasks import LabTask
from odefinder.bench.methods.derivatives import finite_differences
from odefinder.bench.methods.library import TermLibrary
from odefinder.bench.methods.quiet import quiet
from odefinder.bench.methods.sindy_simulation import ALPHA, FLOOR, LIBRARIES, THRESHOLDS
from odefinder.data.dataset import Dataset
from odefinder.data.observations import Observations
from odefinder.errors import NoSystemError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, Draft
from odefinder.expressions.program import VAR, Program, concatenate
from odefinder.inference.fit.states import estimate_states
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import Signals
from odefinder.system import ODESystem

Floats = NDArray[np.float64]

SHORTEST = 6  # points of a piece between two jumps that is used
WAVES = 2  # frequencies of explicit time
PADDING = 8  # of the spectrum
ITERATIONS = 20
MOST_STEPS = 20_000


@dataclass(frozen=True, eq=False)
class Regression:
    """What is regressed on what, at the rows that can be used."""

    features: Floats  # (rows, F): states, known variables, waves
    targets: Floats  # (rows, E): derivatives of the observed states, or accelerations
    starts: Floats  # (trajectories, D)
    frequencies: tuple[float, ...]


def fit(task: LabTask) -> Model:
    """The candidate with the smallest BIC of its simulation."""
    if task.hidden:
        raise NotSupported("SINDy has no hidden states")
    if task.known is not None:
        raise NotSupported("SINDy takes no known equations")
    data = task.with_roles()
    with quiet():
        regression = _regression(task, data)
        candidates = dict.fromkeys(_candidates(regression, data, task.order))
    if not candidates:
        raise NoSystemError("no sparse model could be fitted to these data")
    signals = data.all_signals()
    best = min(candidates, key=lambda program: _information(program, regression.starts, task, signals))
    return Model(ODESystem(best, data.variables, data.known), regression.starts)


# ---------------------------------------------------------------------------------------- derivatives


def _regression(task: LabTask, data: Dataset) -> Regression:
    observed = task.dataset.dimension
    times, states, pieces = [], [], []
    for number, signals in enumerate(data.all_signals()):
        t, x = data.times[number], data.states[number][:, :observed]
        for rows in _pieces(t, signals):
            times.append(t[rows])
            states.append(x[rows])
            pieces.append((number, rows))
    if not times:
        raise NoSystemError(f"no piece between two jumps has {SHORTEST} points")
    estimate = estimate_states(Observations.joined(times, states))
    place = zip(estimate.bounds[:-1], estimate.bounds[1:], strict=True)
    smooth = [(estimate.states[a:b], estimate.derivatives[a:b]) for a, b in place]
    frequencies = spectrum_peaks(data.times[0], smooth[0][1], WAVES) if task.explicit_time else ()
    starts = np.column_stack([data.first_values()[:, :observed], np.zeros((len(data), observed))])
    features, targets = list[Floats](), list[Floats]()
    for (number, rows), (x, slopes) in reversed(list(zip(pieces, smooth, strict=True))):
        t = data.times[number][rows]
        if rows[0] == 0:
            starts[number] = np.concatenate([x[0], slopes[0]])
        second = [slopes] if task.order == 2 else []
        known = values_at(data.all_signals()[number], t, before=True)
        waves = [wave(frequency * t)[:, None] for frequency in frequencies for wave in (np.sin, np.cos)]
        features.append(np.hstack([x, *second, known, *waves]))
        targets.append(finite_differences(t, slopes, 4) if task.order == 2 else slopes)
    return Regression(
        np.concatenate(features), np.concatenate(targets), starts[:, : len(data.variables)], frequencies
    )


def _pieces(t: Floats, signals: Signals) -> Iterator[NDArray[np.int64]]:
    """Rows between jumps.  A value that is seen at the time of a jump belongs to what was before."""
    jumps = (signals.before != signals.after).any(axis=1) | (signals.doses != 0.0).any(axis=1)
    cuts = np.searchsorted(t, signals.knots[jumps], side="right") if len(signals.knots) else []
    for rows in np.split(np.arange(len(t)), np.unique(np.asarray(cuts, np.int64))):
        if len(rows) >= SHORTEST:
            yield rows


def spectrum_peaks(t: Floats, x: Floats, count: int) -> tuple[float, ...]:
    """The angular frequencies of the highest peaks of the spectrum of signals (N, D) on a regular grid."""
    window = np.hanning(len(x))[:, None]
    spectrum = np.abs(np.fft.rfft((x - x.mean(axis=0)) / x.std(axis=0) * window, PADDING * len(x), axis=0))
    power = (spectrum**2).sum(axis=1)
    inner = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] >= power[2:])) + 1
    highest = inner[np.argsort(-power[inner])][:count]
    step = 2.0 * np.pi / (PADDING * len(x) * (t[1] - t[0]))
    return tuple(float(number * step) for number in highest)


# ---------------------------------------------------------------------------------------- candidates


def _candidates(regression: Regression, data: Dataset, order: int) -> Iterator[Program]:
    count, width = regression.features.shape
    observed = regression.targets.shape[1]
    fixed = [drafts.finished(drafts.variable(observed + d)) for d in range(observed)] if order == 2 else []
    for degree, functions in LIBRARIES:
        library = TermLibrary(width, degree, functions)
        if library.size > count and degree > 1:
            continue
        try:
            columns = library.columns(regression.features)
        except NoSystemError:
            continue
        for threshold in THRESHOLDS:
            found = [sparse_coefficients(columns, target, threshold) for target in regression.targets.T]
            system = concatenate([*fixed, *map(library.equation, found)])
            yield _with_waves(system, len(data.names), regression.frequencies)


def sparse_coefficients(columns: Floats, target: Floats, threshold: float) -> Floats:
    """Coefficients of the columns (rows, terms); small ones, relative to the lengths, are dropped in turn."""
    lengths, size = np.linalg.norm(columns, axis=0), float(np.linalg.norm(target)) or 1.0
    lengths[lengths == 0.0] = 1.0
    unit = columns / lengths
    kept, coefficients = np.ones(columns.shape[1], dtype=bool), np.zeros(columns.shape[1])
    for _ in range(ITERATIONS):
        coefficients[:] = 0.0
        used = unit[:, kept]
        gram = used.T @ used + ALPHA * np.eye(used.shape[1])
        coefficients[kept] = np.linalg.solve(gram, used.T @ (target / size))
        small = kept & (np.abs(coefficients) < threshold)
        if not small.any():
            break
        kept &= ~small
    coefficients[~kept] = 0.0
    return coefficients / lengths * size


def _with_waves(program: Program, names: int, frequencies: Sequence[float]) -> Program:
    """The program with sines and cosines of t, its last variable, in place of the columns after it."""
    if not frequencies:
        return program
    time = drafts.variable(names - 1)
    waves = [
        FUNCTIONS[wave](drafts.times(drafts.number(frequency), time))
        for frequency in frequencies
        for wave in ("sin", "cos")
    ]
    draft: Draft = []
    for op, value in zip(program.ops.tolist(), program.values.tolist(), strict=True):
        draft += waves[int(value) - names] if op == VAR and value >= names else [(op, value)]
    return drafts.finished(draft)


def _information(program: Program, starts: Floats, task: LabTask, signals: Sequence[Signals]) -> float:
    """The Bayesian information criterion of the simulated records; a node costs half a constant."""
    data, pairs = task.dataset, []
    spread = np.concatenate(data.states).std(axis=0)
    for t, x, start, one in zip(data.times, data.states, starts, signals, strict=True):
        states, status = integrate(
            program, start, t, signals=one, atol=1e-8 * float(spread.min()), max_steps=MOST_STEPS
        )
        if status != Status.OK:
            return np.inf
        pairs.append((x, states[:, : data.dimension], 0))
    explained = r2(pairs)
    if explained is None:
        return np.inf
    count = sum(x.size for x in data.states)
    size = len(program.constants) + len(program) / 2
    return float(count * np.log(1.0 - explained + FLOOR) + size * np.log(count))
