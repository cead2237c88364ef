"""Doses: jumps of states, from pharmacometric tables (amt, rate, cmt, ...) or as (time, amount).

A row with amt > 0 is a dose at its time.  With a rate, it is an infusion: an input, called `rate`, that has
this value for a time of amt / rate.  cmt says which state a dose is added to, by name or counted from 1;
without it, that is the first one.  addl more doses follow, ii apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import DataError
from odefinder.numerics.signals import Signals

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

AMOUNT, RATE = "amt", "rate"
_PARTS = (AMOUNT, RATE, "cmt", "evid", "mdv", "addl", "ii")
MOST_DOSES = 10_000  # of one trajectory: a typo in addl must not fill the memory


class Dose(NamedTuple):
    """What is added to a state just after a time."""

    time: float
    amount: float
    state: str | int = 1  # its name, or its number counted from 1


class Dosing(NamedTuple):
    """The columns of doses in a table, (n,) each."""

    amounts: Floats
    rates: Floats
    states: Sequence[str | int]
    more: Floats  # how many doses follow
    interval: Floats
    unseen: NDArray[np.bool_]  # rows that are no observations

    def rows(self, rows: NDArray[np.int64]) -> Dosing:
        """Those of these rows."""
        states = [self.states[row] for row in rows]
        return Dosing(
            self.amounts[rows], self.rates[rows], states, self.more[rows], self.interval[rows],
            self.unseen[rows],
        )  # fmt: skip

    def doses(self, times: Floats) -> tuple[Dose, ...]:
        """The doses that are given at once."""
        return tuple(
            Dose(time, self.amounts[row], self.states[row])
            for row, time in self._events(times)
            if self.rates[row] == 0.0
        )

    def infusions(self, times: Floats) -> Signals | None:
        """The rate of infusion as a signal, if there is any."""
        changes = dict[float, float]()
        for row, time in self._events(times):
            rate = self.rates[row]
            if rate > 0.0:
                end = time + self.amounts[row] / rate
                changes[time] = changes.get(time, 0.0) + rate
                changes[end] = changes.get(end, 0.0) - rate
        if not changes:
            return None
        knots = np.array(sorted(changes))
        after = np.cumsum([changes[knot] for knot in knots])
        after[np.abs(after) < 1e-12 * np.abs(after).max()] = 0.0
        before = np.concatenate([[0.0], after[:-1]])
        return Signals(knots, before[:, None], after[:, None], np.empty((len(knots), 0)))

    def _events(self, times: Floats) -> list[tuple[int, float]]:
        events = []
        for row in np.flatnonzero(self.amounts > 0.0).tolist():
            if not np.isfinite(times[row]):
                raise DataError("the time of a dose is missing; fill it in, or remove the row")
            repeats = np.arange(int(self.more[row]) + 1)
            events += [(row, float(time)) for time in times[row] + repeats * self.interval[row]]
            if len(events) > MOST_DOSES:
                raise DataError(f"there are more than {MOST_DOSES} doses; check the column addl")
        return events


def dosing_columns(frame: pd.DataFrame) -> dict[str, Any]:
    """The columns of a table that describe doses, by their part: amt, rate, cmt, evid, mdv, addl, ii."""
    by_name = {str(name).strip().lower(): name for name in frame.columns}
    return {part: by_name[part] for part in _PARTS if part in by_name}


def read_dosing(frame: pd.DataFrame) -> Dosing:
    """The doses in a table with a column `amt`."""
    from odefinder.data.tables import column_numbers

    columns = dosing_columns(frame)

    def numbers(part: str) -> Floats:
        if part not in columns:
            return np.zeros(len(frame))
        values = np.nan_to_num(column_numbers(frame[columns[part]], str(columns[part])), nan=0.0)
        if not np.isfinite(values).all() or (values < 0.0).any():
            raise DataError(f"the column {columns[part]!r} has negative or infinite values; correct them")
        return values

    states: list[str | int] = [1] * len(frame)
    if "cmt" in columns:
        states = [_state(value) for value in frame[columns["cmt"]].tolist()]
    return Dosing(
        numbers(AMOUNT), numbers(RATE), states, numbers("addl"), numbers("ii"),
        (numbers("evid") > 0.0) | (numbers("mdv") > 0.0),
    )  # fmt: skip


def _state(value: Any) -> str | int:
    """A name or a number of a state."""
    try:
        return int(float(value)) if np.isfinite(float(value)) else 1
    except (TypeError, ValueError):
        return 1 if value is None else str(value).strip()


def dose_signals(doses: Sequence[Dose], states: Sequence[str]) -> Signals:
    """The doses as jumps of these states, and no input."""
    times = np.array([dose.time for dose in doses], dtype=np.float64)
    knots, place = np.unique(times, return_inverse=True)
    jumps = np.zeros((len(knots), len(states)))
    for dose, knot in zip(doses, place, strict=True):
        jumps[knot, _number(dose.state, states)] += dose.amount
    nothing = np.empty((len(knots), 0))
    return Signals(knots, nothing, nothing, jumps)


def _number(state: str | int, states: Sequence[str]) -> int:
    if isinstance(state, str) and state in states:
        return list(states).index(state)
    if isinstance(state, int) and 1 <= state <= len(states):
        return state - 1
    raise DataError(
        f"a dose is added to {state!r}, which is no state; name one of {', '.join(states)}, or give its "
        f"number, from 1 to {len(states)}"
    )


def given_doses(doses: Mapping[str, Any] | None, states: Sequence[str]) -> list[Dose]:
    """The doses of a mapping state -> list of (time, amount)."""
    found = []
    for state, pairs in (doses or {}).items():
        _number(state, states)
        table = np.asarray(pairs, dtype=object)
        try:
            numbers = np.array(table, dtype=np.float64).reshape(-1, 2)
        except (TypeError, ValueError):
            numbers = np.array([[np.nan, np.nan]])
        if not np.isfinite(numbers).all():
            raise DataError(
                f"the doses of {state} are not understood; give pairs of time and amount: "
                f"doses={{{state!r}: [(0.0, 100.0), (12.0, 100.0)]}}"
            )
        found += [Dose(float(time), float(amount), state) for time, amount in numbers]
    return found
