"""What the data cannot tell apart: systems that are the same function on them, and waves that are too fast.

`log(N)` and `-log(1/N)`, `I` and `abs(I)` where I is positive, or a term that is always tiny: such twins are
one candidate, the one that is likeliest to be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats, Ints
from odefinder.expressions.program import (
    ABS,
    ADD,
    ARITY,
    CONST,
    VAR,
    WAVES,
    Program,
    concatenate,
    subtree_end,
)
from odefinder.numerics.evaluate import evaluate

MOST = 0.9  # share of the states at which two systems must have values to be compared
OFTEN = 0.25  # share of the intervals in which a wave turns by more than half a period: it is too fast


def distinct(
    programs: Sequence[Program], states: Floats, tolerance: float, costs: Sequence[float]
) -> list[tuple[int, int]]:
    """Groups of systems that agree at all states (N, D), in the order of their first members.

    Each is given by its first member and by the one that costs least.  tolerance: of the right-hand sides,
    relative to their root mean square.
    """
    groups: list[tuple[int, int]] = []
    values: list[Floats] = []
    for i, program in enumerate(programs):
        with np.errstate(all="ignore"):
            own = evaluate(program, states)
        for k, other in enumerate(values):
            if _agree(own, other, tolerance):
                first, cheapest = groups[k]
                groups[k] = first, i if costs[i] < costs[cheapest] else cheapest
                break
        else:
            groups.append((i, i))
            values.append(own)
    return groups


def _agree(one: Floats, other: Floats, tolerance: float) -> bool:
    """Whether values (N, D) agree wherever both exist; smoothed states may leave the domain of one."""
    both = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    if np.mean(both) < MOST:
        return False
    with np.errstate(over="ignore"):
        difference = np.mean((one[both] - other[both]) ** 2, axis=0)
        return bool(np.all(difference <= tolerance**2 * np.mean(one[both] ** 2, axis=0)))


def simplified(program: Program, states: Floats, tolerance: float) -> Program:
    """The system without what does nothing at the states (N, D): tiny terms, constant functions, abs(x) = x.

    tolerance: relative to the sum that a term is in, or to a function's mean.
    """
    i = 0
    while i < len(program):
        end = subtree_end(program.ops, i)
        part = _simpler(Program(program.ops[i:end], program.values[i:end]), states, tolerance)
        if part is None:
            i += 1
        else:  # and look at the same place again
            before, after = _slice(program, 0, i), _slice(program, end, len(program))
            program = concatenate([before, part, after])
    return program


def _simpler(part: Program, states: Floats, tolerance: float) -> Program | None:
    """A shorter expression with the same values; None if there is none."""
    op = int(part.ops[0])
    if ARITY[op] == 0 or not np.any(part.ops == VAR):
        return None
    values = _values(part, states)
    if not np.isfinite(values).all():
        return None
    mean = float(values.mean())
    if values.std() <= tolerance * abs(mean):
        return Program(np.array([CONST], np.int8), np.array([mean]))
    middle = subtree_end(part.ops, 1)
    if op == ABS and np.all(_values(_slice(part, 1, middle), states) >= 0.0):
        return _slice(part, 1, middle)
    if op == ADD:
        size = tolerance * float(np.sqrt(np.mean(values**2)))
        for term, rest in (((1, middle), (middle, len(part))), ((middle, len(part)), (1, middle))):
            if np.abs(_values(_slice(part, *term), states)).max() <= size:
                return _slice(part, *rest)
    return None


def _slice(program: Program, first: int, last: int) -> Program:
    return Program(program.ops[first:last], program.values[first:last])


def too_fast(program: Program, states: Floats, bounds: Ints, fitted: NDArray[np.bool_] | None = None) -> bool:
    """Whether a sine in it turns by more than half a period between neighbouring states (N, D), often.

    bounds (trajectories + 1,): where each trajectory begins, and the end.  fitted: which constants were; a
    wave without any is the user's.
    """
    return next(fast_waves(program, states, bounds, fitted), None) is not None


def fast_waves(
    program: Program, states: Floats, bounds: Ints, fitted: NDArray[np.bool_] | None = None
) -> Iterator[tuple[slice, float]]:
    """The constants of every wave that is too fast, and how much slower one through the same points is."""
    inside = np.ones(len(states) - 1, np.bool_)
    inside[bounds[1:-1] - 1] = False  # from one trajectory to the next
    place = np.cumsum(program.ops == CONST)
    for i in np.flatnonzero(np.isin(program.ops, WAVES)).tolist():
        end = subtree_end(program.ops, i + 1)
        constants = slice(place[i], place[end - 1])
        if fitted is not None and not fitted[constants].any():
            continue
        with np.errstate(invalid="ignore"):  # from one infinite value to the next
            steps = np.abs(np.diff(_values(_slice(program, i + 1, end), states)))[inside]
        turns = np.isfinite(steps) & (steps > np.pi)
        if np.mean(turns) > OFTEN:
            step = float(np.median(steps[turns]))
            yield constants, (step - 2.0 * np.pi * round(step / (2.0 * np.pi))) / step


def _values(expression: Program, states: Floats) -> Floats:
    """A single expression at all states (N,)."""
    with np.errstate(all="ignore"):
        return evaluate(expression, states)[:, 0]
