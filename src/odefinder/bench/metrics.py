"""How good a trajectory is: the coefficient of determination, weighted over variables by their variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.integrate import Status, integrate
from odefinder.program import Program

GOOD = 0.9  # R2 above which a trajectory counts as found


def r2_score(truth: NDArray[np.float64], prediction: NDArray[np.float64]) -> float:
    """R2 over all variables of (points, dimension); -inf where the prediction is not finite."""
    if truth.shape != prediction.shape or not np.isfinite(prediction).all():
        return -np.inf
    with np.errstate(over="ignore"):
        residual = float(((truth - prediction) ** 2).sum())
    spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
    if spread == 0.0:
        return 1.0 if residual == 0.0 else -np.inf
    return 1.0 - residual / spread


def predicted(
    program: Program, x0: NDArray[np.float64], t: NDArray[np.float64], truth: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Status]:
    """The trajectory that a system draws from x0, as exact as its comparison with the truth demands."""
    scale = float(np.abs(truth).max()) + 1e-12
    return integrate(program, x0, t, atol=1e-10 * scale, max_steps=50_000, bound=1e6 * scale)


def trajectory_r2(
    program: Program, x0: NDArray[np.float64], t: NDArray[np.float64], truth: NDArray[np.float64]
) -> float:
    """R2 of the trajectory that a system draws from x0; -inf if it cannot be integrated."""
    prediction, status = predicted(program, x0, t, truth)
    return r2_score(truth, prediction) if status == Status.OK else -np.inf
