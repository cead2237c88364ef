"""Co-evolved fitness predictors (Schmidt and Lipson 2008): a few points that order expressions as all would.

A predictor is a handful of points.  It is good if the errors on them order the trainers, some members of the
population, as the errors on all points do.  Predictors evolve along with the population; trainers are
replaced by members on which the predictors disagree most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odefinder.bench.genetic.evaluation import Floats, Ints, Work
from odefinder.bench.genetic.generation import copy_members, measure_all
from odefinder.bench.genetic.population import Archive, Population, make_population
from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, chance, integer

PREDICTORS, POINTS, TRAINERS, TRAINER_GENERATIONS = 100, 10, 10, 10  # as in SRBench's use of ellyn
MUTATION = 0.1  # share of a new predictor's points that are drawn at random
WORST = 1e20  # an error that is not finite


class Predictors(NamedTuple):
    """M predictors of K points, judged on T trainers."""

    points: Ints  # (M, K)
    fault: Floats  # (M,): smaller is better
    squares: Floats  # (T, points): squared errors of the trainers
    exact: Floats  # (T,): their means
    oldest: Ints  # (1,): the trainer that is replaced next


@compiled
def make_predictors(stream: Stream, count: int, size: int, trainers: int, points: int) -> Predictors:
    """Random predictors, with trainers still to be set."""
    chosen = np.empty((count, size), np.int64)
    for m in range(count):
        for k in range(size):
            chosen[m, k] = integer(stream, 0, points - 1)
    return Predictors(
        chosen,
        np.full(count, np.inf),
        np.zeros((trainers, points)),
        np.zeros(trainers),
        np.zeros(1, np.int64),
    )


@compiled
def set_trainer(predictors: Predictors, result: Floats, target: Floats) -> None:
    """Replace the oldest trainer by the expression with these values."""
    k = predictors.oldest[0]
    total = 0.0
    for i in range(len(target)):
        difference = result[i] - target[i]
        square = difference * difference
        predictors.squares[k, i] = square if square < WORST else WORST
        total += predictors.squares[k, i]
    predictors.exact[k] = total / len(target)
    predictors.oldest[0] = (k + 1) % len(predictors.exact)


@compiled
def estimate(squares: Floats, points: Ints) -> float:
    """The mean squared error on some of the points."""
    total = 0.0
    for k in range(len(points)):
        total += squares[points[k]]
    return total / len(points)


@compiled
def fault_of(predictors: Predictors, points: Ints, guesses: Floats) -> float:
    """How many pairs of trainers a predictor orders wrongly; ties are broken by how far off it is."""
    trainers = len(predictors.exact)
    off = 0.0
    for t in range(trainers):
        guesses[t] = estimate(predictors.squares[t], points)
        off += abs(np.log((guesses[t] + 1e-30) / (predictors.exact[t] + 1e-30)))
    wrong = 0
    for t in range(trainers):
        for u in range(t):
            if (guesses[t] - guesses[u]) * (predictors.exact[t] - predictors.exact[u]) < 0.0:
                wrong += 1
    return wrong + off / (off + 10.0)


@compiled
def score_predictors(predictors: Predictors) -> None:
    """Compute the faults of all predictors after a change of the trainers."""
    guesses = np.empty(len(predictors.exact))
    for m in range(len(predictors.points)):
        predictors.fault[m] = fault_of(predictors, predictors.points[m], guesses)


@compiled
def evolve_predictors(stream: Stream, predictors: Predictors) -> None:
    """One generation: a child of two predictors takes the place of its first parent if it is no worse."""
    count, size = predictors.points.shape
    n_points = predictors.squares.shape[1]
    child = np.empty(size, np.int64)
    guesses = np.empty(len(predictors.exact))
    for m in range(count):
        other = integer(stream, 0, count - 1)
        cut = integer(stream, 1, size)
        for k in range(size):
            child[k] = predictors.points[m, k] if k < cut else predictors.points[other, k]
            if chance(stream, MUTATION):
                child[k] = integer(stream, 0, n_points - 1)
        fault = fault_of(predictors, child, guesses)
        if fault <= predictors.fault[m]:
            for k in range(size):
                predictors.points[m, k] = child[k]
            predictors.fault[m] = fault


@compiled
def disagreement(predictors: Predictors, squares: Floats) -> float:
    """The variance over predictors of the logarithm of an expression's estimated error."""
    count = len(predictors.points)
    total, squared = 0.0, 0.0
    for m in range(count):
        guess = np.log(estimate(squares, predictors.points[m]) + 1e-30)
        total += guess / count
        squared += guess * guess / count
    return squared - total * total


class Estimator:
    """The few points on which a population is measured, chosen again in every generation."""

    def __init__(
        self, stream: Stream, x: Floats, y: Floats, members: Population, work: Work, archive: Archive
    ):
        """x (D, points), y (points,); the first members are the first trainers."""
        self.stream, self.all_x, self.all_y, self.work, self.archive = stream, x, y, work, archive
        self.trial = make_population(1, members.ops.shape[1], 0)
        self.predictors = make_predictors(stream, PREDICTORS, min(POINTS, len(y)), TRAINERS, len(y))
        self.generation = 0
        for i in range(min(TRAINERS, len(members.age) // 2)):
            self._train(members, i)
        score_predictors(self.predictors)
        self.chosen = np.zeros(0, np.int64)
        self._choose()

    def step(self, members: Population, count: int) -> bool:
        """One generation of predictors; returns whether the points have changed."""
        self._exact(members, int(np.argmin(members.fitness[:count])))
        if self.generation % TRAINER_GENERATIONS == 0:
            doubt, i = max(self._doubt(members, integer(self.stream, 0, count - 1)) for _ in range(TRAINERS))
            if doubt >= 0.0:
                self._train(members, i)
                score_predictors(self.predictors)
        self.generation += 1
        evolve_predictors(self.stream, self.predictors)
        return self._choose()

    def _choose(self) -> bool:
        best = self.predictors.points[np.argmin(self.predictors.fault)]
        if np.array_equal(best, self.chosen):
            return False
        self.chosen = best.copy()
        self.x, self.y = np.ascontiguousarray(self.all_x[:, best]), self.all_y[best]
        return True

    def _exact(self, members: Population, i: int) -> float:
        """The error of a member at all points, remembered; its values stay in work.result."""
        copy_members(members, np.array([i]), self.trial)
        measure_all(self.trial, 0, 1, self.all_x, self.all_y, True, self.work, self.archive)
        return float(self.trial.fitness[0])

    def _doubt(self, members: Population, i: int) -> tuple[float, int]:
        """How much the predictors disagree on a member, -1 if it is not finite; and the member."""
        if not np.isfinite(self._exact(members, i)):
            return -1.0, i
        return disagreement(self.predictors, (self.work.result - self.all_y) ** 2), i

    def _train(self, members: Population, i: int) -> None:
        self._exact(members, i)
        set_trainer(self.predictors, self.work.result, self.all_y)
