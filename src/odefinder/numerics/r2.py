"""R2, the coefficient of determination: how much of what the data do a prediction explains."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

STILL = 1e-24  # of the sum of squares: variables that change by less do not change at all
SAME = 1e-12  # of the sum of squares: a prediction of such variables that is this close is right


def variance_weighted_r2(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """R2 over all variables of (points, D), weighted by their variance.

    Missing observations (NaN) are left out.  It is -inf where the prediction is not finite or has another
    shape, and 1 or 0, right or wrong, where nothing changes.
    """
    if observed.shape != predicted.shape or not np.isfinite(predicted[np.isfinite(observed)]).all():
        return -np.inf
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a variable without any value
        residual = float(np.nansum((observed - predicted) ** 2))
        spread = float(np.nansum((observed - np.nanmean(observed, axis=0)) ** 2))
        size = float(np.nansum(observed**2))
    if spread <= STILL * size:
        return 1.0 if residual <= SAME * size else 0.0
    return 1.0 - residual / spread
