"""What is exported: a system, where it starts, what drives it, and for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import Dose
from odefinder.data.roles import TIME_NAME
from odefinder.errors import SettingsError
from odefinder.expressions.digits import FEWEST, Digits
from odefinder.expressions.program import Program
from odefinder.numerics.knots import without_idle_knots
from odefinder.numerics.signals import Signals


class Piece(NamedTuple):
    """A part of a signal, value + slope*(t - since), until a time (the last part: for ever)."""

    until: float
    since: float
    value: float
    slope: float


class Points(NamedTuple):
    """A signal as a table for linear interpolation; the first and the last value hold outside of it."""

    times: tuple[float, ...]  # strictly increasing
    values: tuple[float, ...]


@dataclass(frozen=True)
class Signal:
    """One known input, linear between its knots; it may jump at them."""

    knots: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def constant(self) -> float | None:
        """Its value, if it never changes."""
        values = {*self.before, *self.after}
        return values.pop() if len(values) == 1 else None

    def points(self) -> Points:
        """The signal as a table; a jump takes the time between two neighbouring numbers."""
        times, values = list[float](), list[float]()
        for knot, before, after in zip(self.knots, self.before, self.after, strict=True):
            if before != after:
                times.append(math.nextafter(knot, -math.inf))
                values.append(before)
            times.append(knot)
            values.append(after)
        return Points(tuple(times), tuple(values))

    def pieces(self) -> tuple[Piece, ...]:
        """The signal part by part."""
        found = [Piece(self.knots[0], self.knots[0], self.before[0], 0.0)]
        for k in range(len(self.knots) - 1):
            since, until = self.knots[k : k + 2]
            slope = (self.before[k + 1] - self.after[k]) / (until - since)
            found.append(Piece(until, since, self.after[k], slope))
        return (*found, Piece(math.inf, self.knots[-1], self.after[-1], 0.0))


@dataclass(frozen=True)
class Problem:
    """An initial value problem, as every target reads it."""

    equations: tuple[Program, ...]  # in the variables, then the inputs
    variables: tuple[str, ...]
    inputs: tuple[str, ...]  # one called t is the time
    start: tuple[float, ...]
    begin: float
    end: float
    signals: tuple[Signal | None, ...]  # of each input; None for the time
    doses: tuple[Dose, ...] = ()  # sorted by time, each with the name of its variable
    assumed: tuple[str, ...] = ()  # what nobody gave, such as "start values"
    digits: Digits = FEWEST  # of constants, in formulas to read

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, then the inputs: the order of the equations' variables."""
        return (*self.variables, *self.inputs)

    def started(self) -> Problem:
        """The same with doses at the very beginning in the start values: many solvers would miss them."""
        start = list(self.start)
        for dose in self.doses:
            if dose.time == self.begin:
                start[self.variables.index(str(dose.state))] += dose.amount
        later = tuple(dose for dose in self.doses if dose.time > self.begin)
        return replace(self, start=tuple(start), doses=later)

    def stops(self) -> tuple[float, ...]:
        """Times strictly inside the span at which an input bends or jumps, or a dose is given."""
        changing = [one for one in self.signals if one is not None and one.constant is None]
        times = {knot for signal in changing for knot in signal.knots} | {dose.time for dose in self.doses}
        return tuple(sorted(time for time in times if self.begin < time < self.end))


def problem(
    program: Program,
    variables: Sequence[str],
    inputs: Sequence[str],
    start: Sequence[float] | NDArray[np.float64],
    span: tuple[float, float],
    signals: Signals,
    assumed: Sequence[str] = (),
) -> Problem:
    """The record; `signals` has a column for each input, the time among them, and the doses."""
    begin, end = map(float, span)
    if not end > begin:
        raise SettingsError(f"the last time, {end:g}, must be after the first, {begin:g}; change times")
    single = [None if name == TIME_NAME else _signal(signals, j) for j, name in enumerate(inputs)]
    return Problem(
        tuple(program.components()),
        tuple(variables),
        tuple(inputs),
        tuple(map(float, start)),
        begin,
        end,
        tuple(single),
        tuple(_doses(signals, variables, begin, end)),
        tuple(assumed),
    )


def _signal(signals: Signals, column: int) -> Signal:
    """One column, without the knots that only others need."""
    nothing = np.empty((len(signals.knots), 0))
    before, after = signals.before[:, [column]], signals.after[:, [column]]
    one = without_idle_knots(Signals(signals.knots, before, after, nothing))
    knots, heights, later = (tuple(values.ravel().tolist()) for values in one[:3])
    return Signal(knots, heights, later)


def _doses(signals: Signals, variables: Sequence[str], begin: float, end: float) -> list[Dose]:
    """The doses within the time span; one at its end would be seen by nobody."""
    return [
        Dose(knot, amount, name)
        for knot, row in zip(signals.knots.tolist(), signals.doses.tolist(), strict=True)
        for name, amount in zip(variables, row, strict=False)
        if amount != 0.0 and begin <= knot < end
    ]
