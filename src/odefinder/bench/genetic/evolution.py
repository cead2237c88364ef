"""One run of genetic programming for one target: AFP, FE-AFP, EHC or EPLEX.

    afp     age-fitness Pareto optimisation (Schmidt and Lipson 2011): random parents, one random newcomer per
            generation, survival by tournaments in age and error
    fe-afp  AFP whose errors are estimated on a few points by co-evolved predictors (2008)
    ehc     AFP with epigenetic hill climbing (La Cava 2016): genes are switched on and off, and a change is
            kept if the error falls, or stays while the expression gets shorter
    eplex   epsilon-lexicase selection of parents (La Cava 2016), the fittest one kept

In all of them every member takes one step of hill climbing on its constants per generation.  Sizes, rates and
counts are the defaults of the package `ellyn` and of its use in SRBench, which the paper took over: at most
64 genes, 20 at first, crossover 0.8 and mutation 0.2, constants drawn from [-1, 1], half of the genes on at
first, three epigenetic steps that switch a gene with probability 0.1, 100 predictors of 10 points, 10
trainers renewed every 10 generations, a mean squared error.  Our own choices: subtrees instead of alternating
crossover, the mixture of mutations, steps of constants of random size, division that is not protected, at
most 30 cases per selection, the end of a run when the error is negligible, and an archive with the best
expression of every length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from odefinder.bench.genetic.evaluation import Floats, make_work
from odefinder.bench.genetic.generation import (
    breed,
    climb,
    copy_members,
    lexicase_parents,
    measure_all,
    newcomers,
    random_parents,
)
from odefinder.bench.genetic.genes import UNARY, UNARY_WITH_WAVES, to_program
from odefinder.bench.genetic.population import make_archive, make_population
from odefinder.bench.genetic.predictors import Estimator
from odefinder.bench.genetic.selection import case_tolerances, groups, survivors
from odefinder.expressions.program import Program
from odefinder.numerics.randomness import seed_stream

Algorithm = Literal["afp", "fe-afp", "ehc", "eplex"]

MAX_GENES = 64
EPIGENETIC_STEPS = 3
ENOUGH = 1e-14  # mean squared error, relative to the target's variance, at which a run ends


@dataclass(frozen=True)
class Evolution:
    """The settings of a run."""

    algorithm: Algorithm = "afp"
    population: int = 100
    generations: int = 2500
    waves: bool = False  # sin and cos among the operators

    def shortened(self, share: float) -> Evolution:
        """The same run with a share of the generations, but at least one."""
        return replace(self, generations=max(1, round(share * self.generations)))


class Member(NamedTuple):
    """An expression on the front of a run."""

    program: Program
    error: float  # mean squared


def evolve(x: Floats, y: Floats, how: Evolution, seed: int = 0) -> list[Member]:
    """The front of expressions f with y = f(x), shortest first, each better than those before it.

    x (points, D), y (points,).  Empty if no expression is finite at all points, or if the data are not.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()) or len(y) == 0:
        return []
    with np.errstate(over="ignore"):
        enough = ENOUGH * float(np.var(y))
    run = Run(np.ascontiguousarray(x.T), np.ascontiguousarray(y), how, seed)
    for _ in range(how.generations):
        if run.archive.fitness.min() <= enough:
            break
        run.step()
    run.finish()
    return run.front()


class Run:
    """A run between two generations."""

    def __init__(self, x: Floats, y: Floats, how: Evolution, seed: int):
        """x (D, points), y (points,)."""
        self.x, self.y, self.how = x, y, how
        self.stream = np.empty(4, np.uint64)
        seed_stream(self.stream, seed, 0)
        self.unary = UNARY_WITH_WAVES if how.waves else UNARY
        cases = len(y) if how.algorithm == "eplex" else 0
        room = 2 * how.population + 1
        self.members, self.spare = (make_population(room, MAX_GENES, cases) for _ in range(2))
        self.trial, self.fresh = make_population(1, MAX_GENES, cases), make_population(1, MAX_GENES, 0)
        self.work, self.archive = make_work(MAX_GENES, len(y)), make_archive(MAX_GENES)
        self.mothers, self.fathers = np.empty((2, how.population), np.int64)
        self._add_newcomers(0, how.population)
        self.estimator = None
        if how.algorithm == "fe-afp":
            self.estimator = Estimator(self.stream, x, y, self.members, self.work, self.archive)
        self._measure(0, how.population)

    def step(self) -> None:
        """One generation."""
        how, count = self.how, self.how.population
        epigenetic_steps = EPIGENETIC_STEPS if how.algorithm == "ehc" else 0
        self._choose_parents()
        breed(self.stream, self.members, self.mothers, self.fathers, self.unary, len(self.x), self.fresh)
        self._measure(count, 2 * count)
        if how.algorithm == "eplex":  # children replace their parents, but the fittest member stays
            kept = np.arange(count, 2 * count)
            kept[0] = np.argmin(self.members.fitness[:count])
        else:
            self._add_newcomers(2 * count, 2 * count + 1)
            self._measure(2 * count, 2 * count + 1)
            kept = survivors(self.stream, self.members, count)
        copy_members(self.members, kept, self.spare)
        self.members, self.spare = self.spare, self.members
        x, y, exact = self._points()
        climb(
            self.stream, self.members, count, x, y, epigenetic_steps, exact, self.work, self.archive,
            self.trial,
        )  # fmt: skip
        if self.estimator is not None and self.estimator.step(self.members, count):
            self._measure(0, count)

    def finish(self) -> None:
        """Compute the exact errors of the last generation if errors were estimates."""
        if self.estimator is not None:
            measure_all(self.members, 0, self.how.population, self.x, self.y, True, self.work, self.archive)

    def front(self) -> list[Member]:
        """The best expressions of all lengths that are better than all shorter ones."""
        archive = self.archive
        front: list[Member] = []
        for size in np.flatnonzero(np.isfinite(archive.fitness)).tolist():
            if not front or archive.fitness[size] < front[-1].error:
                program = to_program(archive.ops[size, :size], archive.values[size, :size])
                front.append(Member(program, float(archive.fitness[size])))
        return front

    def _points(self) -> tuple[Floats, Floats, bool]:
        """The points where errors are measured, and whether these are all points."""
        if self.estimator is None:
            return self.x, self.y, True
        return self.estimator.x, self.estimator.y, False

    def _measure(self, first: int, last: int) -> None:
        measure_all(self.members, first, last, *self._points(), self.work, self.archive)

    def _add_newcomers(self, first: int, last: int) -> None:
        epigenetic = self.how.algorithm == "ehc"
        newcomers(self.stream, self.members, first, last, self.unary, len(self.x), epigenetic)

    def _choose_parents(self) -> None:
        if self.how.algorithm != "eplex":
            random_parents(self.stream, self.mothers, self.fathers)
            return
        count = self.how.population
        members, starts = groups(self.members.fitness[:count])
        errors = np.ascontiguousarray(self.members.errors[members[starts[:-1]]].T)
        epsilon = case_tolerances(errors)
        lexicase_parents(self.stream, errors, epsilon, members, starts, self.mothers, self.fathers)
