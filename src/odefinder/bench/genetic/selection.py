"""Who survives and who has children: age-fitness Pareto tournaments, epsilon-lexicase selection."""

from __future__ import annotations

import numpy as np

from odefinder.bench.genetic.evaluation import Floats, Ints
from odefinder.bench.genetic.population import Population
from odefinder.compiling.jit import compiled
from odefinder.numerics.randomness import Stream, integer

MOST_CASES = 30  # per selection: those left by then are much alike, and would cost most of the time
PATIENCE = 10  # failed tournaments per remaining member after which the worst are removed


@compiled
def dominates(population: Population, a: int, b: int) -> bool:
    """Whether a is at least as young and as good as b.

    Of two that are equal in both, the one with the shorter expression dominates; of clones, either.
    """
    if population.age[a] > population.age[b] or population.fitness[a] > population.fitness[b]:
        return False
    if population.age[a] < population.age[b] or population.fitness[a] < population.fitness[b]:
        return True
    return population.size[a] <= population.size[b]


@compiled
def survivors(stream: Stream, population: Population, count: int) -> Ints:
    """The indices of the `count` survivors: pairs meet at random, and a dominated member is removed.

    (Schmidt and Lipson 2011.)  If the members left are a front, the worst of them are removed.  The fittest
    one always survives.
    """
    alive = np.arange(len(population.age))
    left, failed = len(alive), 0
    best = int(np.argmin(population.fitness))
    while left > count and failed < PATIENCE * left:
        a, b = integer(stream, 0, left - 1), integer(stream, 0, left - 2)
        if b >= a:
            b += 1
        first, second = alive[a], alive[b]
        failed += 1
        if second != best and dominates(population, first, second):
            left -= 1
            alive[b] = alive[left]
            failed = 0
        elif first != best and dominates(population, second, first):
            left -= 1
            alive[a] = alive[left]
            failed = 0
    while left > count:
        worst = 0
        for k in range(left):
            if population.fitness[alive[k]] > population.fitness[alive[worst]]:
                worst = k
        left -= 1
        alive[worst] = alive[left]
    return alive[:count]


def groups(fitness: Floats) -> tuple[Ints, Ints]:
    """Members grouped by equal error, nearly always clones: members (P,), starts (groups + 1,).

    They pass or fail every case together, so a selection needs to look at only one of them.
    """
    members = np.argsort(fitness, kind="stable")
    new = np.flatnonzero(np.concatenate([[True], fitness[members][1:] != fitness[members][:-1]]))
    return members, np.append(new, len(members))


def case_tolerances(errors: Floats) -> Floats:
    """The median absolute deviation of the errors (cases, members) of each case; 0 if most are infinite."""
    middle = np.median(errors, axis=1)
    known = np.isfinite(middle)
    epsilon = np.zeros(len(errors))
    epsilon[known] = np.median(np.abs(errors[known] - middle[known, None]), axis=1)
    return epsilon


@compiled
def _filter(row: Floats, epsilon: float, pool: Ints, left: int, out: Ints) -> int:
    """out = those of the pool whose error is within epsilon of its best; returns their number."""
    best = np.inf
    for m in range(left):
        best = min(best, row[pool[m]])
    kept = 0
    for m in range(left):
        out[kept] = pool[m]
        if row[pool[m]] <= best + epsilon:
            kept += 1
    return kept


@compiled
def first_filters(errors: Floats, epsilon: Floats) -> tuple[Ints, Ints]:
    """Who is left if a case comes first, for each case: members (cases, P) and their numbers (cases,)."""
    everybody = np.arange(errors.shape[1])
    left, pools = np.empty(len(errors), np.int64), np.empty(errors.shape, np.int64)
    for case in range(len(errors)):
        left[case] = _filter(errors[case], epsilon[case], everybody, len(everybody), pools[case])
    return pools, left


@compiled
def lexicase(
    stream: Stream, errors: Floats, epsilon: Floats, pools: Ints, numbers: Ints, order: Ints, pool: Ints
) -> int:
    """One parent by semi-dynamic epsilon-lexicase selection (La Cava 2016); errors (cases, P).

    Cases come in random order; members stay in the pool if their error is within epsilon of its best.  One of
    those left after `MOST_CASES` is drawn.
    pools, numbers: the `first_filters`.  order (cases,), a permutation, and pool (P,): room.
    """
    cases = len(errors)
    left = 0
    for k in range(min(cases, MOST_CASES)):
        swap = integer(stream, k, cases - 1)
        order[k], order[swap] = order[swap], order[k]
        case = order[k]
        if k == 0:
            left = numbers[case]
            for m in range(left):
                pool[m] = pools[case, m]
        else:
            left = _filter(errors[case], epsilon[case], pool, left, pool)
        if left == 1:
            return pool[0]
    return pool[integer(stream, 0, left - 1)]
