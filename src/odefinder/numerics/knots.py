"""Signals put together: their values at any time, several as one, without the knots that change nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.numerics.signals import NO_SIGNALS, Signals

Floats = NDArray[np.float64]
CLOSEST = 1e-12  # of the whole span: knots nearer to each other than this are one
NOTHING = 1e-12  # of a signal's size: smaller jumps, and bends that lead no farther astray, are rounding


def values_at(signals: Signals, times: Floats, *, before: bool = False) -> Floats:
    """The signals (n, I) at these times; at a jump, just after it (or just before it)."""
    knots = signals.knots
    if len(knots) == 0:
        return np.empty((len(times), 0))
    right = np.searchsorted(knots, times, "left" if before else "right")  # the next knot
    inside = (right > 0) & (right < len(knots))
    here, there = np.clip(right - 1, 0, None), np.clip(right, None, len(knots) - 1)
    length = np.where(inside, knots[there] - knots[here], 1.0)
    share = np.where(inside, (times - knots[here]) / length, 0.0)[:, None]
    start = np.where((right == 0)[:, None], signals.before[:1], signals.after[here])
    stop = signals.before[there]
    return np.where(share == 1.0, stop, start + share * (stop - start))


def values_within(signals: Signals, start: float, end: float) -> Floats:
    """All values (n, I) that the signals take at the ends of a time span and at knots between them."""
    inside = signals.knots[(signals.knots > start) & (signals.knots < end)]
    times = np.concatenate([[start], inside, [end]])
    return np.concatenate([values_at(signals, times[1:], before=True), values_at(signals, times[:-1])])


def merged(parts: Sequence[Signals]) -> Signals:
    """One record with the signals of all parts, side by side, on the knots of all; doses are added up."""
    parts = [part for part in parts if len(part.knots)]
    if not parts:
        return NO_SIGNALS
    times = np.unique(np.concatenate([part.knots for part in parts]))
    apart = np.diff(times, prepend=-np.inf) > CLOSEST * (times[-1] - times[0])
    knots = times[apart]
    parts = [_snapped(part, knots) for part in parts]
    doses = np.zeros((len(knots), max(part.doses.shape[1] for part in parts)))
    for part in parts:
        if part.doses.shape[1]:
            doses[np.searchsorted(knots, part.knots)] += part.doses
    before = np.hstack([values_at(part, knots, before=True) for part in parts])
    after = np.hstack([values_at(part, knots) for part in parts])
    return without_idle_knots(Signals(knots, before, after, doses))


def spliced(first: Signals, then: Signals, time: float) -> Signals:
    """The first signals up to a time, and the others after it; doses at that time are those of the first."""
    early, late = first.knots < time, then.knots > time
    at = np.array([time])
    doses = np.zeros((int(early.sum()) + 1 + int(late.sum()), max(first.doses.shape[1], then.doses.shape[1])))
    if first.doses.shape[1]:
        doses[: early.sum()] = first.doses[early]
        doses[early.sum()] = first.doses[first.knots == time].sum(axis=0)
    if then.doses.shape[1]:
        doses[early.sum() + 1 :] = then.doses[late]
    return without_idle_knots(
        Signals(
            np.concatenate([first.knots[early], at, then.knots[late]]),
            np.concatenate([first.before[early], values_at(first, at, before=True), then.before[late]]),
            np.concatenate([first.after[early], values_at(then, at), then.after[late]]),
            doses,
        )
    )


def _snapped(part: Signals, knots: Floats) -> Signals:
    """The part with its knots moved to these, each to the nearest one on its left."""
    place = np.searchsorted(knots, part.knots, "right") - 1
    first = np.flatnonzero(np.diff(place, prepend=-1))  # of those that now coincide
    last = np.append(first[1:], len(place)) - 1
    doses = np.add.reduceat(part.doses, first) if part.doses.shape[1] else part.doses[first]
    return Signals(knots[place[first]], part.before[first], part.after[last], doses)


def without_idle_knots(signals: Signals) -> Signals:
    """The same signals without the knots at which nothing bends, jumps or is added: each costs a step."""
    knots, before, after, doses = signals
    if len(knots) < 2:
        return signals
    size = np.abs(np.concatenate([before, after])).max(axis=0, initial=0.0)
    jumps = np.abs(after - before) > NOTHING * size
    outside = np.zeros((1, before.shape[1]))
    with np.errstate(over="ignore"):
        slopes = (before[1:] - after[:-1]) / np.diff(knots)[:, None]
        bends = np.abs(np.diff(np.concatenate([outside, slopes, outside]), axis=0))
        wrong = bends * (knots[-1] - knots[0]) > NOTHING * size
    used = (jumps | wrong).any(axis=1) | (doses != 0.0).any(axis=1)
    if not used.any():
        used[0] = True
    return Signals(knots[used], before[used], after[used], doses[used])
