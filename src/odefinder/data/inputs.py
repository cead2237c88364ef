"""Known signals as users give them, for one trajectory -> Signals.

A source is one of these: values at the times of the rows, a pair (times, values), a Series or DataFrame with
its own times, a function u(t), a number, or `Hold` around values.  `sources` sorts what was given by name;
`signals_of` makes one record of it, and says in notes what was done.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.clock import read_times_on
from odefinder.data.dataset import Clock
from odefinder.data.sampling import called, sampled
from odefinder.edge.parameters import FINITE
from odefinder.edge.rules import Refused, shown
from odefinder.errors import DataError
from odefinder.numerics.knots import merged
from odefinder.numerics.signals import NO_SIGNALS, Signals, constant, held

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Names = tuple[str, ...]  # of one signal, or of those that one function gives

FORMS = (
    "give values at the times of the rows, a pair (times, values), a table with its own times, a function "
    "u(t), or a number"
)
NUMBERS = Clock()
TOUCHING = 1e-9  # of the data's span: a gap this short between an input and the data is none
SELDOM = 0.3  # share of the rows at which a signal in steps may change


@dataclass(frozen=True)
class Hold:
    """Values that stay until the next one, in place of linear interpolation: `inputs={"u": Hold(values)}`."""

    values: Any

    def __post_init__(self) -> None:
        if isinstance(self.values, Hold):
            object.__setattr__(self, "values", self.values.values)


class OwnTimes(NamedTuple):
    """Values with times of their own."""

    times: Any
    values: Any
    title: str = "t"  # of the times


@dataclass(frozen=True)
class Known:
    """The signals of one trajectory, and sentences about them."""

    names: Names
    signals: Signals
    notes: tuple[str, ...] = ()


def is_pandas(given: Any, kind: str) -> bool:
    """Whether it is of a type of pandas, which has been imported where there is such a thing."""
    return "pandas" in sys.modules and isinstance(given, getattr(sys.modules["pandas"], kind))


def axes(values: Any) -> int:
    """The number of axes of what may be an array."""
    try:
        return int(np.ndim(values))
    except ValueError:  # rows of different lengths
        return 1


def as_array(values: Any, what: str = "an input") -> Any:
    """An array, or an error that says how it should look."""
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError(f"{what} is not an array with rows of equal length; {FORMS}") from None


# ---------------------------------------------------------------------------------------- by name


def sources(given: Any, start: float, names: Sequence[str] | None = None) -> dict[Names, Any]:
    """What was given, by name; `names` are those it must have, `start` is a time to ask functions at.

    Without names, a single signal is called u, several u1, u2, ...
    """
    if isinstance(given, Mapping):
        return {(str(name),): source for name, source in given.items()}
    if isinstance(given, Hold):
        return {name: Hold(source) for name, source in sources(given.values, start, names).items()}
    if is_pandas(given, "DataFrame"):
        return {(str(name),): source for name, source in _columns(given).items()}
    if is_pandas(given, "Series") and given.name is not None and names is None:
        return {(str(given.name),): given}
    if callable(given):
        return {_called(names, len(called(given, start, "the input"))): given}
    if isinstance(given, tuple) and len(given) == 2 and axes(given[1]) > 0:
        times, values = given
        columns = _two_axes(values)
        return {
            (name,): OwnTimes(times, column)
            for name, column in zip(_called(names, columns.shape[1]), columns.T, strict=True)
        }
    if isinstance(given, Real) or is_pandas(given, "Series"):
        return {_called(names, 1): given}
    columns = _two_axes(given)
    return {(name,): column for name, column in zip(_called(names, columns.shape[1]), columns.T, strict=True)}


def _called(names: Sequence[str] | None, count: int) -> Names:
    if names is None:
        return ("u",) if count == 1 else tuple(f"u{number}" for number in range(1, count + 1))
    if len(names) != count:
        raise DataError(
            f"there are {count} signals for the inputs {', '.join(names)}; give one for each, best by name: "
            f"inputs={{{names[0]!r}: ...}}"
        )
    return tuple(names)


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    """The columns of a table, with its own times if it has any."""
    from odefinder.data.columns import has_times, plain_columns, split_time

    if not has_times(frame):
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    times, title, rest, _ = split_time(plain_columns(frame), None, None)
    return {str(name): OwnTimes(times, rest[name], title) for name in rest.columns}


def _two_axes(values: Any) -> Any:
    """An array (n, I)."""
    array = as_array(values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"an input has shape {array.shape}; {FORMS}")
    return array


# ---------------------------------------------------------------------------------------- signals


def signals_of(given: Mapping[Names, Any], times: Floats, clock: Clock = NUMBERS, of: str = "") -> Known:
    """The signals of a trajectory with rows at these times; `of` says which trajectory, for messages."""
    parts, notes = [], list[str]()
    for names, source in given.items():
        reader = _Reader(", ".join(names), times, clock, of, notes)
        parts.append(reader.read(source))
        if parts[-1].after.shape[1] != len(names):
            raise DataError(f"{reader.name} gives {parts[-1].after.shape[1]} signals; give one for each name")
    names = tuple(name for group in given for name in group)
    return Known(names, merged(parts) if parts else NO_SIGNALS, tuple(notes))


class _Reader:
    """Reads the sources of one trajectory."""

    def __init__(self, name: str, times: Floats, clock: Clock, of: str, notes: list[str]):
        self.name, self.times, self.clock, self.of, self.notes = name, times, clock, of, notes
        self.first, self.last = float(np.nanmin(times)), float(np.nanmax(times))

    def read(self, source: Any, hold: bool = False) -> Signals:
        """The signals of one source."""
        if isinstance(source, Hold):
            return self.read(source.values, hold=True)
        if isinstance(source, Signals):
            return source
        if is_pandas(source, "DataFrame"):
            columns = _columns(source)
            if len(columns) != 1:
                raise DataError(f"the table of {self.name}{self.of} has {len(columns)} columns; give one")
            return self.read(next(iter(columns.values())), hold)
        if is_pandas(source, "Series"):
            source = self._series(source)
        if callable(source):
            return sampled(source, self.first, self.last, f"{self.name}(t)")
        if isinstance(source, tuple):
            return self._own_times(source, hold)
        if isinstance(source, Real):
            return self._number(source)
        values = self._numbers(source)
        if values.shape != self.times.shape:
            raise DataError(
                f"the input {self.name}{self.of} has {_shape(values)} for {len(self.times)} times; give one "
                "value for every row, or give its own times: (times, values)"
            )
        return self._tabulated(self.times, values, hold)

    def _series(self, series: pd.Series) -> Any:
        from odefinder.data.columns import has_times

        own = has_times(series.to_frame(self.name)) or len(series) != len(self.times)
        return OwnTimes(series.index, series) if own else series.to_numpy()

    def _number(self, value: Real) -> Signals:
        try:
            return constant([FINITE.read(value)])
        except Refused:
            message = f"the input {self.name}{self.of} is {shown(value)}; give a finite number"
            raise DataError(message) from None

    def _own_times(self, source: Sequence[Any], hold: bool) -> Signals:
        if len(source) not in (2, 3):
            raise DataError(f"the input {self.name}{self.of} is a tuple of {len(source)}; {FORMS}")
        title = source[2] if len(source) == 3 else "t"
        values = self._numbers(source[1])
        times = read_times_on(self.clock, source[0], title, f"the input {self.name}")
        if times.shape != values.shape:
            raise DataError(
                f"the input {self.name}{self.of} has {_shape(values)} for {len(times)} times of its own; "
                "give one for each"
            )
        if not np.isfinite(times).all():
            raise DataError(f"a time of the input {self.name}{self.of} is missing or infinite; remove it")
        if (np.diff(times) < 0.0).any():
            row = int(np.argmax(np.diff(times) < 0.0)) + 2
            raise DataError(
                f"the times of the input {self.name}{self.of} go back in row {row}; sort them, or give a "
                "list with one entry per trajectory"
            )
        return self._tabulated(times, values, hold)

    def _numbers(self, values: Any) -> Floats:
        """Values as numbers (n,)."""
        array = values if is_pandas(values, "Series") else as_array(values, f"the input {self.name}")
        if getattr(array.dtype, "kind", "O") in "biuf":
            return np.asarray(array, dtype=np.float64)
        import pandas as pd

        from odefinder.data.columns import column_numbers

        if np.ndim(array) != 1:
            raise DataError(f"the input {self.name}{self.of} is not understood; {FORMS}")
        return column_numbers(pd.Series(array), self.name)

    def _tabulated(self, times: Floats, values: Floats, hold: bool) -> Signals:
        """The signal through these points; two values at one time are a jump."""
        if np.isinf(values).any():
            raise DataError(f"the input {self.name}{self.of} is infinite in places; correct these values")
        known = np.isfinite(values) & np.isfinite(times)
        if not known.any():
            raise DataError(f"the input {self.name}{self.of} has no values; fill it in, or leave it out")
        missing = int(np.isnan(values).sum())
        if missing:
            how = "the last known one is held" if hold else "interpolated"
            self.notes.append(
                f"{missing} of {len(values)} values of {self.name}{self.of} are missing: {how}."
            )
        times, values = times[known], values[known]
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
        first = np.flatnonzero(np.diff(times, prepend=-np.inf))  # of those at one time
        last = np.append(first[1:], len(times)) - 1
        knots, before, after = times[first], values[first, None], values[last, None]
        self._check_range(knots, before[0, 0], after[-1, 0], hold)
        if hold:
            return held(knots, after)
        if _in_steps(before[:, 0], after[:, 0]):
            self.notes.append(
                f"{self.name}{self.of} changes in steps, and is interpolated between two rows; if each value "
                f"stays until the next one, say so: Hold(values), or --hold {self.name}."
            )
        return Signals(knots, before, after, np.empty((len(knots), 0)))

    def _check_range(self, knots: Floats, at_first: float, at_last: float, hold: bool) -> None:
        """Say where the input does not cover the data."""
        touching = TOUCHING * (self.last - self.first)
        covered = f"is known from {knots[0]:g} to {knots[-1]:g}"
        data = f"the data{self.of} run from {self.first:g} to {self.last:g}"
        longest = float(np.diff(knots).max()) if hold and len(knots) > 1 else 0.0  # a value holds that long
        if knots[0] > self.last + touching or knots[-1] + longest < self.first - touching:
            raise DataError(
                f"the input {self.name} {covered}, {data}: they have no time in common; check the units of "
                "the times"
            )
        if outside := held_outside(
            (knots[0], knots[-1] + longest), (at_first, at_last), (self.first, self.last)
        ):
            self.notes.append(f"{self.name} {covered}, {data}: {outside}.")


def held_outside(known: tuple[float, float], values: tuple[float, float], asked: tuple[float, float]) -> str:
    """What is done where a signal is asked for at times at which it is not known; empty if there are none."""
    touching = TOUCHING * (asked[1] - asked[0])
    done = []
    if known[0] > asked[0] + touching:
        done.append(f"before, its first value, {values[0]:g}, is held")
    if known[1] < asked[1] - touching:
        done.append(f"after, its last value, {values[1]:g}, is held")
    return "; ".join(done)


def _in_steps(before: Floats, after: Floats) -> bool:
    """Whether a signal stays, jumps from one row to the next, and stays; jumps within a row are meant."""
    moves = np.diff(after) != 0.0
    alone = not (moves[1:] & moves[:-1]).any()
    return bool(moves.any() and alone and moves.mean() < SELDOM and (before == after).all())


def _shape(values: Floats) -> str:
    return f"{len(values)} values" if values.ndim == 1 else f"values of shape {values.shape}"
