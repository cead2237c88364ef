"""Replicates: several measurements at one time -> their mean, and its standard error from their spread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST = 3  # degrees of freedom from which the spread says something about the noise


class Averaged(NamedTuple):
    """One row for every time."""

    times: Floats  # (n,)
    states: Floats  # (n, D)
    errors: Floats  # (n, D): standard errors of the means, NaN where they are not known


def average_replicates(times: Floats, states: Floats, errors: Floats | None) -> Averaged:
    """Means at each time, which must be sorted; given errors win over those that the spread suggests."""
    instants, place = np.unique(times, return_inverse=True)
    shape = (len(instants), states.shape[1])
    known = np.isfinite(states)
    counts, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    np.add.at(counts, place, known)
    np.add.at(sums, place, np.where(known, states, 0.0))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = sums / counts
        np.add.at(squares, place, np.where(known, states - means[place], 0.0) ** 2)
        spread = np.column_stack(
            [_noise(*column) for column in zip(means.T, squares.T, counts.T, strict=True)]
        )
        found = spread / np.sqrt(counts)
        if errors is not None:
            given = np.zeros(shape)
            np.add.at(given, place, np.where(known, errors**2, 0.0))  # NaN if one of them is not known
            given = np.where(counts > 0, np.sqrt(given) / counts, np.nan)
            found = np.where(np.isfinite(given), given, found)
    return Averaged(instants, means, found)


def _noise(means: Floats, squares: Floats, counts: Floats) -> Floats:
    """The noise of one measurement at every time: constant or proportional to the mean, the likelier one.

    Two or three replicates say little about their own time, so all times are pooled.
    """
    freedom = np.maximum(counts - 1.0, 0.0)
    several = freedom > 0.0
    unknown = np.full(len(means), np.nan)
    if freedom.sum() < LEAST or not squares[several].any():
        return unknown
    constant = np.full(len(means), np.sqrt(squares[several].sum() / freedom.sum()))
    sizes = np.abs(means)
    if not (sizes[several] > 0.0).all():
        return constant
    proportional = sizes * np.sqrt((squares[several] / sizes[several] ** 2).sum() / freedom.sum())
    # Both fit their own scale, so the quadratic terms of the likelihood are the same.
    unlikely = [(freedom[several] * np.log(noise[several])).sum() for noise in (constant, proportional)]
    return constant if unlikely[0] <= unlikely[1] else proportional
