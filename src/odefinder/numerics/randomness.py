"""Random numbers in compiled code, the same on every machine and for any number of threads.

A stream is four 64-bit words (xoshiro256++, Blackman and Vigna 2019), seeded from two whole numbers by
splitmix64.  Every example of the prior has its own stream, (seed, index), so data do not depend on
who computes them, in which order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled

Word = np.uint64
Stream = NDArray[np.uint64]


@compiled
def _splitmix(state: Word) -> tuple[Word, Word]:
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@compiled
def seed_stream(stream: Stream, seed: int, index: int) -> None:
    """Set a stream to the beginning of number `index` of `seed`."""
    _, mixed = _splitmix(np.uint64(seed))
    state = mixed ^ np.uint64(index)
    for i in range(4):
        state, mixed = _splitmix(state)
        stream[i] = mixed


@compiled
def _next(s: Stream) -> Word:
    total = s[0] + s[3]
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s[0]
    t = s[1] << np.uint64(17)
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = (s[3] << np.uint64(45)) | (s[3] >> np.uint64(19))
    return result


@compiled
def uniform(s: Stream) -> float:
    """A number in [0, 1)."""
    return float(_next(s) >> np.uint64(11)) * 2.0**-53


@compiled
def chance(s: Stream, probability: float) -> bool:
    """True with the given probability."""
    return uniform(s) < probability


@compiled
def integer(s: Stream, low: int, high: int) -> int:
    """A whole number in low..high, both included."""
    return low + int(uniform(s) * (high - low + 1))


@compiled
def log_uniform(s: Stream, low: float, high: float) -> float:
    """A positive number whose logarithm is uniform."""
    return low * math.exp(uniform(s) * math.log(high / low))


@compiled
def normal(s: Stream) -> float:
    """A standard normal number (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(s)))
    return radius * math.cos(2.0 * math.pi * uniform(s))


@compiled
def pick(s: Stream, weights: NDArray[np.float64]) -> int:
    """An index, drawn in proportion to the weights."""
    level = uniform(s) * weights.sum()
    for i in range(len(weights)):
        level -= weights[i]
        if level < 0.0:
            return i
    return len(weights) - 1
