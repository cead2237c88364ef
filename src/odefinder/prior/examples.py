"""What the prior hands out: an array of records, one training example each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.limits.sizes import MAX_DIMENSION, MAX_POINTS, MAX_TOKENS, MAX_TRAJECTORIES

MAX_PROGRAM = 512  # nodes

EXAMPLE = np.dtype(
    [
        ("index", np.int64),  # its number under the seed
        ("dimension", np.int8),  # states: variables with an equation
        ("n_known", np.int8),  # inputs, conditions and time, whose columns follow those of the states
        ("roles", np.int8, MAX_DIMENSION),  # SEEN, UNSEEN or KNOWN, by column (data/roles.py)
        ("family", np.int8),  # index into families.FAMILY_NAMES
        ("n_trajectories", np.int8),
        ("n_points", np.int16),
        ("n_nodes", np.int16),
        ("n_tokens", np.int16),
        ("tries", np.int32),  # systems drawn until this one passed the filters
        # How it was measured: see `laboratory.py`.
        ("sigma", np.float64),  # multiplicative noise, relative to the value
        ("additive", np.float64),  # noise relative to the spread, of the variable that has most of it
        ("step", np.float64),  # of rounding, relative to the range; 0: not rounded
        ("outliers", np.float64),  # share of outliers that was drawn
        ("missing", np.float64),  # share of cells that are missing
        ("rho", np.float64),  # share of points that were dropped
        # What is observed, in the target's units, points of one trajectory after the other; NaN: missing.
        ("times", np.float64, MAX_POINTS),
        ("states", np.float64, (MAX_POINTS, MAX_DIMENSION)),
        ("trajectory", np.int8, MAX_POINTS),
        # The clean state of each trajectory at its first observed time.
        ("starts", np.float64, (MAX_TRAJECTORIES, MAX_DIMENSION)),
        # The system behind it, as a program and as target tokens (ending with EOS).
        ("ops", np.int8, MAX_PROGRAM),
        ("values", np.float64, MAX_PROGRAM),
        ("tokens", np.int16, MAX_TOKENS),
    ],
    align=True,
)
Example = Any  # a record of EXAMPLE
Examples = NDArray[np.void]

# Why a drawn system is not accepted; the first codes are those of `integrate.Status`.
REASONS = (
    "accepted",
    "diverged",
    "too many steps",
    "singular",
    "not finite",
    "stationary",
    "a constant variable",
    "undersampled",
    "disconnected",
    "monotone",
    "quiet",
    "no target that fits",
)
ACCEPTED, DIVERGED, TOO_MANY_STEPS, SINGULAR, NOT_FINITE = 0, 1, 2, 3, 4
STATIONARY, CONSTANT, UNDERSAMPLED, DISCONNECTED, MONOTONE, QUIET, NO_TARGET = 5, 6, 7, 8, 9, 10, 11


def new_counts() -> NDArray[np.int64]:
    """Zero counts of what was drawn: (reasons, dimension), dimensions from 1 in column 1."""
    return np.zeros((len(REASONS), MAX_DIMENSION + 1), np.int64)
