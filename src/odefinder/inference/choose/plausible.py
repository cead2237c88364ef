"""Hidden states that nobody would believe in: those that never move, and those that jitter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations

STILL = 1e-4  # spread of a path of largest magnitude 1: below that, the state is not needed
TURNS, MORE_TURNS = (
    3.0,
    6,
)  # a hidden state may turn this many times as often as observed ones, and a bit more
SMALL = 0.02  # share of the range that a turn must have


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
