"""The paper's way to fit constants, "ODEFormer (opt)": BFGS on the integrated trajectory.

Levenberg-Marquardt (`refine.py`) needs fewer integrations and is the default; this is for comparison.  The
gradient is analytic here; the paper uses finite differences.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.refine import Fit, cost_and_gradient, limits_of, within

WALL = 1e6  # cost of constants with which the system cannot be integrated


def fit_by_bfgs(program: Program, data: Observations, *, iterations: int = 100) -> Fit:
    """The program with its constants fitted, starting from the current ones; initial values stay fixed."""
    x0 = np.ascontiguousarray(data.states[data.bounds[:-1]])

    def objective(constants: Floats) -> tuple[float, Floats]:
        cost, gradient = cost_and_gradient(program.with_constants(constants), data, x0)
        if not np.isfinite(cost + gradient.sum()):
            return WALL, np.zeros_like(constants)
        return cost / data.count, 2.0 * gradient / data.count

    if len(program.constants) == 0:
        cost, _ = cost_and_gradient(program, data, x0)
        return Fit(program, x0, cost / data.count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # from line searches that hit the wall
        limits = limits_of(program, data)
        bounded = limits.shape[1] > 0
        result = minimize(
            objective,
            within(program.constants, limits),
            jac=True,
            method="L-BFGS-B" if bounded else "BFGS",
            bounds=limits.T.tolist() if bounded else None,
            options={"maxiter": iterations},
        )
    fitted = program.with_constants(result.x)
    cost, _ = cost_and_gradient(fitted, data, x0)
    return Fit(fitted, x0, cost / data.count)
