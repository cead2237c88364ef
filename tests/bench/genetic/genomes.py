"""Random populations for the tests of the genetic engine."""

import numpy as np

from odefinder.bench.genetic.generation import newcomers
from odefinder.bench.genetic.genes import GENE_ARITY, UNARY_WITH_WAVES
from odefinder.bench.genetic.population import Population, make_population
from odefinder.numerics.randomness import seed_stream

GENES = 64


def stream(seed: int) -> np.ndarray:
    """A random stream."""
    words = np.empty(4, np.uint64)
    seed_stream(words, seed, 0)
    return words


def population(count: int, seed: int, *, dimension: int = 2, epigenetic: bool = False) -> Population:
    """Random genomes with room for as many children."""
    made = make_population(2 * count + 1, GENES, 0)
    newcomers(stream(seed), made, 0, count, UNARY_WITH_WAVES, dimension, epigenetic)
    return made


def complete(ops: np.ndarray) -> bool:
    """Whether genes are exactly one expression."""
    open_arguments = 1
    for op in ops:
        if open_arguments == 0:
            return False
        open_arguments += int(GENE_ARITY[op]) - 1
    return open_arguments == 0
