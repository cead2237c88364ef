"""Canonical units: time mapped to [1, 10], every variable divided by its largest observed magnitude.

The network sees only these units, in training and in use.  In new units x~ = x / s and t~ = a t + b
the system x' = f(x) reads x~_i' = f_i(s x~) / (a s_i); `to_scaled` and `to_original` carry programs
across, exactly.  Nothing depends on x(t0), which may be 0; the paper's way (division by x(t0)) is
the option `reference="initial"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import DataError, ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, MUL, VAR, Ops, Program, Values, check_system
from odefinder.expressions.values import arguments_left
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]
T_START, T_END = 1.0, 10.0


@compiled
def change_units(
    ops: Ops, values: Values, n: int, factors: Floats, rate: float, out_ops: Ops, out_values: Values
) -> int:
    """Rewrite a system for x~ = x / factors and t~ = rate * t + constant; the new length, or -1 if too long.

    Every variable becomes factor * variable, every equation is multiplied by 1 / (rate * factor).
    """
    length, component, open_arguments = 0, 0, 0
    for i in range(n):
        if length + 5 > len(out_ops):
            return -1
        if open_arguments == 0:
            out_ops[length], out_values[length] = MUL, 0.0
            out_ops[length + 1], out_values[length + 1] = CONST, 1.0 / (rate * factors[component])
            length, component = length + 2, component + 1
        if ops[i] == VAR:
            factor = factors[int(values[i])]
            if length > 1 and out_ops[length - 2] == MUL and out_ops[length - 1] == CONST:
                out_values[length - 1] *= factor  # it has a coefficient already
            else:
                out_ops[length], out_values[length] = MUL, 0.0
                out_ops[length + 1], out_values[length + 1] = CONST, factor
                length += 2
        out_ops[length], out_values[length] = ops[i], values[i]
        length += 1
        open_arguments = arguments_left(open_arguments, ops[i])
    return length


def in_units(program: Program, factors: Floats, rate: float) -> Program:
    """The system as `change_units` rewrites it, not yet in canonical form."""
    ops = np.empty(3 * len(program) + 2 * len(factors) + 5, np.int8)
    values = np.empty(len(ops))
    length = change_units(program.ops, program.values, len(program), factors, rate, ops, values)
    return Program(ops[:length].copy(), values[:length].copy())


@compiled
def largest_magnitudes(states: Floats, n: int, out: Floats) -> None:
    """The units of the variables: the largest magnitude in the first n rows of each column.

    Missing entries (NaN) are passed over, and a variable that is always 0 keeps its units.
    """
    for j in range(len(out)):
        largest = 0.0
        for i in range(n):
            size = abs(states[i, j])
            if size > largest:  # never so where it is missing
                largest = size
        out[j] = largest if largest > 0.0 else 1.0


@dataclass(frozen=True)
class Scaling:
    """Units shared by one or several trajectories of the same system."""

    factors: Floats  # (variables,): x = factors * x~; states come first, then what is known
    rate: float  # t~ = rate * (t - start of the trajectory) + 1
    known: int = 0  # how many of the variables have no equations

    @property
    def dimension(self) -> int:
        """The number of states."""
        return len(self.factors) - self.known

    def times(self, t: Floats) -> Floats:
        """Times of one trajectory in canonical units: it begins at 1."""
        return self.rate * (t - t[0]) + T_START

    def states(self, x: Floats) -> Floats:
        """States (..., dimension) in canonical units."""
        return x / self.factors[: self.dimension]

    def original_states(self, x: Floats) -> Floats:
        """States (..., dimension) in the user's units."""
        return x * self.factors[: self.dimension]

    def errors(self, sd: Floats) -> Floats:
        """Standard errors (..., dimension) in canonical units."""
        return sd / np.abs(self.factors[: self.dimension])

    def signals(self, signals: Signals, start: float) -> Signals:
        """What drives a trajectory that begins at a time, in canonical units."""
        units = self.factors[self.dimension :]
        doses = signals.doses / self.factors[: self.dimension] if signals.doses.shape[1] else signals.doses
        knots = self.rate * (signals.knots - start) + T_START
        if len(knots) == 0:
            return signals
        return Signals(knots, signals.before / units, signals.after / units, doses)

    def derivative_factors(self, derivative_of: Sequence[int]) -> tuple[float, ...]:
        """What x' = v becomes in canonical units, x~' = c v~: c for each velocity v, 1 for other states."""
        return tuple(
            1.0 if x < 0 else float(self.factors[v] / (self.rate * self.factors[x]))
            for v, x in enumerate(derivative_of)
        )

    def to_scaled(self, program: Program) -> Program:
        """A system in canonical units, in canonical form."""
        return self._changed(program, self.factors, self.rate)

    def to_original(self, program: Program) -> Program:
        """A system in the user's units, in canonical form."""
        return self._changed(program, 1.0 / self.factors, 1.0 / self.rate)

    def _changed(self, program: Program, factors: Floats, rate: float) -> Program:
        check_system(program, self.dimension, len(factors))
        changed = in_units(program, factors, rate)
        if not np.isfinite(changed.values).all():
            raise ExpressionError(
                "the change of units overflows: bring the data to units in which values are between 1e-100 "
                "and 1e100"
            )
        return canonical(changed)


def fit_scaling(
    times: Sequence[Floats],
    states: Sequence[Floats],
    reference: Literal["largest", "initial"] = "largest",
    *,
    known: Sequence[Floats] = (),
    derivative_of: Sequence[int] = (),
) -> Scaling:
    """The units of trajectories (times (n,), states (n, dimension) each) of one system.

    Missing entries (NaN) are passed over.  A variable that is always 0 keeps its units.  `known` are values
    (m, K) of what has no equations, for each trajectory.  `derivative_of` has, for each velocity that was not
    measured, the number of its state (else -1): its units are those of the state and of the time, so that
    x' = v stays as it is.
    """
    if len(times) == 0 or len(times) != len(states):
        raise DataError(f"got {len(times)} time arrays for {len(states)} trajectories; give one for each")
    duration = max(float(t[-1] - t[0]) for t in times)
    if not duration > 0.0:
        raise DataError("the trajectories have no duration: give at least two points at different times")
    if reference == "initial":
        factors = np.array(states[0][0], dtype=np.float64)
        if not (np.isfinite(factors) & (factors != 0.0)).all():
            raise DataError(
                "the paper's rescaling divides by the first values, and one of them is 0 or missing; "
                "use reference='largest'"
            )
    else:
        together = np.ascontiguousarray(np.concatenate(states), np.float64)
        factors = np.empty(together.shape[1])
        largest_magnitudes(together, len(together), factors)
    rate = (T_END - T_START) / duration
    for velocity, position in enumerate(derivative_of):  # a state comes before its derivatives
        if position >= 0:
            factors[velocity] = rate * factors[position]
    values = np.ascontiguousarray(np.concatenate(known)) if len(known) else np.empty((0, 0))
    units = np.empty(values.shape[1])
    largest_magnitudes(values, len(values), units)
    return Scaling(np.concatenate([factors, units]), rate, len(units))
