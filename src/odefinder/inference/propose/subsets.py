"""Few columns that explain a target: forward selection with swaps, and backward elimination.

Orthogonal least squares: with an orthonormal basis of the chosen columns, what any further column would gain,
alone or in exchange for a chosen one, follows from one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from odefinder.data.observations import Floats, Ints

COLLINEAR = 1e-9  # a column with a smaller share of its square outside the chosen ones counts as their sum
MAX_SWAPS = 3


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
    along_left, along_right = columns[left] @ target, columns[right] @ target
    angle = columns[left] @ columns[right].T
    outside = 1.0 - angle**2
    partner = (along_right - angle * along_left[:, None]) ** 2
    partner = np.where(outside > COLLINEAR, partner / np.maximum(outside, COLLINEAR), 0.0)
    return along_left**2 + partner.max(axis=1)


def _best_swap(columns: Floats, target: Floats, chosen: list[int], fixed: int) -> tuple[int, int] | None:
    """A position in `chosen` and a column that would be better there; the first `fixed` ones stay."""
    basis, triangle = np.linalg.qr(columns[chosen].T)
    if np.abs(np.diag(triangle)).min() < 1e-6:
        return None
    rest = target - basis @ (basis.T @ target)
    inside = columns @ basis
    # The direction that is lost without each chosen column: orthogonal to all the others.
    lost = np.linalg.inv(triangle).T
    lost /= np.linalg.norm(lost, axis=0)
    share = lost.T @ (basis.T @ target)  # (k,): of the target along it
    overlap = inside @ lost  # (F, k)
    outside = 1.0 - (inside**2).sum(axis=1)[:, None] + overlap**2
    along = (columns @ rest)[:, None] + overlap * share
    gain = np.where(outside > COLLINEAR, along**2 / np.maximum(outside, COLLINEAR), 0.0) - share**2
    gain[:, :fixed] = -np.inf
    column, position = np.unravel_index(int(np.argmax(gain)), gain.shape)
    return (int(position), int(column)) if gain[column, position] > 1e-3 * (rest @ rest) else None


def grow(columns: Floats, target: Floats, limit: int, start: Sequence[int] = ()) -> Iterator[list[int]]:
    """Sets with one more column each time: the best that adding one and swapping find; `start` stays."""
    chosen = list(start)
    smallest = 1e-24 * float(target @ target)
    while len(chosen) < min(limit, len(columns), len(target) - 2):
        gain = additions(columns, target, chosen) if chosen else (columns @ target) ** 2
        best = int(np.argmax(gain))
        if gain[best] <= smallest:
            return
        chosen.append(best)
        for _ in range(MAX_SWAPS):
            swap = _best_swap(columns, target, chosen, len(start)) if len(chosen) > 1 else None
            if swap is None:
                break
            chosen[swap[0]] = swap[1]
        yield list(chosen)


def shrink(columns: Floats, target: Floats, chosen: Sequence[int] | Ints) -> Iterator[list[int]]:
    """Sets with one column less each time: the one whose loss raises the sum of squares least is dropped."""
    left = [int(c) for c in chosen]
    while len(left) > 1:
        basis, triangle = np.linalg.qr(columns[left].T)
        diagonal = np.abs(np.diag(triangle))
        if diagonal.min() < 1e-9:
            del left[int(np.argmin(diagonal))]
            continue
        lost = np.linalg.inv(triangle).T
        share = (lost.T @ (basis.T @ target)) ** 2 / (lost**2).sum(axis=0)
        del left[int(np.argmin(share))]
        yield list(left)
