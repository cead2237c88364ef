"""Which constants the data determine, and which only together, as in a product.

In relative constants, a direction along which the trajectories do not change shows as a small eigenvalue of
the Gauss-Newton matrix, the square of a singular value of the sensitivities.  Initial values are
eliminated: they are free, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Ints, Observations
from odefinder.inference.fit.refine import Fit, expansion, given_constants

FLAT = 1e-11  # eigenvalue relative to the largest: below it, even exact data say nothing
UNKNOWN = 1.0  # relative standard error of a combination that the data do not determine
TAKES_PART = 0.25  # of the largest share in a direction
EVEN = 0.75  # ratio of two shares in a direction that leaves a product or a ratio unchanged


@dataclass(frozen=True)
class Undetermined:
    """Constants that the data determine only together."""

    constants: tuple[int, ...]  # by their numbers in the program
    together: str  # "product" or "ratio" of two; "" for anything else


def undetermined(
    fit: Fit, data: Observations, *, fit_starts: bool, conventions: bool = False
) -> list[Undetermined]:
    """The directions in which constants are free; conventions: those of exactly 1 or -1 are not."""
    constants = fit.program.constants
    count = len(constants)
    _, _, matrix = expansion(fit.program, data, fit.starts, fit_starts=fit_starts)
    if not np.isfinite(matrix).all() or not np.isfinite(fit.error):
        return []
    held = (constants == 0.0) | given_constants(fit.program, data)
    if conventions:
        held |= np.abs(constants) == 1.0
    free = np.flatnonzero(~held)
    if len(free) == 0:
        return []
    information = _without_starts(matrix, free, count) * np.outer(constants[free], constants[free])
    values, vectors = np.linalg.eigh(information)
    noise = fit.error * data.count / max(data.count - len(matrix), 1)
    loose = (values < FLAT * values[-1]) | (noise > UNKNOWN**2 * np.maximum(values, 0.0))
    if loose.all():
        return []
    found = [_described(vectors[:, k], free) for k in np.flatnonzero(loose)]
    return list(dict.fromkeys(found))


def _without_starts(matrix: Floats, free: Ints, count: int) -> Floats:
    """The information about some constants that is left when initial values may follow."""
    own = matrix[np.ix_(free, free)]
    if len(matrix) == count:
        return own
    starts = matrix[count:, count:]
    across = matrix[np.ix_(free, np.arange(count, len(matrix)))]
    length = np.sqrt(np.where(np.diag(starts) > 0.0, np.diag(starts), 1.0))
    inverse = np.linalg.pinv(starts / np.outer(length, length), rcond=1e-12, hermitian=True)
    across = across / length
    return own - across @ inverse @ across.T


def _described(direction: Floats, free: Ints) -> Undetermined:
    shares = np.abs(direction) / np.abs(direction).max()
    part = np.flatnonzero(shares > TAKES_PART)
    together = ""
    if len(part) == 2 and shares[part].min() > EVEN:
        together = "product" if direction[part[0]] * direction[part[1]] < 0.0 else "ratio"
    return Undetermined(tuple(int(free[k]) for k in part), together)
