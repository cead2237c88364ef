"""Noise and subsampling, as in the paper (section 3, "Corrupting data"), and additive noise."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import DataError, SettingsError
from odefinder.numerics.randomness import Stream, normal, seed_stream, uniform

SIGMA_MAX = 0.1  # in training, noise levels are uniform in [0, SIGMA_MAX]
RHO_MAX = 0.5  # in training, shares of dropped points are uniform in [0, RHO_MAX]
Noise = Literal["multiplicative", "additive"]
NOISES: tuple[Noise, ...] = ("multiplicative", "additive")


@compiled
def add_noise(x: NDArray[np.float64], sigma: float, stream: Stream) -> None:
    """Multiply every entry of x (points, dimension) by 1 + xi, xi ~ N(0, sigma), in place."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] *= 1.0 + sigma * normal(stream)


@compiled
def add_spread_noise(x: NDArray[np.float64], spread: NDArray[np.float64], stream: Stream) -> None:
    """Add xi ~ N(0, spread) to every entry of x (points, dimension), in place; spread (dimension,)."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += spread[j] * normal(stream)


@compiled
def keep_points(n: int, kept: int, stream: Stream, out: NDArray[np.int64]) -> None:
    """Write `kept` of the indices 0..n-1, drawn uniformly without replacement, in increasing order."""
    written = 0
    for i in range(n):
        if uniform(stream) * (n - i) < kept - written:
            out[written] = i
            written += 1


def corrupt(
    t: ArrayLike,
    x: ArrayLike,
    *,
    sigma: float = 0.0,
    rho: float = 0.0,
    seed: int = 0,
    noise: Noise = "multiplicative",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A noisy, irregularly sampled copy of a trajectory: t (points,), x (points, dimension).

    Noise first, then int(rho * points) points are dropped; the first point may be among them.  sigma is the
    standard deviation of the noise: multiplicative noise is relative to the value, additive noise to the
    standard deviation of the variable.
    """
    times = np.array(t, dtype=np.float64)
    states = np.array(x, dtype=np.float64)
    if times.ndim != 1 or states.ndim != 2 or len(times) != len(states):
        raise DataError(
            f"a trajectory is t of shape (points,) and x of shape (points, dimension), "
            f"got {times.shape} and {states.shape}"
        )
    if not 0.0 <= sigma < np.inf:
        raise SettingsError(f"sigma is a noise level, 0 or larger, got {sigma}")
    if not 0.0 <= rho < 1.0:
        raise SettingsError(f"rho is the share of points to drop, from 0 to below 1, got {rho}")
    stream = np.empty(4, np.uint64)
    seed_stream(stream, seed, 0)
    if noise not in NOISES:
        raise SettingsError(f"noise is one of {', '.join(NOISES)}, not {noise!r}")
    if sigma > 0.0 and noise == "multiplicative":
        add_noise(states, sigma, stream)
    elif sigma > 0.0:
        add_spread_noise(states, sigma * states.std(axis=0), stream)
    kept = len(times) - int(rho * len(times))
    indices = np.empty(kept, np.int64)
    keep_points(len(times), kept, stream, indices)
    return times[indices], states[indices]
