"""The compiled steps of a generation, each over a whole population.

A population here holds `count` members, then room for as many children and one newcomer.
"""

from __future__ import annotations

import numpy as np

from odefinder.bench.genetic.evaluation import Floats, Ints, Work
from odefinder.bench.genetic.population import Archive, Population, copy_member, measure, remember
from odefinder.bench.genetic.selection import first_filters, lexicase
from odefinder.bench.genetic.variation import cross, mutate, perturb, random_size, random_tree, switch
from odefinder.compiling.jit import compiled
from odefinder.expressions.program import Ops
from odefinder.numerics.randomness import Stream, chance, integer

FEWEST_GENES, FIRST_GENES = 3, 20  # of a random genome
ACTIVE_AT_FIRST, SWITCHED = 0.5, 0.1  # probabilities per gene, if genes can be switched off
CROSSOVER = 0.8  # the other children are mutants
MUTANT = -1  # in place of a father


@compiled
def newcomers(
    stream: Stream, population: Population, first: int, last: int, unary: Ops, dimension: int,
    epigenetic: bool,
) -> None:  # fmt: skip
    """Random genomes of age 0 at places `first` to `last` - 1."""
    pending = np.empty(population.ops.shape[1], np.int64)
    for i in range(first, last):
        size = random_size(stream, FEWEST_GENES, FIRST_GENES)
        random_tree(stream, size, unary, dimension, population.ops[i], population.values[i], pending)
        population.length[i], population.age[i] = size, 0
        for g in range(size):
            population.active[i, g] = not epigenetic or chance(stream, ACTIVE_AT_FIRST)


@compiled
def measure_all(
    population: Population, first: int, last: int, x: Floats, y: Floats, exact: bool, work: Work,
    archive: Archive,
) -> None:  # fmt: skip
    """Errors of the members `first` to `last` - 1, remembered if exact: measured at all points."""
    for i in range(first, last):
        measure(population, i, x, y, work)
        if exact:
            remember(archive, population.fitness[i], population.size[i], work)


@compiled
def random_parents(stream: Stream, mothers: Ints, fathers: Ints) -> None:
    """Parents drawn at random; there are as many members as children."""
    count = len(mothers)
    for k in range(count):
        mothers[k] = integer(stream, 0, count - 1)
        fathers[k] = integer(stream, 0, count - 1) if chance(stream, CROSSOVER) else MUTANT


@compiled
def lexicase_parents(
    stream: Stream, errors: Floats, epsilon: Floats, members: Ints, starts: Ints, mothers: Ints, fathers: Ints
) -> None:
    """Parents by epsilon-lexicase selection among groups of members that are alike.

    errors (cases, groups); group g is members[starts[g] : starts[g + 1]].
    """
    order, pool = np.arange(len(errors)), np.empty(errors.shape[1], np.int64)
    pools, numbers = first_filters(errors, epsilon)
    for k in range(len(mothers)):
        group = lexicase(stream, errors, epsilon, pools, numbers, order, pool)
        mothers[k] = members[integer(stream, starts[group], starts[group + 1] - 1)]
        fathers[k] = MUTANT
        if chance(stream, CROSSOVER):
            group = lexicase(stream, errors, epsilon, pools, numbers, order, pool)
            fathers[k] = members[integer(stream, starts[group], starts[group + 1] - 1)]


@compiled
def breed(
    stream: Stream, population: Population, mothers: Ints, fathers: Ints, unary: Ops, dimension: int,
    fresh: Population,
) -> None:  # fmt: skip
    """Write the children after the members, one for each mother; fresh: room for one genome."""
    count = len(mothers)
    pending = np.empty(population.ops.shape[1], np.int64)
    for k in range(count):
        if fathers[k] == MUTANT:
            mutate(stream, population, mothers[k], count + k, unary, dimension, fresh, pending)
        else:
            cross(stream, population, mothers[k], fathers[k], count + k)


@compiled
def copy_members(source: Population, indices: Ints, target: Population) -> None:
    """target's first members = source's at the indices."""
    for k in range(len(indices)):
        copy_member(source, indices[k], target, k)


@compiled
def climb(
    stream: Stream, population: Population, count: int, x: Floats, y: Floats, epigenetic_steps: int,
    exact: bool, work: Work, archive: Archive, trial: Population,
) -> None:  # fmt: skip
    """Make all members a generation older: one step on their constants and some on their epigenome.

    A step is kept if the error falls; one on the epigenome also if the error stays and the expression gets
    shorter.
    trial: room for one member.
    """
    for i in range(count):
        population.age[i] += 1
        for step in range(1 + epigenetic_steps):
            copy_member(population, i, trial, 0)
            if step > 0:
                switch(stream, trial, 0, SWITCHED)
            elif not perturb(stream, trial.ops[0], trial.values[0], trial.length[0]):
                continue
            measure(trial, 0, x, y, work)
            if exact:
                remember(archive, trial.fitness[0], trial.size[0], work)
            better = trial.fitness[0] < population.fitness[i]
            as_good = step > 0 and trial.fitness[0] == population.fitness[i]
            if better or (as_good and 0 < trial.size[0] < population.size[i]):
                copy_member(trial, 0, population, i)
