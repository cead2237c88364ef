"""How good the trajectory of a system is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import Program
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.r2 import variance_weighted_r2

GOOD = 0.9  # R2 above which a trajectory counts as found


def predicted(
    program: Program, x0: NDArray[np.float64], t: NDArray[np.float64], truth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Status]:
    """The trajectory of a system from x0, accurate enough for the comparison with the truth."""
    scale = float(np.abs(truth).max()) + 1e-12
    return integrate(program, x0, t, atol=1e-10 * scale, max_steps=50_000, bound=1e6 * scale)


def trajectory_r2(
    program: Program, x0: NDArray[np.float64], t: NDArray[np.float64], truth: NDArray[np.float64]
) -> float:
    """R2 of the trajectory of a system from x0; -inf if it cannot be integrated."""
    prediction, status = predicted(program, x0, t, truth)
    return variance_weighted_r2(truth, prediction) if status == Status.OK else -np.inf
