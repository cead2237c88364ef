"""The choice among fitted systems, from the observed data alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.inference.observations import Observations
from odefinder.inference.refine import Fit

FLOOR = 1e-9  # mean squared scaled residual below which a fit is as good as exact


def criterion(fit: Fit, data: Observations) -> float:
    """A Bayesian information criterion: N log(error) + (constants + nodes / 2) log N; smaller is better."""
    if not np.isfinite(fit.error):
        return np.inf
    n = data.count
    size = len(fit.program.constants) + len(fit.program) / 2
    return n * float(np.log(fit.error + FLOOR)) + size * float(np.log(n))


def best_fit(fits: Sequence[Fit], data: Observations) -> Fit | None:
    """The fit with the smallest criterion; None if no system could be integrated."""
    finite = [fit for fit in fits if np.isfinite(fit.error)]
    return min(finite, key=lambda fit: criterion(fit, data), default=None)
