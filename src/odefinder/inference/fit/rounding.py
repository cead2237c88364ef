"""Constants rounded to simple values where the data allow it: x' = 1.0003 y becomes x' = y.

A constant is a candidate if a number of few digits lies within its standard errors, and if numbers with as
few digits are far apart compared with those errors: otherwise a match could be coincidence.  Those constants
are fixed and the others fitted again; what makes the fit clearly worse is undone.  This happens in the user's
units, where laws have simple constants.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from odefinder.data.observations import Observations
from odefinder.inference.fit.errors import SMALLEST_ERROR, standard_errors
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import Fit, fit_constants

WITHIN = 2.0  # standard errors
APART = 4.0  # standard errors, at least, between neighbouring numbers with the same number of digits
MOST_DIGITS = 4


def round_constants(
    fit: Fit, data: Observations, *, fit_starts: bool, conventions: Bools | None = None
) -> Fit:
    """The fit with simple constants where they explain the data equally well.

    conventions (constants,): those that are what they are because a scale was chosen so.
    """
    if not np.isfinite(fit.error):
        return fit
    constants = fit.program.constants
    errors = standard_errors(fit, data, fit_starts=fit_starts, conventions=conventions)
    given = errors == 0.0  # by the form, by the user or by convention
    errors = np.maximum(errors, SMALLEST_ERROR * np.abs(constants))
    pairs = zip(constants.tolist(), errors.tolist(), strict=True)
    simple = np.array([simple_value(value, error) for value, error in pairs])
    doubt = np.abs(simple - constants) / errors  # NaN where there is no simple value
    refit = partial(fit_constants, data=data, starts=fit.starts, fit_starts=fit_starts)
    if not fit_starts:  # clean data: errors of the integration must not count as a worse fit
        refit = partial(refit, rtol=1e-9, max_steps=10_000)
    doubt[given] = np.nan
    while np.isfinite(doubt).any():
        fixed: Bools = np.isfinite(doubt)
        program = fit.program.with_constants(np.where(fixed, simple, constants))
        again = refit(program, fixed=fixed | given)
        if np.isfinite(again.error) and as_good(again.error, fit.error, int(fixed.sum()), data.count):
            return again
        doubt[np.nanargmax(doubt)] = np.nan
    return fit


def as_good(error: float, before: float, fixed: int, count: int) -> bool:
    """Whether `fixed` fewer constants are worth the larger error, by a Bayesian information criterion."""
    floor = SMALLEST_ERROR**2
    return count * math.log((error + floor) / (before + floor)) <= fixed * math.log(count)


def simple_value(value: float, error: float) -> float:
    """The number with the fewest digits that the data cannot tell from the value; NaN if there is none."""
    if not math.isfinite(error) or value == 0.0:
        return math.nan
    magnitude = math.floor(math.log10(abs(value)))
    for digits in range(1, MOST_DIGITS + 1):
        step = 10.0 ** (magnitude + 1 - digits)
        if step < APART * error:
            break
        nearest = round(round(value / step) * step, digits - 1 - magnitude)
        if abs(nearest - value) <= WITHIN * error and nearest != 0.0:
            return nearest
    return math.nan
