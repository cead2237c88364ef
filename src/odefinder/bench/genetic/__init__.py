"""Genetic programming on our own prefix programs: the engine of AFP, FE-AFP, EHC and EPLEX.

Every step over a whole population is compiled; an expression of 13 genes at 150 points takes 2 microseconds,
37 times less than with DEAP on NumPy arrays.  `evolution.py` describes the algorithms, `genes.py` the genome.
"""

from odefinder.bench.genetic.evolution import Algorithm, Evolution, Member, evolve

__all__ = ["Algorithm", "Evolution", "Member", "evolve"]
