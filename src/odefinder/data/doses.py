"""Doses: jumps of states at given times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from odefinder.edge.arrays import numbers
from odefinder.edge.rules import shown
from odefinder.errors import DataError
from odefinder.numerics.signals import Signals


class Dose(NamedTuple):
    """What is added to a state just after a time."""

    time: float
    amount: float
    state: str | int = 1  # its name, or its number counted from 1


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
        f"a dose is added to {shown(state)}, which is not a state; name one of {', '.join(states)}, or give "
        f"its number, from 1 to {len(states)}"
    )


def given_doses(doses: Mapping[str, Any] | None, states: Sequence[str]) -> list[Dose]:
    """The doses of a mapping state -> list of (time, amount)."""
    if doses is not None and not isinstance(doses, Mapping):
        raise DataError(f"doses are given by state: doses={{{states[0]!r}: [(0.0, 100.0), (12.0, 100.0)]}}")
    found = []
    for state, pairs in (doses or {}).items():
        _number(state, states)
        try:
            table = numbers(pairs, "doses").reshape(-1, 2)
        except (DataError, ValueError):  # the second: an odd number of them
            table = np.array([[np.nan, np.nan]])
        if not np.isfinite(table).all():
            raise DataError(
                f"the doses of {state} are not understood; give pairs of time and amount: "
                f"doses={{{state!r}: [(0.0, 100.0), (12.0, 100.0)]}}"
            )
        found += [Dose(time, amount, state) for time, amount in table.tolist()]
    return found
