"""Random genomes and their changes: subtree crossover, mutation, and steps of hill climbing.

Every change keeps a genome complete: with all genes on it is one expression.
"""

from __future__ import annotations

import math

from odefinder.bench.genetic.evaluation import Ints
from odefinder.bench.genetic.genes import BINARY, GENE_ARITY, gene_end
from odefinder.bench.genetic.population import Population, copy_genes, copy_genome
from odefinder.compiling.jit import compiled
from odefinder.expressions.program import CONST, VAR, Ops, Values
from odefinder.numerics.randomness import Stream, chance, integer, normal, uniform

TRIES = 8  # at a crossover whose child is not too long
MUTATED_SIZE = 7  # largest size of a subtree that mutation draws
STEP_RANGE = 3.0  # steps of constants are 1 to 10^-3 of their value


@compiled
def _leaf(stream: Stream, dimension: int) -> tuple[int, float]:
    """A constant in [-1, 1] or a variable, equally often."""
    if chance(stream, 0.5):
        return CONST, 2.0 * uniform(stream) - 1.0
    return VAR, float(integer(stream, 0, dimension - 1))


@compiled
def random_tree(
    stream: Stream, size: int, unary: Ops, dimension: int, ops: Ops, values: Values, pending: Ints
) -> None:
    """A random expression of exactly `size` genes, with all operators equally likely."""
    pending[0], top = size, 1
    position = 0
    while top > 0:
        top -= 1
        left = pending[top]
        value = 0.0
        if left == 1:
            op, value = _leaf(stream, dimension)
        else:
            choice = integer(stream, 0, len(unary) - 1 + (len(BINARY) if left > 2 else 0))
            if choice < len(unary):
                op = int(unary[choice])
                pending[top] = left - 1
                top += 1
            else:
                op = int(BINARY[choice - len(unary)])
                first = integer(stream, 1, left - 2)
                pending[top], pending[top + 1] = left - 1 - first, first
                top += 2
        ops[position], values[position] = op, value
        position += 1


@compiled
def _spliced(population: Population, a: int, i: int, father: Population, b: int, j: int, k: int) -> bool:
    """Member k = member a with its subtree at i replaced by that of father[b] at j; False if too long."""
    n = population.length[a]
    end, other_end = gene_end(population.ops[a], i), gene_end(father.ops[b], j)
    length = n - (end - i) + (other_end - j)
    if length > population.ops.shape[1]:
        return False
    copy_genes(population, a, 0, i, population, k, 0)
    copy_genes(father, b, j, other_end, population, k, i)
    copy_genes(population, a, end, n, population, k, i + other_end - j)
    population.length[k] = length
    return True


@compiled
def cross(stream: Stream, population: Population, a: int, b: int, k: int) -> None:
    """Member k = member a with a random subtree from member b; its age is that of the older parent."""
    population.age[k] = max(population.age[a], population.age[b])
    for _ in range(TRIES):
        i = integer(stream, 0, population.length[a] - 1)
        j = integer(stream, 0, population.length[b] - 1)
        if _spliced(population, a, i, population, b, j, k):
            return
    copy_genome(population, a, population, k)


@compiled
def perturb(stream: Stream, ops: Ops, values: Values, n: int) -> bool:
    """Change the constants by steps of a random size, in place; False if there are none."""
    found = False
    share = 10.0 ** (-STEP_RANGE * uniform(stream))
    for i in range(n):
        if ops[i] == CONST:
            found = True
            values[i] += share * (abs(values[i]) + 1e-3) * normal(stream)
    return found


@compiled
def mutate(
    stream: Stream, population: Population, a: int, k: int, unary: Ops, dimension: int, fresh: Population,
    pending: Ints,
) -> None:  # fmt: skip
    """Member k = member a with one gene, one subtree or its constants changed.

    fresh: room for one genome, in which the new subtree is drawn; pending (genes,): room.
    """
    population.age[k] = population.age[a]
    copy_genome(population, a, population, k)
    n = population.length[k]
    kind = integer(stream, 0, 2)
    if kind == 0 and perturb(stream, population.ops[k], population.values[k], n):
        return
    i = integer(stream, 0, n - 1)
    if kind == 1:
        size = integer(stream, 1, MUTATED_SIZE)
        random_tree(stream, size, unary, dimension, fresh.ops[0], fresh.values[0], pending)
        fresh.length[0] = size
        for g in range(size):
            fresh.active[0, g] = population.active[a, i]
        _spliced(population, a, i, fresh, 0, 0, k)  # if that is too long, it stays as it is
        return
    arity = GENE_ARITY[population.ops[k, i]]
    if arity == 0:
        op, value = _leaf(stream, dimension)
        population.ops[k, i], population.values[k, i] = op, value
    elif arity == 1:
        population.ops[k, i] = unary[integer(stream, 0, len(unary) - 1)]
    else:
        population.ops[k, i] = BINARY[integer(stream, 0, len(BINARY) - 1)]


@compiled
def switch(stream: Stream, population: Population, i: int, probability: float) -> None:
    """Switch genes of member i on or off, each with the given probability, but at least one."""
    n = population.length[i]
    some = False
    for g in range(n):
        if chance(stream, probability):
            population.active[i, g] = not population.active[i, g]
            some = True
    if not some:
        g = integer(stream, 0, n - 1)
        population.active[i, g] = not population.active[i, g]


@compiled
def random_size(stream: Stream, smallest: int, largest: int) -> int:
    """A whole number in smallest..largest whose logarithm is roughly uniform: most are small."""
    return int(math.exp(math.log(smallest) + uniform(stream) * math.log((largest + 1) / smallest)))
