"""Whole runs: the same under the same seed, and they find simple laws."""

import numpy as np
import pytest

from odefinder.bench.genetic import Algorithm, Evolution, evolve
from tests.programs import values_at

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (60, 2))
ALGORITHMS: tuple[Algorithm, ...] = ("afp", "fe-afp", "ehc", "eplex")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_finds_a_cubic_law(algorithm: Algorithm) -> None:
    y = X[:, 0] - X[:, 0] ** 3
    front = evolve(X, y, Evolution(algorithm, 200, 100), seed=1)
    assert front[-1].error < 1e-3 * y.var()
    errors = [member.error for member in front]
    assert errors == sorted(errors, reverse=True)  # each longer one is better
    for member in front:
        np.testing.assert_allclose(np.mean((values_at(member.program, X) - y) ** 2), member.error, atol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_seed_decides(algorithm: Algorithm) -> None:
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * RNG.normal(size=60)
    how = Evolution(algorithm, 30, 15, waves=True)
    assert evolve(X, y, how, seed=5) == evolve(X, y, how, seed=5)
    assert evolve(X, y, how, seed=5) != evolve(X, y, how, seed=6)


def test_more_generations_are_never_worse() -> None:
    y = np.exp(X[:, 0]) + X[:, 1]
    how = Evolution("eplex", 50, 40)
    assert evolve(X, y, how)[-1].error <= evolve(X, y, how.shortened(0.1))[-1].error


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_hostile_targets(algorithm: Algorithm) -> None:
    how = Evolution(algorithm, 10, 3)
    assert evolve(X, np.full(60, np.nan), how) == []
    assert evolve(np.full((60, 2), np.inf), np.zeros(60), how) == []
    assert evolve(X[:0], np.zeros(0), how) == []
    assert evolve(X[:1], np.ones(1), how)
    assert evolve(X, 1e200 * X[:, 0], how) == []  # squares overflow
    assert evolve(X, np.zeros(60), how)
