"""Doses in pharmacometric tables: the columns amt, rate, cmt, evid, mdv, addl and ii.

A row with amt > 0 is a dose at its time.  With a rate, it is an infusion: an input, called `rate`, that has
this value for a time of amt / rate.  cmt says which state a dose is added to, by name or counted from 1;
without it, that is the first one.  addl more doses follow, ii apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import Dose
from odefinder.errors import DataError
from odefinder.numerics.signals import Signals

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

AMOUNT, RATE = "amt", "rate"
_PARTS = (AMOUNT, RATE, "cmt", "evid", "mdv", "addl", "ii")
ROUNDED = 1e-3  # of an infusion: a shorter gap to the next one comes from rounded amounts
MOST_DOSES = 10_000  # of one trajectory: a typo in addl must not fill the memory


class Dosing(NamedTuple):
    """The columns of doses in a table, (n,) each."""

    amounts: Floats
    rates: Floats
    states: Sequence[str | int]
    more: Floats  # how many doses follow
    interval: Floats
    unseen: NDArray[np.bool_]  # rows that are not observations

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
        events = self._events(times)
        starts = np.array([time for _, time in events])
        for row, time in events:
            rate = self.rates[row]
            if rate > 0.0:
                lasts = self.amounts[row] / rate
                next_start = starts[np.abs(starts - time - lasts).argmin()]
                seamless = abs(next_start - time - lasts) <= ROUNDED * lasts
                end = float(next_start) if seamless else time + lasts
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
    from odefinder.data.columns import column_numbers

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
    except (OverflowError, TypeError, ValueError):
        return 1 if value is None else str(value).strip()
