"""Random constants: log-uniform as in the paper, and the simple numbers that real laws are full of."""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, chance, integer, log_uniform, uniform

SMALLEST, LARGEST = 0.05, 20.0  # c_min and c_max of the paper


@compiled
def magnitude(stream: Stream, simple_share: float) -> float:
    """A positive constant: log-uniform, or with probability `simple_share` a simple number."""
    if not chance(stream, simple_share):
        return log_uniform(stream, SMALLEST, LARGEST)
    kind = uniform(stream)
    if kind < 0.6:
        return 1.0
    if kind < 0.85:
        return float(integer(stream, 2, 5))
    return np.round(10.0 * log_uniform(stream, 0.1, 10.0)) / 10.0  # a short decimal


@compiled
def coefficient(stream: Stream, simple_share: float) -> float:
    """A constant of either sign."""
    size = magnitude(stream, simple_share)
    return -size if chance(stream, 0.5) else size
