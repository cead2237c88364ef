"""Sums of variables that stay the same in the data: systems that differ by them cannot be told apart.

A sum is conserved if its slow changes are no larger than what its neighbouring values differ by, which is
noise.  Few points, or much noise, make many sums look so, and hundreds are tried.  So it must also be
steadier than sums of the same variables with any other factors: their share, times the number of sums that
are as simple, is how many would be found by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import chdtri

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.roles import Role
from odefinder.inference.fit.known_settings import FEW_POINTS, sum_text
from odefinder.limits.alarm import alarm_rings

FACTORS = (0, 1, -1, 2)
MOST_STATES = 5
SLOW = 3  # waves of half a period, one period and so on over the data, in which a change would show
REFUSED = 0.001  # chance that a conserved sum is taken for one that changes
ACCIDENTS = 0.05  # sums that may be found by chance, on average
OTHERS = 20_000  # sums of the same variables with factors from half to twice as large, of any sign
NOTABLE = 0.15  # times the largest spread of its terms: a sum that varies by more is not worth a note
EXACT = 1e-6  # share of the spread of its terms that counts as noise, however small that is


@dataclass(frozen=True)
class Changes:
    """What is needed of the data to see how steady any sum of them is, as quadratic forms of its factors."""

    slow: Floats  # (D, D): squares of slow changes
    fast: Floats  # (D, D): variance of the differences between neighbours
    whole: Floats  # (D, D): variance
    freedom: int  # slow changes; 0 if there are too few points

    def steadiness(self, factors: Floats) -> Floats:
        """Slow changes of sums with these factors (n, D), in units of the noise; `freedom` is expected."""
        slow = ((factors @ self.slow) * factors).sum(axis=1)
        fast = ((factors @ self.fast) * factors).sum(axis=1)
        least = (EXACT * np.abs(factors) @ np.sqrt(np.diag(self.whole))) ** 2
        return np.asarray(slow / np.maximum(np.maximum(fast, least), 1e-300))


def conserved_notes(dataset: Dataset) -> list[str]:
    """A sentence for each sum of observed variables that the data conserve."""
    states = [k for k, role in enumerate(dataset.roles) if role == Role.OBSERVED][:MOST_STATES]
    moving = [k for k in states if _moves(dataset, k)]
    changes = changes_of([own[:, moving] for own in dataset.states])
    notes = []
    found: list[list[int]] = []
    for number, factors in enumerate(_factors(len(moving)), 1):
        if alarm_rings():  # remarks have no more time
            break
        row = [0] * dataset.dimension
        for place, factor in zip(moving, factors, strict=True):
            row[place] = factor
        if np.linalg.matrix_rank(np.array([*found, row])) <= len(found):
            continue  # it follows from the others
        if number * chance(factors, changes) <= ACCIDENTS:
            found.append(row)
            notes.append(_sentence(row, dataset))
    return notes


def changes_of(trajectories: Sequence[Floats]) -> Changes:
    """The slow and the fast changes of variables in trajectories (points, D)."""
    dimension = trajectories[0].shape[1]
    slow, fast, whole = np.zeros((3, dimension, dimension))
    points = pairs = freedom = 0
    for states in trajectories:
        own = states[np.isfinite(states).all(axis=1)]
        if len(own) < FEW_POINTS:
            continue
        moments = (np.arange(len(own)) + 0.5) / len(own)
        waves = np.cos(np.pi * np.outer(np.arange(1, SLOW + 1), moments)) * np.sqrt(2.0 / len(own)) @ own
        steps = np.diff(own, 2, axis=0) / np.sqrt(6.0)  # noise has differences of this size
        around = own - own.mean(axis=0)
        slow, fast, whole = slow + waves.T @ waves, fast + steps.T @ steps, whole + around.T @ around
        points, pairs, freedom = points + len(own), pairs + len(steps), freedom + SLOW
    return Changes(slow, fast / max(pairs, 1), whole / max(points, 1), freedom)


def chance(factors: Sequence[int], changes: Changes) -> float:
    """The share of sums of the same variables that are as steady as this one; 1 if it is not conserved."""
    row = np.array(factors, np.float64)
    variances = np.diag(changes.whole) * row**2
    if changes.freedom == 0 or row @ changes.whole @ row >= NOTABLE**2 * variances.max():
        return 1.0
    own = float(changes.steadiness(row[None])[0])
    if own > chdtri(changes.freedom, REFUSED):
        return 1.0
    rng = np.random.default_rng(0)
    size = np.exp(np.log(2.0) * rng.uniform(-1.0, 1.0, (OTHERS, len(row))))
    others = np.where(row != 0.0, size * rng.choice([-1.0, 1.0], size.shape), 0.0)
    # One may be steadier than the noise lets it, by chance or because values were made to add up.
    return float(np.mean(changes.steadiness(others) <= max(own, changes.freedom)))


def _moves(dataset: Dataset, state: int) -> bool:
    values = np.concatenate([states[:, state] for states in dataset.states])
    values = values[np.isfinite(values)]
    return len(values) > 0 and float(np.std(values)) > 1e-9 * float(np.abs(values).max())


def _factors(count: int) -> Iterator[tuple[int, ...]]:
    """Small whole factors of at least two variables, the first of them positive; plain sums come first."""
    rows = [row for row in product(FACTORS, repeat=count) if sum(map(bool, row)) > 1]
    rows.sort(key=lambda row: (set(row) - {0} != {1}, sum(map(abs, row)), sum(factor < 0 for factor in row)))
    for row in rows:
        if next(factor for factor in row if factor) > 0:
            yield row


def _sentence(factors: Sequence[int], dataset: Dataset) -> str:
    text = sum_text(factors, dataset.variables)
    used = np.flatnonzero(factors)
    weights = np.array(factors, np.float64)[used]
    totals = [float(np.nanmean(states[:, used] @ weights)) for states in dataset.states]
    same = max(totals) - min(totals) <= 1e-2 * max(max(map(abs, totals)), 1e-300)
    advice = f'If that is a law, give conserve="{text}" (--conserve).'
    if same:
        return (
            f"{text} = {np.mean(totals):.4g} in these data: equations that differ by it cannot be told "
            f"apart. {advice}"
        )
    return f"{text} stays the same in each trajectory of these data. {advice}"
