"""A function u(t) -> Signals: short lines where it bends, knots where it jumps.

On every piece the signal is the line that is best in the mean, not the one through the ends.  Its error is
orthogonal to lines, so what a smooth system makes of it shrinks with the fourth power of a piece's length,
and a tenth of the pieces is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import DataError
from odefinder.numerics.knots import without_idle_knots
from odefinder.numerics.signals import Signals

Floats = NDArray[np.float64]

TOLERANCE = 5e-4  # error of a piece, relative to the range: a forced Duffing oscillator is right to 1e-5
COARSE = 64  # pieces to begin with: what happens between two of their points is not seen
MOST_EVALUATIONS = 200_000
SHORTEST = 1e-9  # of the span: pieces are not divided further
JUMP_WIDTH = 1e-13  # of the span: how exactly jumps are found
NOT_SMALLER = 0.6  # half a piece has a quarter of its error, at a bend half of it, at a jump all of it

# Gauss and Legendre's three points on [-1, 1], and their weights.
_PLACES = np.array([-np.sqrt(0.6), 0.0, np.sqrt(0.6)])
_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class _Piece(NamedTuple):
    """A line from one time to another."""

    start: float
    end: float
    first: Floats  # (I,)
    last: Floats


class _Function:
    """u(t) with its answers checked and counted."""

    def __init__(self, function: Callable[[float], Any], name: str, width: int):
        self.function, self.name, self.width = function, name, width
        self.evaluations = 0

    def __call__(self, time: float) -> Floats:
        self.evaluations += 1
        if self.evaluations > MOST_EVALUATIONS:
            raise DataError(
                f"{self.name} changes too fast to be followed: {MOST_EVALUATIONS} evaluations were not "
                "enough. If it is noisy, give its values as an array instead of a function; if it is fast, "
                "take a shorter time"
            )
        values = called(self.function, time, self.name)
        if values.shape != (self.width,):
            raise DataError(
                f"{self.name} gives {len(values)} values at t = {time:g}, and {self.width} elsewhere; give "
                "the same number at every time"
            )
        if not np.isfinite(values).all():
            raise DataError(
                f"{self.name} is not finite at t = {time:g}; it must have a value at every time of the data"
            )
        return values


def called(function: Callable[[float], Any], time: float, name: str) -> Floats:
    """What the function gives at a time, as an array (I,)."""
    try:
        values = np.asarray(function(float(time)), dtype=np.float64)
    except Exception as error:  # whatever a user's function may raise
        kind = type(error).__name__
        raise DataError(f"{name} fails at t = {time:g} ({kind}: {error}); it must take one number") from error
    if values.ndim > 1 or values.size == 0:
        raise DataError(f"{name} gives an array of shape {values.shape}; it must give one number per input")
    return np.atleast_1d(values)


def sampled(function: Callable[[float], Any], start: float, end: float, name: str = "the input") -> Signals:
    """The signals of a function of time between two times; beyond them, its values there are held."""
    width = len(called(function, start, name))
    u = _Function(function, name, width)
    if not end > start:
        values = u(start)[None]
        return Signals(np.array([start]), values, values.copy(), np.empty((1, 0)))
    edges = np.linspace(start, end, COARSE + 1)
    at_edges = [u(time) for time in edges]
    size = np.ptp(at_edges, axis=0)
    size = np.where(size > 0.0, size, np.maximum(np.abs(at_edges[0]), 1e-300))
    sampler = _Sampler(u, size, end - start)
    pieces = [
        piece
        for k in range(COARSE)
        for piece in sampler.pieces(edges[k], edges[k + 1], at_edges[k], at_edges[k + 1], np.inf)
    ]
    knots = np.array([*(piece.start for piece in pieces), pieces[-1].end])
    before = np.array([pieces[0].first, *(piece.last for piece in pieces)])
    after = np.array([*(piece.first for piece in pieces), pieces[-1].last])
    return without_idle_knots(Signals(knots, before, after, np.empty((len(knots), 0))))


class _Sampler:
    """Divides until every piece is nearly a line."""

    def __init__(self, u: _Function, size: Floats, span: float):
        self.u, self.size, self.span = u, size, span

    def pieces(self, start: float, end: float, first: Floats, last: Floats, above: float) -> Iterator[_Piece]:
        """The pieces between two times; `above` is the error of the piece that this one was a part of."""
        middle, half = 0.5 * (start + end), 0.5 * (end - start)
        times = [start, *(middle + half * _PLACES).tolist(), end]
        values = np.array([first, *(self.u(time) for time in times[1:-1]), last])
        mean = _WEIGHTS @ values[1:-1]
        slope = 3.0 * (_WEIGHTS * _PLACES) @ values[1:-1]
        line = mean + np.array([-1.0, *_PLACES, 1.0])[:, None] * slope
        error = float((np.abs(values - line) / self.size).max())
        if error <= TOLERANCE or end - start < SHORTEST * self.span:
            yield _Piece(start, end, mean - slope, mean + slope)
            return
        jump = self._jump(times, values) if error > NOT_SMALLER * above else None
        if jump is None:
            at_middle = values[2]
            yield from self.pieces(start, middle, first, at_middle, error)
            yield from self.pieces(middle, end, at_middle, last, error)
            return
        left, right, before, after = jump
        if left > start:
            yield from self.pieces(start, left, first, before, np.inf)
        if right < end:
            yield from self.pieces(right, end, after, last, np.inf)

    def _jump(self, times: list[float], values: Floats) -> tuple[float, float, Floats, Floats] | None:
        """The last time before a jump and the first one after it, with the values there, if there is one."""
        changes = np.abs(np.diff(values, axis=0) / self.size).max(axis=1)
        k = int(changes.argmax())
        left, right, before, after = times[k], times[k + 1], values[k], values[k + 1]
        while right - left > JUMP_WIDTH * self.span:
            middle = 0.5 * (left + right)
            if not left < middle < right:
                break
            between = self.u(middle)
            if self._change(before, between) > self._change(between, after):
                right, after = middle, between
            else:
                left, before = middle, between
        remains = self._change(before, after)
        return (left, right, before, after) if remains > max(TOLERANCE, 0.5 * changes[k]) else None

    def _change(self, one: Floats, other: Floats) -> float:
        return float((np.abs(other - one) / self.size).max())
