"""What a model of a chaotic flow is worth, next to the truth: prediction, attractor, exponent, dimension."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.bench.chaotic.data import PER_PERIOD, StudyData
from odefinder.bench.chaotic.flows import Flow
from odefinder.expressions.program import Program
from odefinder.numerics.chaos.attractors import attractor_distance
from odefinder.numerics.chaos.lyapunov import Spectrum, lyapunov_spectrum
from odefinder.numerics.chaos.prediction import valid_time, window_r2
from odefinder.numerics.integrate import integrate

LONG = 60.0  # periods of the records whose attractors are compared
SECONDS = 5.0  # for the exponents of a model, which may be any system


@dataclass(frozen=True)
class Truth:
    """What a flow itself reaches."""

    spectrum: Spectrum
    window: float  # a Lyapunov time; a period where the flow is not chaotic

    @classmethod
    def of(cls, flow: Flow) -> Truth:
        spectrum = lyapunov_spectrum(flow.program, flow.start, flow.period)
        return cls(spectrum, spectrum.time if spectrum.chaotic else flow.period)


@dataclass(frozen=True)
class ChaosScores:
    """Scores of a model on clean test trajectories that it has not seen; None where there is none."""

    valid_time: float  # mean over the trajectories, in windows (`Truth.window`)
    most_valid_time: float  # what a perfect model would reach: the length of the trajectories
    window_r2: float | None  # the smallest over the trajectories
    distance: float  # between the attractors
    reference: float  # what two records of the truth would be apart by chance
    exponent: float | None
    true_exponent: float
    dimension: float | None
    true_dimension: float


def chaos_scores(program: Program, data: StudyData, truth: Truth) -> ChaosScores:
    """All scores of a model."""
    flow, t = data.flow, data.t
    scale = max(float(np.abs(states).max()) for states in data.test)
    reached, r2 = [], []
    for states in data.test:
        path, _ = integrate(program, states[0], t, atol=1e-10 * scale, bound=1e6 * scale)
        reached.append(valid_time(t, states, path) / truth.window)
        r2.append(window_r2(program, t, states, truth.window))
    long = np.arange(0.0, LONG * flow.period, flow.period / PER_PERIOD)
    start = data.test[0][0]
    model, _ = integrate(program, start, long, atol=1e-10 * scale, bound=1e6 * scale)
    distance = attractor_distance(flow.trajectory(start, long), model, PER_PERIOD // 4)
    found = lyapunov_spectrum(program, start, flow.period, seconds=SECONDS)
    return ChaosScores(
        float(np.mean(reached)),
        float(t[-1] - t[0]) / truth.window,
        _finite(min(r2)),
        distance.distance,
        distance.reference,
        _finite(found.largest),
        truth.spectrum.largest,
        _finite(found.dimension),
        truth.spectrum.dimension,
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
