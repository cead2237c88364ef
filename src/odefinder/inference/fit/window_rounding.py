"""Constants of a windowed fit rounded to simple values in the user's units; see `rounding.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.units import Scaling
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import Program
from odefinder.inference.fit.errors import SMALLEST_ERROR
from odefinder.inference.fit.least_squares import Bools
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.rounding import as_good, simple_value
from odefinder.inference.fit.segments import Segments
from odefinder.inference.fit.shooting import fit_shots, outlook
from odefinder.inference.fit.windows import EXACT

ATTEMPTS = 3


def round_windows(
    fit: Fit, nodes: Floats, data: Observations, windows: Segments, scaling: Scaling, *, rtol: float = 1e-6,
    enough: Callable[[], bool] = lambda: False,
) -> Program:  # fmt: skip
    """The system in the user's units, with simple constants where they explain the data equally well."""
    user = canonical(scaling.to_original(fit.program), explicit=True)
    around = outlook(fit.program, data, nodes, windows, EXACT[-1], rtol)
    same = len(user.constants) == len(fit.program.constants)
    if around is None or not same or structure(user) != structure(fit.program):
        return user
    size = np.sqrt(np.maximum(np.diag(around.hessian), 1e-300))
    inverse = np.linalg.pinv(around.hessian / np.outer(size, size), rcond=1e-12, hermitian=True)
    spread = np.sqrt(np.maximum(np.diag(inverse), 0.0) * around.cost / data.count) / size
    relative = np.maximum(spread / np.maximum(np.abs(fit.program.constants), 1e-300), SMALLEST_ERROR)
    errors = relative * np.abs(user.constants)
    simple = np.array([simple_value(c, e) for c, e in zip(user.constants, errors, strict=True)])
    doubt = np.abs(simple - user.constants) / errors
    for _ in range(ATTEMPTS):
        fixed: Bools = np.isfinite(doubt)
        if not fixed.any() or enough():
            break
        rounded = user.with_constants(np.where(fixed, simple, user.constants))
        begin = canonical(scaling.to_scaled(rounded), explicit=True)
        if structure(begin) != structure(fit.program):
            break
        states = np.zeros_like(data.states)
        states[windows.first] = nodes
        shots = fit_shots(
            begin, data, states, windows, fixed=fixed, penalties=EXACT[-1:], iterations=6, rtol=rtol
        )
        if as_good(shots.cost / data.count, fit.error, int(fixed.sum()), data.count):
            refitted = canonical(scaling.to_original(shots.program), explicit=True)
            return refitted.with_constants(np.where(fixed, simple, refitted.constants))
        doubt[np.nanargmax(doubt)] = np.nan
    return user
