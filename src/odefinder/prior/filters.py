"""Which trajectories are worth learning from (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import VAR, Ops, Values
from odefinder.expressions.values import arguments_left

Floats = NDArray[np.float64]

TURN = 0.01  # a turning point is a reversal by more than this share of the range
OSCILLATES = 3  # turning points of an oscillating variable
SETTLED = 0.02  # a variable this close to its last value, relative to its range, has arrived


@compiled
def oscillation(x: Floats, first: int, variable: int) -> float:
    """Largest minus smallest value of a variable from the row `first` on."""
    low = high = x[first, variable]
    for i in range(first + 1, x.shape[0]):
        low = min(low, x[i, variable])
        high = max(high, x[i, variable])
    return high - low


@compiled
def is_stationary(x: Floats, threshold: float, relative: bool) -> bool:
    """Whether no variable moves more than the threshold over the last quarter (of its range, if relative)."""
    tail = (3 * x.shape[0]) // 4
    for j in range(x.shape[1]):
        scale = oscillation(x, 0, j) if relative else 1.0
        if oscillation(x, tail, j) >= threshold * scale and scale > 0.0:
            return False
    return True


@compiled
def has_constant(x: Floats, threshold: float) -> bool:
    """Whether some variable moves less than the threshold relative to its size."""
    for j in range(x.shape[1]):
        if oscillation(x, 0, j) <= threshold * (np.abs(x[:, j]).max() + 1e-12):
            return True
    return False


@compiled
def is_undersampled(x: Floats) -> bool:
    """Whether some variable turns more often than every third point: its motion cannot be seen."""
    for j in range(x.shape[1]):
        turns = 0
        for i in range(1, x.shape[0] - 1):
            turns += (x[i, j] - x[i - 1, j]) * (x[i + 1, j] - x[i, j]) < 0.0
        if 3 * turns > x.shape[0]:
            return True
    return False


@compiled
def is_connected(ops: Ops, values: Values, n: int, dimension: int) -> bool:
    """Whether the variables hang together, by who occurs in whose equation."""
    label = np.arange(dimension)
    component, open_arguments = -1, 0
    for i in range(n):
        if open_arguments == 0:
            component += 1
        open_arguments = arguments_left(open_arguments, ops[i])
        if ops[i] == VAR:
            mine, other = label[component], label[int(values[i])]
            for k in range(dimension):
                if label[k] == other:
                    label[k] = mine
    for k in range(1, dimension):
        if label[k] != label[0]:
            return False
    return True


@compiled
def turning_points(x: NDArray[np.float64], tolerance: float) -> int:
    """How often a series changes its direction, reversals up to the tolerance ignored."""
    turns, direction = 0, 0
    low = high = extreme = x[0]
    for value in x:
        if direction == 0:
            low, high, extreme = min(low, value), max(high, value), value
            direction = 1 if value - low > tolerance else (-1 if high - value > tolerance else 0)
        elif direction * (value - extreme) > 0.0:
            extreme = value
        elif direction * (extreme - value) > tolerance:
            turns += 1
            direction, extreme = -direction, value
    return turns


@compiled
def most_turns(x: Floats) -> int:
    """Turning points of the variable that has most of them; none: every variable is monotone."""
    most = 0
    for j in range(x.shape[1]):
        most = max(most, turning_points(x[:, j], TURN * oscillation(x, 0, j)))
    return most


@compiled
def settling_row(x: Floats) -> int:
    """The first row from which on every variable stays near its last value."""
    n = x.shape[0]
    row = 0
    for j in range(x.shape[1]):
        near = SETTLED * oscillation(x, 0, j)
        for i in range(n - 1, row - 1, -1):
            if abs(x[i, j] - x[n - 1, j]) > near:
                row = i + 1
                break
    return row
