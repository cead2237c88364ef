"""Constants fitted over a growing share of the trajectory, for systems that amplify small errors.

Over a long chaotic or oscillating trajectory the sum of squares has countless local minima.  Over its first
part it has few; from there the constants are carried on, each time a little further.
"""

from __future__ import annotations

import numpy as np

from odefinder.inference.observations import Floats, Observations
from odefinder.inference.refine import Fit, fit_constants
from odefinder.program import Program

SHARES = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
MIN_POINTS = 5


def beginning(data: Observations, share: float) -> Observations:
    """The first share of each trajectory, but not fewer than five points of one that has them."""
    lengths = np.diff(data.bounds)
    kept = np.minimum(np.maximum(np.ceil(share * lengths).astype(np.int64), MIN_POINTS), lengths)
    rows = np.concatenate(
        [np.arange(first, first + n) for first, n in zip(data.bounds[:-1], kept, strict=True)]
    )
    return Observations(data.times[rows], data.states[rows], np.concatenate([[0], np.cumsum(kept)]))


def fit_growing(
    program: Program,
    data: Observations,
    *,
    starts: Floats | None = None,
    fit_starts: bool = False,
    iterations: int = 15,
) -> Fit:
    """As `fit_constants`, but over a growing share of each trajectory; from where the constants stand.

    starts: initial values (trajectories, D); None for the first observed ones.
    """
    fit = Fit(program, data.states[data.bounds[:-1]] if starts is None else starts, np.inf)
    for share in SHARES:
        part = beginning(data, share)
        fit = fit_constants(
            fit.program, part, starts=fit.starts, fit_starts=fit_starts, iterations=iterations
        )
        if not np.isfinite(fit.error):
            break
    return fit_constants(fit.program, data, starts=fit.starts, fit_starts=fit_starts)
