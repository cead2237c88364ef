"""Expressions of genes have the values of the programs that they become."""

import numpy as np
import pytest

from odefinder.bench.genetic.evaluation import evaluate_genes, make_work, mean_square
from odefinder.bench.genetic.functions import exp_all, log_all, wave_all
from odefinder.bench.genetic.genes import DIV, SUB, express, to_program
from odefinder.expressions.program import CONST, LOG, SQRT, VAR
from tests.bench.genetic.genomes import GENES, complete, population
from tests.programs import values_at, words

POINTS = np.random.default_rng(0).normal(size=(37, 2))
WORK = make_work(GENES, len(POINTS))


def values_of(ops: np.ndarray, values: np.ndarray) -> np.ndarray:
    evaluate_genes(ops, values, len(ops), np.ascontiguousarray(POINTS.T), WORK)
    return WORK.result.copy()


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_the_reference_interpreter(seed: int) -> None:
    genomes = population(200, seed, epigenetic=seed > 0)
    agreed = []
    for i in range(200):
        n = express(*(part[i] for part in genomes[:3]), genomes.length[i], WORK.ops, WORK.values)
        if n == 0:
            continue
        ops, values = WORK.ops[:n].copy(), WORK.values[:n].copy()
        assert complete(ops)
        mine, reference = values_of(ops, values), values_at(to_program(ops, values), POINTS)
        known = np.isfinite(reference) & np.isfinite(mine)
        agreed.append(np.allclose(mine[known], reference[known], rtol=1e-9, atol=1e-9))
    assert len(agreed) > 100
    assert np.mean(agreed) > 0.97  # waves of huge numbers magnify the last digit


def test_subtraction_division_and_absolute_values() -> None:
    x = np.array([VAR, VAR], np.int8)
    two = np.array([0.0, 1.0])
    for op, expected in ((SUB, POINTS[:, 0] - POINTS[:, 1]), (DIV, POINTS[:, 0] / POINTS[:, 1])):
        ops, values = np.concatenate([[np.int8(op)], x]).astype(np.int8), np.concatenate([[0.0], two])
        np.testing.assert_allclose(values_of(ops, values), expected)
    assert to_program(np.array([SUB, VAR, CONST], np.int8), np.array([0, 0, 3.0])) == words("add x0 -3")
    assert to_program(np.array([LOG, VAR], np.int8), np.zeros(2)) == words("log abs x0")
    np.testing.assert_allclose(
        values_of(np.array([SQRT, VAR], np.int8), np.zeros(2)), np.sqrt(np.abs(POINTS[:, 0]))
    )


def test_switched_off_genes_are_passed_over() -> None:
    ops = np.array([SUB, VAR, SQRT, VAR], np.int8)  # x0 - sqrt(x1)
    values = np.array([0.0, 0.0, 0.0, 1.0])
    out_ops, out_values = np.empty(GENES, np.int8), np.empty(GENES)

    def expressed(*active: int) -> list[int]:
        n = express(ops, values, np.array(active, np.bool_), 4, out_ops, out_values)
        return out_ops[:n].tolist()

    assert expressed(1, 1, 1, 1) == ops.tolist()
    assert expressed(1, 1, 0, 1) == [SUB, VAR, VAR]
    assert expressed(1, 0, 1, 1) == [SQRT, VAR]  # the difference lacks an argument
    assert expressed(1, 1, 1, 0) == [VAR]
    assert expressed(1, 0, 1, 0) == []


def test_functions_agree_with_the_library() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=2000) * 10.0 ** rng.uniform(-8.0, 2.5, 2000)
    out, scratch = np.empty_like(a), np.empty_like(a)
    exp_all(a, out, scratch)
    inside = np.abs(a) < 700.0
    np.testing.assert_allclose(out[inside], np.exp(a[inside]), rtol=1e-15)
    log_all(a, out, scratch)
    np.testing.assert_allclose(out, np.log(np.abs(a)), rtol=1e-15, atol=1e-16)
    for quarters, wave in enumerate((np.sin, np.cos)):
        wave_all(a, out, scratch, quarters)
        np.testing.assert_allclose(out, wave(a), atol=4e-16)


def test_functions_where_nothing_is_finite() -> None:
    a = np.array([np.inf, -np.inf, np.nan, 0.0, 1e300, -1e300])
    out, scratch = np.empty_like(a), np.empty_like(a)
    exp_all(a, out, scratch)
    np.testing.assert_array_equal(out, [np.inf, 0.0, np.nan, 1.0, np.inf, 0.0])
    log_all(a, out, scratch)
    np.testing.assert_allclose(out, [np.inf, np.inf, np.nan, -np.inf, np.log(1e300), np.log(1e300)])
    wave_all(a[2:], out[2:], scratch[2:], 0)
    np.testing.assert_allclose(out[2:], np.sin(a[2:]))


def test_error_is_infinite_where_a_value_is_not_finite() -> None:
    assert mean_square(np.array([1.0, 3.0]), np.zeros(2)) == 5.0
    assert mean_square(np.array([1.0, np.nan]), np.zeros(2)) == np.inf
