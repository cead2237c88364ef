"""The study's own method, written again: sequentially thresholded least squares, chosen by the AIC.

Monomials up to degree 4, derivatives by central differences, ten models on random subsets of 500 rows.  Of a
rising sequence of thresholds the one is taken whose models have the smallest mean AIC, for the derivatives
of the clean test trajectories, which the study allows itself.  Unlike pysindy's, least squares have no ridge
term, and columns are scaled for the sake of rounding errors; thresholds apply to the coefficients themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.methods.library import TermLibrary
from odefinder.expressions.program import Program

Floats = NDArray[np.float64]

DEGREE, MODELS, ROWS = 4, 10, 500
FIRST, GROWTH, THRESHOLDS = 1e-6, 1.1, 300


def fit(t: Floats, train: Sequence[Floats], test: Sequence[Floats], seed: int) -> list[Program]:
    """The models of the best threshold."""
    library = TermLibrary(train[0].shape[1], DEGREE)
    step = float(t[1] - t[0])
    columns = np.concatenate([library.columns(x) for x in train])
    slopes = np.concatenate([np.gradient(x, step, axis=0, edge_order=2) for x in train])
    test_columns = np.concatenate([library.columns(x) for x in test])
    test_slopes = np.concatenate([np.gradient(x, step, axis=0, edge_order=2) for x in test])
    rng = np.random.default_rng(seed)
    problems = []
    for _ in range(MODELS):
        rows = rng.choice(len(columns), ROWS, replace=False)
        problems.append(_Problem(columns[rows], slopes[rows]))
    best = [problem.coefficients.copy() for problem in problems]
    information = [_aic(test_slopes, test_columns, model) for model in best]
    least = np.mean(information)
    threshold, increment = FIRST, FIRST
    for _ in range(THRESHOLDS):
        for k, problem in enumerate(problems):
            if problem.thin(threshold):
                information[k] = _aic(test_slopes, test_columns, problem.coefficients)
        if not any(problem.coefficients.any() for problem in problems):
            break
        if np.mean(information) < least:
            best, least = [problem.coefficients.copy() for problem in problems], np.mean(information)
        increment *= GROWTH
        threshold += increment
    return [library.system(model) for model in best]


class _Problem:
    """Least squares on one subset: coefficients (D, terms) of slopes (rows, D) by columns (rows, terms)."""

    def __init__(self, columns: Floats, slopes: Floats):
        self.lengths = np.linalg.norm(columns, axis=0)
        self.lengths[self.lengths == 0.0] = 1.0
        rotation, self.triangle = np.linalg.qr(columns / self.lengths)
        self.right = rotation.T @ slopes
        self.support = np.ones((slopes.shape[1], columns.shape[1]), dtype=bool)
        self.coefficients = np.zeros(self.support.shape)
        for d in range(len(self.support)):
            self._solve(d)

    def thin(self, threshold: float) -> bool:
        """Drop terms below the threshold and solve again until there are none; whether any were dropped."""
        changed = False
        for d, kept in enumerate(self.support):
            while (small := kept & (np.abs(self.coefficients[d]) < threshold)).any():
                kept &= ~small
                self._solve(d)
                changed = True
        return changed

    def _solve(self, d: int) -> None:
        kept = self.support[d]
        self.coefficients[d] = 0.0
        if kept.any():
            solution = np.linalg.lstsq(self.triangle[:, kept], self.right[:, d], rcond=None)[0]
            self.coefficients[d, kept] = solution / self.lengths[kept]


def _aic(slopes: Floats, columns: Floats, model: Floats) -> float:
    """Akaike's criterion with the correction for few points."""
    count, used = len(slopes), int(np.count_nonzero(model))
    rest = np.linalg.norm(slopes - columns @ model.T, ord=2) ** 2
    return float(count * np.log(rest) + 2 * used + 2 * used * (used + 1) / max(count - used - 1, 1))
