"""Intervals of constants by profile likelihood: how far one can be moved if the others make up for it.

A constant is held at a value and the others are fitted again.  It is possible as long as the sum of squares
does not grow by more than the quantile says.  Where that grows as the curvature at the minimum promises, the
symmetric interval is right, and two fits are enough; elsewhere the ends are searched for.  There may be none.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from odefinder.data.observations import Observations
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.limits.deadline import Deadline

CLOSE = 0.25  # relative error of an interval's half that is not worth another fit
FARTHEST = 1e3  # times the constant: what can be moved further than this is not determined
GROWTH = 3.0  # factor between the tries, outwards
TRIES = 14  # fits for one end of an interval
ITERATIONS = 12  # of a fit that starts at the fit of a neighbouring value

Interval = tuple[float, float]


def profiled(
    fit: Fit,
    data: Observations,
    place: int,
    error: float,
    allowed: float,
    variance: float,
    *,
    fit_starts: bool,
    held: Bools,
    deadline: Deadline,
    bounds: Interval = (-math.inf, math.inf),
) -> Interval:
    """The interval of one constant of the best fit; inf at an end that the data do not determine.

    place: its number; error: its standard error, inf where unknown; allowed: how many standard errors from
    the middle to an end; variance: of a weighted residual; bounds: what the constant may be.
    """
    centre = float(fit.program.constants[place])
    fixed = held.copy()
    fixed[place] = True

    def distance_towards(sign: float) -> Callable[[float], float]:
        """The distance in standard errors that the data see, of a constant moved by a step."""
        state = [fit]  # each fit begins where the last one ended

        def seen(step: float) -> float:
            constants = state[0].program.constants.copy()
            constants[place] = centre + sign * step
            moved = fit_constants(
                fit.program.with_constants(constants), data, starts=state[0].starts, fit_starts=fit_starts,
                fixed=fixed, iterations=ITERATIONS,
            )  # fmt: skip
            if not np.isfinite(moved.error):
                return math.inf
            state[0] = moved
            return math.sqrt(max(moved.error - fit.error, 0.0) * data.count / variance)

        return seen

    size = abs(centre) if centre != 0.0 else 1.0
    step = allowed * error if np.isfinite(error) and error > 0.0 else 0.1 * size
    ends = []
    for sign, bound in zip((-1.0, 1.0), bounds, strict=True):
        farthest = min(FARTHEST * size, abs(bound - centre))
        length = _end(distance_towards(sign), step, allowed, farthest, deadline) if farthest > 0.0 else 0.0
        ends.append(centre + sign * length)
    return max(ends[0], bounds[0]), min(ends[1], bounds[1])


def _end(
    seen: Callable[[float], float], first: float, allowed: float, farthest: float, deadline: Deadline
) -> float:
    """The step at which the distance is the allowed one, inf if it never gets there."""
    if first > farthest:
        first = farthest
    inside, outside, step = 0.0, math.inf, first
    near, far = 0.0, math.inf  # the distances there
    for _ in range(TRIES):
        found = seen(step)
        if abs(found - allowed) <= CLOSE * allowed:
            return step * allowed / found
        if found < allowed:
            if step >= farthest:
                return math.inf
            inside, near = step, found
        else:
            outside, far = step, found
        if deadline.over:
            break
        if math.isinf(outside):
            step = min(GROWTH * step, farthest)
        elif math.isinf(far):  # there the system has no solution
            step = 0.5 * (inside + outside)
        else:
            share = (allowed - near) / (far - near)
            step = inside + min(max(share, 0.1), 0.9) * (outside - inside)
    return outside
