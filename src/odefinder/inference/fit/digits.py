"""The digits that a system must be printed with: as many as reproduce its trajectory.

A curve that stays far from zero, or lasts for many periods, tells more digits of its constants than four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.thinning import evenly
from odefinder.expressions.digits import FEWEST, MOST, as_printed, centred
from odefinder.expressions.program import Program
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import Deadline
from odefinder.numerics.signals import NO_SIGNALS
from odefinder.simulation.trajectory import Task, Trajectory, nearby_trajectory, trajectory
from odefinder.system import ODESystem

CLOSE = 0.003  # of the standard deviation of a variable: R2 is 0.99999
RTOL, MAX_STEPS = 1e-8, 20_000  # as a user's simulation has it
MOST_CURVES = 100  # trajectories that are looked at


def with_digits(
    system: ODESystem,
    starts: Floats,
    data: Observations,
    centre: bool = True,
    each: bool = True,
    deadline: Deadline | None = None,
) -> ODESystem:
    """The system with the digits that it needs, in the centred form where its text is shorter.

    starts (trajectories, D) and data are in the units of the system.  centre: whether its form may change at
    all.  each: whether every constant has its own number of digits, which takes most of the time.  After the
    deadline, all digits are shown.
    """
    deadline = deadline or Deadline(np.inf)
    paths = _paths(system.program, starts, data)
    curve = _joined(paths, starts)
    reached = np.isfinite(curve).all(axis=1)
    if not reached.any():
        return system
    size = _spread(curve[reached])

    def reproduces(program: Program) -> bool:
        with np.errstate(all="ignore"):
            again = _joined(_paths(program, starts, data, paths), starts)
            if len(again) < len(curve):  # an alarm ended it
                return False
            away = (again - curve)[reached]
            return bool((np.sqrt(np.mean(away**2, axis=0)) <= CLOSE * size).all())

    if reproduces(as_printed(system.program, FEWEST)):
        return system
    found = []
    offsets = np.abs(np.nanmean(curve, axis=0)) / size
    other = centred(system.program, offsets) if centre else system.program
    for program in (system.program,) if other == system.program else (system.program, other):
        digits = _enough(program, reproduces, each, deadline)
        found.append(replace(system, program=program, digits=digits))
    return min(found, key=lambda one: len(str(one)))


def _enough(
    program: Program, reproduces: Callable[[Program], bool], each: bool, deadline: Deadline
) -> dict[float, int]:
    """The digits of each constant by its absolute value; those with the fewest are left out."""
    most = _fewest(lambda number: reproduces(as_printed(program, number)), MOST, deadline)
    digits = dict.fromkeys(sorted({abs(float(one)) for one in program.constants}, reverse=True), most)
    for value in digits if each else ():

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


def _paths(
    program: Program, starts: Floats, data: Observations, like: Sequence[Trajectory] = ()
) -> list[Trajectory]:
    """The trajectories that are looked at, at the observed times, up to an alarm.

    like: the same trajectories of a system that hardly differs.
    """
    paths: list[Trajectory] = []
    looked_at = evenly(len(starts), MOST_CURVES).tolist()
    for place, k in enumerate(looked_at[: len(like)] if like else looked_at):
        if alarm_rings():
            break
        times = data.times[data.bounds[k] : data.bounds[k + 1]]
        task = Task(program, starts[k], times, data.signals_of(k) or NO_SIGNALS, RTOL, MAX_STEPS)
        paths.append(nearby_trajectory(task, like[place]) if like else trajectory(task))
    return paths


def _joined(paths: Sequence[Trajectory], starts: Floats) -> Floats:
    """Their states (rows, D), one after the other; NaN where they do not exist."""
    return np.concatenate([np.empty((0, starts.shape[1])), *(path.states for path in paths)])


def _spread(seen: Floats) -> Floats:
    """How much each variable changes (D,); where it never does, how large it is."""
    spread, size = seen.std(axis=0), np.abs(seen).max(axis=0)
    return np.where(spread > 1e-12 * size, spread, np.where(size > 0.0, size, 1.0))
