"""The digits that a system must be printed with: as many as reproduce its trajectory.

A curve that stays far from zero, or lasts for many periods, tells more digits of its constants than four.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.thinning import evenly
from odefinder.expressions.digits import FEWEST, MOST, as_printed, centred
from odefinder.expressions.program import Program
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import Deadline
from odefinder.numerics.signals import NO_SIGNALS
from odefinder.simulation.trajectory import Task, trajectory
from odefinder.system import ODESystem

CLOSE = 0.003  # of the standard deviation of a variable: R2 is 0.99999
RTOL, MAX_STEPS = 1e-8, 20_000  # as a user's simulation has it
MOST_CURVES = 100  # trajectories that are looked at


def with_digits(
    system: ODESystem,
    starts: Floats,
    data: Observations,
    centre: bool = True,
    deadline: Deadline | None = None,
) -> ODESystem:
    """The system with the digits that it needs, in the centred form where its text is shorter.

    starts (trajectories, D) and data are in the units of the system.  centre: whether its form may change at
    all.  After the deadline, all digits are shown.
    """
    deadline = deadline or Deadline(np.inf)
    curve = _curve(system.program, starts, data)
    if not np.isfinite(curve).all(axis=1).any():
        return system
    size = _spread(curve)

    def reproduces(program: Program) -> bool:
        with np.errstate(all="ignore"):
            away = (_curve(program, starts, data) - curve)[np.isfinite(curve).all(axis=1)]
            return bool((np.sqrt(np.mean(away**2, axis=0)) <= CLOSE * size).all())

    if reproduces(as_printed(system.program, FEWEST)):
        return system
    found = []
    offsets = np.abs(np.nanmean(curve, axis=0)) / size
    other = centred(system.program, offsets) if centre else system.program
    for program in (system.program,) if other == system.program else (system.program, other):
        digits = _enough(program, reproduces, deadline)
        found.append(replace(system, program=program, digits=digits))
    return min(found, key=lambda one: len(str(one)))


def _enough(program: Program, reproduces: Callable[[Program], bool], deadline: Deadline) -> dict[float, int]:
    """The digits of each constant by its absolute value; those with the fewest are left out."""
    most = _fewest(lambda number: reproduces(as_printed(program, number)), MOST, deadline)
    digits = dict.fromkeys(sorted({abs(float(one)) for one in program.constants}, reverse=True), most)
    for value in digits:

        def works(number: int, value: float = value) -> bool:
            return reproduces(as_printed(program, {**digits, value: number}))

        digits[value] = _fewest(works, most, deadline)
    return {value: number for value, number in digits.items() if number > FEWEST}


def _fewest(works: Callable[[int], bool], most: int, deadline: Deadline) -> int:
    """The fewest digits that work, by bisection; `most` are taken to work."""
    low, high = FEWEST, most
    middle = FEWEST  # nearly always enough
    while low < high and not deadline.over:
        if works(middle):
            high = middle
        else:
            low = middle + 1
        middle = (low + high) // 2
    return high


def _curve(program: Program, starts: Floats, data: Observations) -> Floats:
    """The trajectories (N, D) at the observed times; NaN where they do not exist or are not looked at."""
    curve = np.full((len(data.times), starts.shape[1]), np.nan)
    for k in evenly(len(starts), MOST_CURVES).tolist():
        if alarm_rings():
            break
        first, last = data.bounds[k], data.bounds[k + 1]
        signals = data.signals_of(k) or NO_SIGNALS
        task = Task(program, starts[k], data.times[first:last], signals, RTOL, MAX_STEPS)
        curve[first:last] = trajectory(task, None).states
    return curve


def _spread(curve: Floats) -> Floats:
    """How much each variable changes (D,); where it never does, how large it is."""
    seen = curve[np.isfinite(curve).all(axis=1)]
    spread, size = seen.std(axis=0), np.abs(seen).max(axis=0)
    return np.where(spread > 1e-12 * size, spread, np.where(size > 0.0, size, 1.0))
