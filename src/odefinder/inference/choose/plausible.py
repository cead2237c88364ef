"""What nobody would believe: hidden states that never move or jitter, and systems that run away later on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import VAR, WAVES, Program, subtree_end
from odefinder.inference.fit.refine import steps_at_knots
from odefinder.numerics.integrate import Status, integrate

STILL = 1e-4  # spread of a path of largest magnitude 1: below that, the state is not needed
TURNS, MORE_TURNS = (
    3.0,
    6,
)  # a hidden state may turn this many times as often as observed ones, and a bit more
SMALL = 0.02  # share of the range that a turn must have
ROOM = 1.0  # ranges of the observed values that a system may go beyond them
LOOKS, FAR = 60, 1e3


def plausible(path: Floats, data: Observations, hidden: Sequence[int]) -> bool:
    """Whether the hidden states of a path (N, D) move, and not much more often than what was observed."""
    if not np.isfinite(path).all():
        return False
    seen = np.flatnonzero(~data.unseen)
    for first, last in zip(data.bounds[:-1], data.bounds[1:], strict=True):
        usual = max((_turns(path[first:last, k]) for k in seen), default=0)
        if any(_turns(path[first:last, k]) > TURNS * usual + MORE_TURNS for k in hidden):
            return False
    return all(float(path[:, k].std()) > STILL for k in hidden)


def acts(program: Program, hidden: Sequence[int]) -> bool:
    """Whether every hidden state is read by the equation of another one: otherwise it is not needed."""
    components = program.components()
    return all(
        any(np.any((one.ops == VAR) & (one.values == k)) for j, one in enumerate(components) if j != k)
        for k in hidden
    )


def runs_off(program: Program, path: Floats, data: Observations) -> bool:
    """Whether a system that goes on for as long again leaves the neighbourhood of what was observed.

    path (N, D): its own, at the observed times.
    """
    seen = np.flatnonzero(~data.unseen)
    low, high = np.nanmin(data.states[:, seen], axis=0), np.nanmax(data.states[:, seen], axis=0)
    room = ROOM * (high - low)
    lowest = np.where(low > 0.0, -SMALL * high, low - room)  # what is positive stays positive
    highest = np.where(high < 0.0, -SMALL * low, high + room)
    systems = data.whole_systems(program)
    for k, (first, last) in enumerate(zip(data.bounds[:-1], data.bounds[1:], strict=True)):
        t = data.times[first:last]
        later = t[-1] + np.linspace(0.0, t[-1] - t[0], LOOKS)
        states, status = integrate(
            systems[k], path[last - 1], later, signals=data.signals_of(k), rtol=1e-4, atol=1e-6,
            max_steps=2000 + steps_at_knots(data), bound=FAR,
        )  # fmt: skip
        if status != Status.OK:
            return True
        own = states[:, seen]
        if ((own < lowest) | (own > highest)).any():
            return True
    return False


def winds(program: Program, hidden: Sequence[int]) -> bool:
    """Whether a system has a sine of a hidden state: nobody knows of any angle there."""
    for i in np.flatnonzero(np.isin(program.ops, WAVES)).tolist():
        end = subtree_end(program.ops, i)
        inside = program.ops[i:end] == VAR
        if np.isin(program.values[i:end][inside], hidden).any():
            return True
    return False


def _turns(values: Floats) -> int:
    """How often a curve turns back by more than a small share of its range."""
    step = SMALL * float(np.ptp(values))
    turns, extreme, direction = 0, float(values[0]), 0
    for value in values.tolist():
        if direction * (value - extreme) >= 0.0 and direction != 0:
            extreme = value
        elif abs(value - extreme) > step:
            turns += direction != 0
            direction, extreme = (1 if value > extreme else -1), value
    return turns
