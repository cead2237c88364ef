"""Constants fitted over short parts of the trajectory first, for systems that amplify small errors.

Over a long chaotic or oscillating trajectory the sum of squares has countless local minima; over short parts
it has few.  Two ways lead from there to the whole: a growing share of the trajectory from its start, and
segments that begin at estimated states and become longer (multiple shooting).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import Fit, fit_constants

SHARES = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
MIN_POINTS = 5
SEGMENTS = (6, 16, 40)  # intervals per segment, one length after the other
ITERATIONS = 15  # of a fit over parts


def beginning(data: Observations, share: float) -> Observations:
    """The first share of each trajectory, but at least five points where it has them."""
    lengths = np.diff(data.bounds)
    kept = np.minimum(np.maximum(np.ceil(share * lengths).astype(np.int64), MIN_POINTS), lengths)
    rows = np.concatenate(
        [np.arange(first, first + n) for first, n in zip(data.bounds[:-1], kept, strict=True)]
    )
    return data.part(rows, np.concatenate([[0], np.cumsum(kept)]))


def fit_growing(
    program: Program,
    data: Observations,
    *,
    starts: Floats | None = None,
    fit_starts: bool = False,
    fixed: Bools | None = None,
) -> Fit:
    """Like `fit_constants`, but over a growing share of each trajectory; starts from the current constants.

    starts: initial values (trajectories, D); None for the first observed ones.  fixed: as there.
    """
    fit = Fit(program, data.states[data.bounds[:-1]] if starts is None else starts, np.inf)
    for share in SHARES:
        part = beginning(data, share)
        fit = fit_constants(
            fit.program, part, starts=fit.starts, fit_starts=fit_starts, fixed=fixed, iterations=ITERATIONS
        )
        if not np.isfinite(fit.error):
            break
    return fit_constants(fit.program, data, starts=fit.starts, fit_starts=fit_starts, fixed=fixed)


def segments(data: Observations, states: Floats, intervals: int) -> tuple[Observations, Floats]:
    """The data in segments of this many intervals, and estimated states (segments, D) at their starts."""
    rows: list[NDArray[np.int64]] = []
    for first, last in data.spans():
        cuts = range(first, last - 1, intervals)
        rows += [np.arange(cut, min(cut + intervals, last - 1) + 1) for cut in cuts]
    bounds = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    together = np.concatenate(rows)
    return data.part(together, bounds), states[together[bounds[:-1]]]


def fit_segments(program: Program, data: Observations, states: Floats, *, fit_starts: bool = False) -> Fit:
    """Like `fit_constants`, but first over segments, which begin at the estimated states (N, D)."""
    fitted = program
    for intervals in SEGMENTS:
        if intervals >= max(np.diff(data.bounds)) - 1:
            break
        part, starts = segments(data, states, intervals)
        fit = fit_constants(fitted, part, starts=starts, iterations=ITERATIONS)
        if not np.isfinite(fit.error):
            break
        fitted = fit.program
    return fit_constants(fitted, data, starts=states[data.bounds[:-1]], fit_starts=fit_starts)
