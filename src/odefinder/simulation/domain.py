"""Where a solution ends because its formula does: an empty tank, a root or logarithm of a negative number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import Program
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import Status
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import Signals
from odefinder.simulation.trajectory import rows_reached

Floats = NDArray[np.float64]

END_OF_DOMAIN = (
    "There it reaches the end of the formula's domain (a root or logarithm of a negative number), such as "
    "an empty tank; it does not run away."
)
NEAR = 10.0  # times the largest value before: a solution that has grown by more runs away


def leaves_domain(
    program: Program, times: Floats, states: Floats, status: Status, signals: Signals | None = None
) -> bool:
    """Whether a solution (N, D) that ended early came to the end of its formula's domain.

    Its values are those of before, and one more step along the slope leads to where there is no slope.
    """
    reached = rows_reached(states)
    if status != Status.STEP_TOO_SMALL or not 0 < reached < len(times):
        return False
    last = states[reached - 1]
    if np.abs(last).max() > NEAR * np.abs(states[: max(reached // 2, 1)]).max():
        return False
    known = np.empty((1, 0)) if signals is None else values_at(signals, times[reached - 1 : reached])
    with np.errstate(all="ignore"):
        slope = evaluate(program, np.hstack([last[None], known]))
        ahead = last[None] + 2.0 * slope * (times[reached] - times[reached - 1])
        beyond = evaluate(program, np.hstack([ahead, known]))
    return bool(np.isfinite(slope).all() and not np.isfinite(beyond).all())


def held_at_the_end(states: Floats) -> Floats:
    """The solution with its last value held where it ended: an empty tank stays empty."""
    reached = rows_reached(states)
    held = states.copy()
    held[reached:] = states[reached - 1]
    return held
