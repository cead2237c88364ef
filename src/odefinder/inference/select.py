"""The choice among fitted systems, from the observed data alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.inference.observations import Floats, Observations
from odefinder.inference.refine import Fit, fit_constants

FLOOR = 1e-9  # mean squared scaled residual below which a fit is as good as exact


def criterion(fit: Fit, data: Observations, starts: Floats | None = None) -> float:
    """A Bayesian information criterion: N log(error) + (constants + nodes / 2) log N; smaller is better.

    starts: initial values (trajectories, D) known from elsewhere, such as smoothed ones, where those of the
    fit are fitted.  A wrong system often fits from initial values of its own only; so the error is then the
    mean of those from both (on noisy synthetic systems 10 in 100 more are reconstructed).
    """
    error = fit.error
    if starts is not None and np.isfinite(error):
        error = (error + fit_constants(fit.program, data, starts=starts, iterations=0).error) / 2.0
    if not np.isfinite(error):
        return np.inf
    n = data.count
    size = len(fit.program.constants) + len(fit.program) / 2
    return n * float(np.log(error + FLOOR)) + size * float(np.log(n))


def best_fit(fits: Sequence[Fit], data: Observations, starts: Floats | None = None) -> Fit | None:
    """The fit with the smallest criterion; None if no system could be integrated."""
    finite = [fit for fit in fits if np.isfinite(fit.error)]
    return min(finite, key=lambda fit: (criterion(fit, data, starts), fit.error), default=None)
