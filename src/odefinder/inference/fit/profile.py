"""Intervals of constants by profile likelihood: how far one can be moved if the others make up for it.

A constant is held at a value and the others are fitted again.  It is possible as long as the sum of squares
does not grow by more than the quantile says.  Where that grows as the curvature at the minimum promises, the
symmetric interval is right, and two fits are enough; elsewhere the ends are searched for.  There may be none.

Constants that make up for each other lie in a narrow valley, often a bent one.  A fit that starts next to it
hardly gets anywhere, and the interval would be too narrow.  So the others are moved along, as the curvature
says at first and then as the fits before did.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.limits.deadline import Deadline

CLOSE = 0.25  # relative error of an interval's half that is not worth another fit, where a parabola is near
NEAR = 0.1  # likewise, elsewhere
LONGEST = 0.5  # first step, times the constant
FARTHEST = 1e3  # times the constant: what can be moved further than this is not determined
GROWTH = 3.0  # factor between the tries, outwards
TRIES = 14  # fits for one end of an interval
ITERATIONS = 30  # of a fit that starts near the fits of neighbouring values

Interval = tuple[float, float]


@dataclass(frozen=True)
class Profile:
    """A best fit, and how far the sum of squares may grow around it: what all intervals share."""

    best: Fit
    data: Observations
    matrix: Floats  # (P, P): the curvature at the best fit, of constants and perhaps initial values
    variance: float  # of a weighted residual
    allowed: float  # standard errors from the middle of an interval to an end
    fit_starts: bool
    held: Bools  # (constants,): those that are not fitted
    deadline: Deadline

    def interval(self, place: int, error: float, bounds: Interval = (-math.inf, math.inf)) -> Interval:
        """The interval of one constant; inf at an end that the data do not determine.

        place: its number; error: its standard error, inf where unknown; bounds: what the constant may be.
        """
        centre = float(self.best.program.constants[place])
        size = abs(centre) if centre != 0.0 else 1.0
        step = self.allowed * error if np.isfinite(error) and error > 0.0 else 0.1 * size
        along = _valley(self.matrix, place)
        ends = []
        for sign, bound in zip((-1.0, 1.0), bounds, strict=True):
            farthest = min(FARTHEST * size, abs(bound - centre))
            zero = abs(centre) if sign * centre < 0.0 else math.inf
            length = 0.0
            if farthest > 0.0:
                side = _Side(self, place, sign, along)
                length = _end(side.distance, step, size, self.allowed, farthest, zero, self.deadline)
            ends.append(centre + sign * length)
        return max(ends[0], bounds[0]), min(ends[1], bounds[1])


class _Side:
    """One constant on its way up or down, and the fits of the others for it."""

    def __init__(self, profile: Profile, place: int, sign: float, along: Floats):
        """along (P,): see `_valley`."""
        self.profile, self.place, self.sign = profile, place, sign
        constants, starts = profile.best.program.constants, profile.best.starts
        self.centre = float(constants[place])
        self.fixed = profile.held.copy()
        self.fixed[place] = True
        middle = np.concatenate([constants, starts.ravel()])
        whole = np.zeros(len(middle))
        whole[: len(along)] = along
        self.along = sign * whole
        self.path = [(0.0, middle)]  # steps, and all parameters of the fits there

    def distance(self, step: float) -> float:
        """How far from the best fit the data see the constant after a step, in standard errors."""
        profile = self.profile
        begins = _followed(self.path, step, self.along)
        for one in begins:
            one[self.place] = self.centre + self.sign * step
        begins.sort(key=lambda one: self._fitted(one, 0).error)
        found = math.inf
        for begin in begins:  # usually the first is enough
            moved = self._fitted(begin, ITERATIONS)
            if (own := self._distance(moved)) < found:
                found, best = own, moved
            if found <= (1.0 + CLOSE) * profile.allowed or profile.deadline.over:
                break
        if math.isfinite(found):
            self.path.append((step, np.concatenate([best.program.constants, best.starts.ravel()])))
        return found

    def _fitted(self, parameters: Floats, iterations: int) -> Fit:
        """The other constants, and perhaps initial values, fitted from these parameters."""
        profile, best = self.profile, self.profile.best
        count = len(best.program.constants)
        return fit_constants(
            best.program.with_constants(parameters[:count]), profile.data, fit_starts=profile.fit_starts,
            fixed=self.fixed, starts=parameters[count:].reshape(best.starts.shape), iterations=iterations,
            bends=True,
        )  # fmt: skip

    def _distance(self, moved: Fit) -> float:
        profile = self.profile
        if not np.isfinite(moved.error):
            return math.inf
        return math.sqrt(max(moved.error - profile.best.error, 0.0) * profile.data.count / profile.variance)


def _valley(matrix: Floats, place: int) -> Floats:
    """How all parameters (P,) move with one that moves by 1, if the sum of squares is to grow the least."""
    along = np.zeros(len(matrix))
    along[place] = 1.0
    if not np.isfinite(matrix).all():
        return along
    others = np.flatnonzero(np.arange(len(matrix)) != place)
    own = matrix[np.ix_(others, others)]
    length = np.sqrt(np.where(np.diag(own) > 0.0, np.diag(own), 1.0))
    inverse = np.linalg.pinv(own / np.outer(length, length), rcond=1e-12, hermitian=True)
    along[others] = -(inverse @ (matrix[others, place] / length)) / length
    return along


def _followed(path: list[tuple[float, Floats]], step: float, along: Floats) -> list[Floats]:
    """Parameters with which a fit may begin: along the valley, at the last fit, on the line of two fits."""
    nearest = sorted(path, key=lambda one: abs(one[0] - step))
    first, near = nearest[0]
    begins = [near + (step - first) * along, near.copy()]
    if len(nearest) > 1:
        second, far = nearest[1]
        begins.append(near + (step - first) / (first - second) * (near - far))
    return begins


def _end(
    seen: Callable[[float], float],
    first: float,
    size: float,
    allowed: float,
    farthest: float,
    zero: float,
    deadline: Deadline,
) -> float:
    """The step at which the distance is the allowed one, inf if it never gets there.

    first: where the curvature at the minimum expects it; size: of the constant.  Where that is far away in
    a valley that bends, steps are shorter at first.  zero: the step at which the constant is 0, which is
    looked at before any beyond it: a rate and a half-saturation may both be large, or both be large and
    negative, and nothing in between.
    """
    inside, outside, step = 0.0, math.inf, min(first, LONGEST * size, farthest)
    near, far = 0.0, math.inf  # the distances there
    last, side = False, False  # whether the last try, and the one before, was inside
    for tried in range(TRIES):
        if inside < zero < min(step, outside):
            step = zero
        found = seen(step)
        if abs(found - allowed) <= (CLOSE if step == first else NEAR) * allowed:
            return min(inside + (allowed - near) / (found - near) * (step - inside), outside)
        last, side = found < allowed, last
        if last:
            if step >= farthest:
                return math.inf
            inside, near = step, found
        else:
            outside, far = step, found
        if deadline.over:
            break
        if math.isinf(outside):
            step = min(GROWTH * step, farthest)
        elif math.isinf(far) or (tried > 1 and last == side):  # no solution there, or a line misleads
            step = 0.5 * (inside + outside)
        else:
            share = (allowed - near) / (far - near)
            step = inside + min(max(share, 0.1), 0.9) * (outside - inside)
    if math.isinf(outside) and near > 0.0:  # no time left: as the curvature there says
        return inside * allowed / near
    return outside
