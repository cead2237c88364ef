"""Sums of variables that stay the same in the data: systems that differ by them cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.roles import Role
from odefinder.inference.fit.known_settings import sum_drift
from odefinder.limits.alarm import alarm_rings

FACTORS = (0, 1, -1, 2)
MOST_STATES = 5
SAME = 2.0  # times the noise: a sum that drifts by more is not conserved
EXACT = 1e-6  # share of the spread of its terms: so small a drift is no accident
NOTABLE = 0.05  # share of the spread: the sum must be this much steadier than its terms


def conserved_notes(dataset: Dataset) -> list[str]:
    """A sentence for each sum of observed variables that the data conserve."""
    states = [k for k, role in enumerate(dataset.roles) if role == Role.OBSERVED][:MOST_STATES]
    moving = [k for k in states if _moves(dataset, k)]
    notes = []
    found: list[list[int]] = []
    for factors in _factors(len(moving)):
        if alarm_rings():  # remarks have no more time
            break
        row = [0] * dataset.dimension
        for place, factor in zip(moving, factors, strict=True):
            row[place] = factor
        if np.linalg.matrix_rank(np.array([*found, row])) <= len(found):
            continue  # it follows from the others
        drift, noise, spread = sum_drift(row, dataset)
        if spread > 0.0 and drift <= max(SAME * noise, EXACT * spread) and drift < NOTABLE * spread:
            found.append(row)
            notes.append(_sentence(row, dataset))
    return notes


def _moves(dataset: Dataset, state: int) -> bool:
    values = np.concatenate([states[:, state] for states in dataset.states])
    values = values[np.isfinite(values)]
    return len(values) > 0 and float(np.std(values)) > 1e-9 * float(np.abs(values).max())


def _factors(count: int) -> Iterator[tuple[int, ...]]:
    """Small whole factors of at least two variables, the simplest first; the first of them is positive."""
    rows = [row for row in product(FACTORS, repeat=count) if sum(map(bool, row)) > 1]
    rows.sort(key=lambda row: (sum(map(abs, row)), sum(factor < 0 for factor in row)))
    for row in rows:
        if next(factor for factor in row if factor) > 0:
            yield row


def _sentence(factors: Sequence[int], dataset: Dataset) -> str:
    text = ""
    for name, factor in zip(dataset.variables, factors, strict=True):
        if factor:
            sign = (" - " if factor < 0 else " + ") if text else ""
            text += sign + (f"{abs(factor)}*{name}" if abs(factor) > 1 else name)
    used = np.flatnonzero(factors)
    weights = np.array(factors, np.float64)[used]
    totals = [float(np.nanmean(states[:, used] @ weights)) for states in dataset.states]
    same = max(totals) - min(totals) <= 1e-2 * max(max(map(abs, totals)), 1e-300)
    if same:
        return (
            f"{text} = {np.mean(totals):.4g} in these data: equations that differ by it cannot be told apart."
        )
    return f"{text} stays the same in each trajectory of these data."
