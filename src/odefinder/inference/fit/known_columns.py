"""The known part of an equation in a regression: its integral, and what its constants could change of it."""

from __future__ import annotations

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import VAR
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import evaluate

NUDGE = 1e-6  # relative change of a constant for a derivative


def known_integrals(component: int, data: Observations, estimate: StateEstimate) -> Floats | None:
    """The repeated integral (N,) of what is known of an equation, and below it its derivatives by constants.

    Each named constant has a row, one that varies a row for each trajectory.  None if nothing is known.
    """
    given = data.given
    part = None if given is None else given.parts[component]
    if given is None or part is None:
        return None
    depth = data.lineage(component)[1]
    owner = np.searchsorted(estimate.ends[data.bounds[:-1]], np.arange(len(estimate.nodes)), side="right") - 1

    def integral(values: Floats) -> Floats:
        with np.errstate(all="ignore"):
            f = evaluate(part, np.hstack([estimate.nodes, values[:, owner].T]))[:, 0]
        return estimate.repeated_integrals(np.nan_to_num(f, nan=0.0, posinf=0.0, neginf=0.0), depth)

    rows = [integral(given.values)]
    named = {int(one) - given.variables for one in part.values[part.ops == VAR] if one >= given.variables}
    for name in sorted(named):
        values = given.values.copy()
        step = np.where(values[name] != 0.0, NUDGE * np.abs(values[name]), NUDGE)
        values[name] += step
        own = data.trajectory_of(np.arange(len(data.times)))
        change = (integral(values) - rows[0]) / step[own]
        if given.varied[name]:
            rows += [np.where(own == k, change, 0.0) for k in range(len(data))]
        else:
            rows.append(change)
    return np.array(rows)
