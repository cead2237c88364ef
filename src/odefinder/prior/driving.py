"""Signals that drive an example: steps, ramps, sines, pulses, doses; conditions; time (compiled).

They are drawn over the unit interval and stretched to an example's time span when they are needed.
"""

from __future__ import annotations

import math

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, normal, pick, uniform
from odefinder.numerics.signals import Signals
from odefinder.prior.casting import CONDITION, INPUT, KIND, SIGNALS, TIME, Cast

STEPS, RAMPS, SINES, PULSES, DOSES, SMOOTH = range(6)
SHAPES = np.array([0.25, 0.12, 0.23, 0.12, 0.08, 0.2])
POSITIVE = 0.5  # signals that are never negative
FEW_KNOTS, MANY_KNOTS = (3, 12), (30, 70)
MOST_SINES = 3


@compiled
def _shape_values(s: Stream, shape: int, knots: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
    """One signal of unit size at the knots (K,)."""
    n = len(knots)
    after[:] = 0.0
    if shape == STEPS:
        two_levels = chance(s, 0.4)
        for k in range(n):
            after[k] = float(k % 2) if two_levels else normal(s)
    elif shape == RAMPS:
        for k in range(n):
            after[k] = normal(s)
    elif shape == SINES:
        for _ in range(integer(s, 1, MOST_SINES)):
            frequency, phase, size = log_uniform(s, 0.5, 8.0), uniform(s), normal(s)
            for k in range(n):
                after[k] += size * math.sin(2.0 * math.pi * (frequency * knots[k] + phase))
    elif shape == PULSES:
        level = 0.0
        for k in range(n):
            if chance(s, 0.35):
                level = 0.0 if level != 0.0 else 1.0
            after[k] = level
    elif shape == DOSES:  # short, at regular intervals
        interval, first = integer(s, 3, max(3, n // 3)), integer(s, 0, 2)
        for k in range(n):
            after[k] = 1.0 if k >= first and (k - first) % interval == 0 else 0.0
    else:
        for harmonic in range(1, 7):
            size, phase = normal(s) / harmonic, uniform(s)
            for k in range(n):
                after[k] += size * math.sin(math.pi * (harmonic * knots[k] + 2.0 * phase))
    held = shape in (STEPS, PULSES, DOSES)
    before[0] = after[0]
    for k in range(1, n):
        before[k] = after[k - 1] if held else after[k]


@compiled
def _scale_signal(s: Stream, before: np.ndarray, after: np.ndarray) -> None:
    """Give a signal a size and, often, an offset that makes it positive."""
    low = high = after[0]
    for value in after:
        low, high = min(low, value), max(high, value)
    span = high - low if high > low else 1.0
    size = log_uniform(s, 0.3, 4.0)
    shift = 0.0
    if chance(s, POSITIVE):
        shift = -low + (0.0 if chance(s, 0.4) else span * log_uniform(s, 0.05, 2.0))
    for k in range(len(after)):
        before[k] = size * (before[k] + shift) / span
        after[k] = size * (after[k] + shift) / span


@compiled
def draw_signals(s: Stream, cast: Cast, start: float) -> Signals:
    """The signals of one trajectory over [0, 1]; start: the time at which it begins, in spans."""
    kind, count = cast.facts[KIND], cast.facts[SIGNALS]
    if kind & INPUT:
        shapes = np.empty(count, np.int64)
        many = False
        for i in range(count):
            shapes[i] = pick(s, SHAPES)
            many = many or shapes[i] in (SINES, SMOOTH, DOSES)
        low, high = MANY_KNOTS if many else FEW_KNOTS
        knots = np.linspace(0.0, 1.0, integer(s, low, high))
        if not many:
            spacing = knots[1]
            for k in range(1, len(knots) - 1):  # still in order: each moves by less than half of the spacing
                knots[k] += 0.45 * (2.0 * uniform(s) - 1.0) * spacing
        before, after = np.empty((len(knots), count)), np.empty((len(knots), count))
        for i in range(count):
            _shape_values(s, shapes[i], knots, before[:, i], after[:, i])
            _scale_signal(s, before[:, i], after[:, i])
        return Signals(knots, before, after, np.empty((len(knots), 0)))
    knots = np.array([0.0, 1.0])
    values = np.empty((2, count))
    for i in range(count):
        if kind & CONDITION:
            values[:, i] = log_uniform(s, 0.2, 4.0)
        elif kind & TIME:
            values[0, i], values[1, i] = start, start + 1.0
    return Signals(knots, values, values.copy(), np.empty((2, 0)))


@compiled
def stretched(signals: Signals, cast: Cast, first: float, last: float) -> Signals:
    """The same over the times first to last; time itself is stretched, too."""
    factor = last - first if cast.facts[KIND] & TIME else 1.0
    return Signals(
        first + (last - first) * signals.knots, factor * signals.before, factor * signals.after, signals.doses
    )
