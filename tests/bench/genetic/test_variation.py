"""Whatever is changed, a genome stays one complete expression."""

import numpy as np
import pytest

from odefinder.bench.genetic.generation import MUTANT, breed, newcomers
from odefinder.bench.genetic.genes import UNARY, UNARY_WITH_WAVES
from odefinder.bench.genetic.population import Population, make_population
from odefinder.bench.genetic.variation import switch
from odefinder.expressions.program import CONST, COS, SIN, VAR
from tests.bench.genetic.genomes import GENES, complete, population, stream

COUNT = 60


def check(genomes: Population, first: int, last: int) -> None:
    for i in range(first, last):
        n = genomes.length[i]
        assert 1 <= n <= GENES
        ops, values = genomes.ops[i, :n], genomes.values[i, :n]
        assert complete(ops)
        assert np.isfinite(values).all()
        assert set(values[ops == VAR]) <= {0.0, 1.0}


def test_random_genomes() -> None:
    genomes = population(COUNT, 0)
    check(genomes, 0, COUNT)
    assert genomes.length[:COUNT].min() >= 3
    assert genomes.length[:COUNT].max() <= 20
    assert np.isin(genomes.ops, [SIN, COS]).any()
    without = make_population(COUNT, GENES, 0)
    newcomers(stream(1), without, 0, COUNT, UNARY, 2, False)
    assert not np.isin(without.ops, [SIN, COS]).any()
    assert genomes.active[:COUNT].all()


@pytest.mark.parametrize("share", [0.0, 1.0])  # of mutants
def test_children_are_complete_for_many_generations(share: float) -> None:
    genomes, fresh = population(COUNT, 2, epigenetic=True), make_population(1, GENES, 0)
    genomes.age[:COUNT] = np.arange(COUNT)
    words, rng = stream(3), np.random.default_rng(4)
    for _ in range(30):
        mothers = rng.integers(COUNT, size=COUNT)
        fathers = np.where(rng.random(COUNT) < share, MUTANT, rng.integers(COUNT, size=COUNT))
        breed(words, genomes, mothers, fathers, UNARY_WITH_WAVES, 2, fresh)
        check(genomes, COUNT, 2 * COUNT)
        older = np.where(
            fathers == MUTANT, genomes.age[mothers], np.maximum(genomes.age[mothers], genomes.age[fathers])
        )
        np.testing.assert_array_equal(genomes.age[COUNT : 2 * COUNT], older)
        for part in genomes[:5]:
            part[:COUNT] = part[COUNT : 2 * COUNT]
    assert genomes.length[:COUNT].max() > 20  # they grow, up to the limit


def test_mutants_differ_in_constants_genes_or_subtrees() -> None:
    genomes, fresh = population(COUNT, 5), make_population(1, GENES, 0)
    breed(stream(6), genomes, np.arange(COUNT), np.full(COUNT, MUTANT), UNARY_WITH_WAVES, 2, fresh)
    same_structure = longer = 0
    for i in range(COUNT):
        n, m = genomes.length[i], genomes.length[COUNT + i]
        if n != m:
            longer += 1
        elif np.array_equal(genomes.ops[i, :n], genomes.ops[COUNT + i, :n]):
            changed = genomes.values[i, :n] != genomes.values[COUNT + i, :n]
            assert set(genomes.ops[i, :n][changed]) <= {CONST, VAR}
            same_structure += 1
    assert same_structure > 5
    assert longer > 5


def test_switching_changes_marks_alone() -> None:
    genomes = population(COUNT, 7)
    before = [part.copy() for part in genomes]
    switch(stream(8), genomes, 3, 0.0)  # one at least
    assert (genomes.active != before[2]).sum() == 1
    for part, old in zip((*genomes[:2], *genomes[3:]), (*before[:2], *before[3:]), strict=True):
        np.testing.assert_array_equal(part, old)
