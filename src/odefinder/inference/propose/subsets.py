"""Few columns that explain a target: forward selection with swaps, and backward elimination.

Orthogonal least squares: with an orthonormal basis of the chosen columns, what any further column would gain,
alone or in exchange for a chosen one, follows from their inner products with the basis.  Columns have unit
length, or are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints
from odefinder.limits.alarm import alarm_rings, rings

COLLINEAR = 1e-9  # a column with a smaller share of its square outside the chosen ones counts as their sum
DEPENDENT = 1e-12  # length outside the chosen columns below which nothing is left of one
MAX_SWAPS = 3
SWAPPABLE = 1e-6  # the least length of a chosen column outside those before it: below, swaps mean nothing
WORTHWHILE = 1e-3  # share of what is left that a swap must gain


def least_squares(columns: Floats, target: Floats, chosen: Sequence[int]) -> tuple[Floats, float]:
    """Coefficients of the chosen rows of `columns` (F, N), and the sum of squares that is left."""
    if len(chosen) == 0:
        return np.empty(0), float(target @ target)
    basis, triangle = np.linalg.qr(columns[list(chosen)].T)
    rest = target - basis @ (basis.T @ target)
    coefficients = np.linalg.lstsq(triangle, basis.T @ target, rcond=1e-12)[0]
    return coefficients, float(rest @ rest)


def additions(columns: Floats, target: Floats, chosen: Sequence[int]) -> Floats:
    """By how much each column (F,), added to the chosen ones, would lower the sum of squares."""
    basis = np.linalg.qr(columns[list(chosen)].T)[0]
    rest = target - basis @ (basis.T @ target)
    outside = 1.0 - ((columns @ basis) ** 2).sum(axis=1)
    return np.where(outside > COLLINEAR, (columns @ rest) ** 2 / np.maximum(outside, COLLINEAR), 0.0)


def best_pairs(columns: Floats, target: Floats, left: Ints, right: Ints) -> Floats:
    """How much of the target each column of `left` explains together with its best partner in `right`."""
    angle = columns[left] @ columns[right].T
    return _pair_gains(columns[left] @ target, columns[right] @ target, angle).max(axis=1)


def every_pair(columns: Floats, target: Floats, count: int) -> list[tuple[int, int]]:
    """The pairs of columns that explain most of the target, all of them compared."""
    along = columns @ target
    gain = _pair_gains(along, along, columns @ columns.T)
    first, second = np.triu_indices(len(columns), 1)
    best = np.argsort(-gain[first, second], kind="stable")[:count]
    return list(zip(first[best].tolist(), second[best].tolist(), strict=True))


def _pair_gains(along: Floats, others: Floats, angle: Floats) -> Floats:
    """How much of the target pairs of columns explain (F, G).

    along (F,), others (G,): inner products of both kinds with the target; angle (F, G): with each other.
    """
    outside = 1.0 - angle**2
    partner = (others - angle * along[:, None]) ** 2
    return along[:, None] ** 2 + np.where(outside > COLLINEAR, partner / np.maximum(outside, COLLINEAR), 0.0)


def shrink(columns: Floats, target: Floats, chosen: Sequence[int] | Ints) -> Iterator[list[int]]:
    """Sets with one column less each time: the one whose loss raises the sum of squares least is dropped."""
    left = [int(c) for c in chosen]
    while len(left) > 1 and not alarm_rings():
        basis, triangle = np.linalg.qr(columns[left].T)
        diagonal = np.abs(np.diag(triangle))
        if diagonal.min() < 1e-9:
            del left[int(np.argmin(diagonal))]
            continue
        lost = np.linalg.inv(triangle).T
        share = (lost.T @ (basis.T @ target)) ** 2 / (lost**2).sum(axis=0)
        del left[int(np.argmin(share))]
        yield list(left)


def grow(columns: Floats, target: Floats, limit: int, start: Sequence[int] = ()) -> Iterator[list[int]]:
    """Sets with one more column each time: the best that adding one and swapping find; `start` stays."""
    for chosen, _ in grown(columns, target, limit, start):
        yield chosen


def grown(
    columns: Floats, target: Floats, limit: int, start: Sequence[int] = ()
) -> Iterator[tuple[list[int], float]]:
    """The sets of `grow`, each with the sum of squares that it leaves."""
    limit = min(limit, len(columns), len(target) - 2)
    if limit <= len(start):
        return
    sets, left = selection(
        np.ascontiguousarray(columns), np.ascontiguousarray(target), limit, np.array(start, np.int64)
    )
    for size, rest in enumerate(left.tolist(), len(start) + 1):
        if rest < 0.0:
            return
        yield sets[size - 1, :size].tolist(), rest


def square_sum(columns: Floats, target: Floats, chosen: Sequence[int]) -> float:
    """The sum of squares that the chosen columns leave."""
    return float(leftover(columns, target, np.array(chosen, np.int64)))


# ---------------------------------------------------------------- compiled


@compiled
def _inner(one: Floats, other: Floats) -> float:
    total = 0.0
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


@compiled
def _orthogonal(column: Floats, basis: Floats, place: int, along: Floats) -> float:
    """basis[place] becomes what the first vectors of the basis lack of a column, of unit length.

    Returns the length before; the inner products with those vectors are added to `along`.
    """
    own = basis[place]
    for i in range(len(own)):
        own[i] = column[i]
    for _ in range(2):  # once more, against rounding errors
        for k in range(place):
            product = _inner(basis[k], own)
            along[k] += product
            for i in range(len(own)):
                own[i] -= product * basis[k, i]
    length = np.sqrt(_inner(own, own))
    factor = 1.0 / length if length > DEPENDENT else 0.0
    for i in range(len(own)):
        own[i] *= factor
    return length


@compiled
def _extend(
    columns: Floats, chosen: Ints, place: int, basis: Floats, triangle: Floats, inside: Floats
) -> None:
    """The basis, its triangle and its products with all columns, up to and with the column at a place."""
    for k in range(len(triangle)):
        triangle[k, place] = 0.0
    length = _orthogonal(columns[chosen[place]], basis, place, triangle[:, place])
    triangle[place, place] = length
    inside[place] = np.dot(columns, basis[place])


@compiled
def _rest(target: Floats, basis: Floats, size: int, rest: Floats) -> float:
    """What the basis leaves of the target, and its sum of squares."""
    for i in range(len(target)):
        rest[i] = target[i]
    for k in range(size):
        product = _inner(basis[k], rest)
        for i in range(len(rest)):
            rest[i] -= product * basis[k, i]
    return _inner(rest, rest)


@compiled
def _best_addition(along: Floats, inside: Floats, size: int) -> tuple[int, float]:
    """The column that would lower the sum of squares most, and by how much."""
    best, most = 0, -1.0
    for f in range(len(along)):
        outside = 1.0
        for k in range(size):
            outside -= inside[k, f] ** 2
        gain = along[f] ** 2 / outside if outside > COLLINEAR else 0.0
        if gain > most:
            best, most = f, gain
    return best, most


@compiled
def _lost(triangle: Floats, size: int, lost: Floats) -> None:
    """lost[:, p]: the direction, in the basis, that is lost without column p: orthogonal to all others."""
    for p in range(size):  # row p of the inverse of the triangle
        total = 0.0
        for k in range(size):
            value = 1.0 if k == p else 0.0
            for j in range(p, k):
                value -= lost[j, p] * triangle[j, k]
            lost[k, p] = value / triangle[k, k] if k >= p else 0.0
            total += lost[k, p] ** 2
        for k in range(size):
            lost[k, p] /= np.sqrt(total)


@compiled
def _best_swap(
    along: Floats, inside: Floats, lost: Floats, explained: Floats, size: int, fixed: int
) -> tuple[int, int, float]:
    """A position, a column that would be best there, and the gain; the first `fixed` positions stay."""
    position, column, most = -1, -1, -np.inf
    for f in range(len(along)):
        square = 0.0
        for k in range(size):
            square += inside[k, f] ** 2
        for p in range(fixed, size):
            overlap = share = 0.0
            for k in range(size):
                overlap += inside[k, f] * lost[k, p]
                share += explained[k] * lost[k, p]
            outside = 1.0 - square + overlap**2
            gain = (along[f] + overlap * share) ** 2 / outside if outside > COLLINEAR else 0.0
            if gain - share**2 > most:
                position, column, most = p, f, gain - share**2
    return position, column, most


@compiled
def selection(columns: Floats, target: Floats, limit: int, start: Ints) -> tuple[Ints, Floats]:
    """Sets (limit, limit), the one with k columns in row k - 1, and what sets larger than `start` leave.

    That is -1 from where no column gains anything.
    """
    sets = np.full((limit, limit), -1)
    left = np.full(limit - len(start), -1.0)
    chosen = np.zeros(limit, np.int64)
    basis, triangle = np.zeros((limit, len(target))), np.zeros((limit, limit))
    inside, lost, explained = np.zeros((limit, len(columns))), np.zeros((limit, limit)), np.zeros(limit)
    rest = np.zeros(len(target))
    for place in range(len(start)):
        chosen[place] = start[place]
        _extend(columns, chosen, place, basis, triangle, inside)
    smallest = 1e-24 * _inner(target, target)
    square = _rest(target, basis, len(start), rest)
    for size in range(len(start), limit):
        best, gain = _best_addition(np.dot(columns, rest), inside, size)
        if not gain > smallest or rings():
            break
        chosen[size] = best
        _extend(columns, chosen, size, basis, triangle, inside)
        square = _rest(target, basis, size + 1, rest)
        for _ in range(MAX_SWAPS if size > 0 else 0):
            least = np.inf
            for k in range(size + 1):
                least = min(least, triangle[k, k])
                explained[k] = _inner(basis[k], target)
            if least < SWAPPABLE or rings():
                break
            _lost(triangle, size + 1, lost)
            position, column, gain = _best_swap(
                np.dot(columns, rest), inside, lost, explained, size + 1, len(start)
            )
            if not gain > WORTHWHILE * square:
                break
            chosen[position] = column
            for place in range(position, size + 1):
                _extend(columns, chosen, place, basis, triangle, inside)
            square = _rest(target, basis, size + 1, rest)
        for k in range(size + 1):
            sets[size, k] = chosen[k]
        left[size - len(start)] = square
    return sets, left


@compiled
def leftover(columns: Floats, target: Floats, chosen: Ints) -> float:
    """See `square_sum`."""
    basis, along, rest = np.zeros((len(chosen), len(target))), np.zeros(len(chosen)), np.zeros(len(target))
    for place in range(len(chosen)):
        _orthogonal(columns[chosen[place]], basis, place, along)
    return _rest(target, basis, len(chosen), rest)
