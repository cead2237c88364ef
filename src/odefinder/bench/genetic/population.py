"""A population as flat arrays, and the archive of the best expressions of every length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odefinder.bench.genetic.evaluation import Floats, Ints, Work, evaluate_genes, mean_square
from odefinder.bench.genetic.genes import Bools, express
from odefinder.compiling.jit import compiled
from odefinder.expressions.program import Ops, Values


class Population(NamedTuple):
    """P genomes of at most L genes."""

    ops: Ops  # (P, L)
    values: Values  # (P, L)
    active: Bools  # (P, L)
    length: Ints  # (P,)
    age: Ints  # (P,)
    size: Ints  # (P,): of the expression, without inactive genes
    fitness: Floats  # (P,): mean squared error, smaller is better; inf if not finite
    errors: Floats  # (P, cases): absolute errors; (P, 0) if they are not needed


class Archive(NamedTuple):
    """The best expression of every length, from 1 to L genes, that a run has met."""

    ops: Ops  # (L + 1, L)
    values: Values  # (L + 1, L)
    fitness: Floats  # (L + 1,)


@compiled
def make_population(count: int, genes: int, cases: int) -> Population:
    """Room for this many genomes."""
    return Population(
        np.zeros((count, genes), np.int8),
        np.zeros((count, genes)),
        np.ones((count, genes), np.bool_),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, np.inf),
        np.full((count, cases), np.inf),
    )


@compiled
def make_archive(genes: int) -> Archive:
    """An empty archive."""
    return Archive(
        np.zeros((genes + 1, genes), np.int8), np.zeros((genes + 1, genes)), np.full(genes + 1, np.inf)
    )


@compiled
def copy_genes(
    source: Population, i: int, first: int, last: int, target: Population, k: int, place: int
) -> None:
    """target[k]'s genes from `place` on = source[i]'s genes `first` to `last` - 1."""
    for g in range(first, last):  # plain loops throughout: they compile ten times as fast as slices
        target.ops[k, place + g - first] = source.ops[i, g]
        target.values[k, place + g - first] = source.values[i, g]
        target.active[k, place + g - first] = source.active[i, g]


@compiled
def copy_genome(source: Population, i: int, target: Population, k: int) -> None:
    """The genes of target[k] = those of source[i]."""
    copy_genes(source, i, 0, source.length[i], target, k, 0)
    target.length[k] = source.length[i]


@compiled
def copy_member(source: Population, i: int, target: Population, k: int) -> None:
    """target[k] = source[i]."""
    copy_genome(source, i, target, k)
    target.age[k] = source.age[i]
    target.size[k] = source.size[i]
    target.fitness[k] = source.fitness[i]
    for c in range(source.errors.shape[1]):
        target.errors[k, c] = source.errors[i, c]


@compiled
def measure(population: Population, i: int, x: Floats, y: Floats, work: Work) -> None:
    """Fill size, fitness and errors of member i from points x (D, points) and targets y (points,)."""
    n = express(
        population.ops[i],
        population.values[i],
        population.active[i],
        population.length[i],
        work.ops,
        work.values,
    )
    population.size[i] = n
    if n == 0:
        population.fitness[i] = np.inf
        for k in range(population.errors.shape[1]):
            population.errors[i, k] = np.inf
        return
    evaluate_genes(work.ops, work.values, n, x, work)
    population.fitness[i] = mean_square(work.result, y)
    for k in range(population.errors.shape[1]):
        error = abs(work.result[k] - y[k])
        population.errors[i, k] = error if np.isfinite(error) else np.inf


@compiled
def remember(archive: Archive, fitness: float, size: int, work: Work) -> None:
    """Keep the expression that was just measured if it is the best of its length."""
    if size > 0 and fitness < archive.fitness[size]:
        archive.fitness[size] = fitness
        for g in range(size):
            archive.ops[size, g] = work.ops[g]
            archive.values[size, g] = work.values[g]
