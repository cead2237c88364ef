"""Who survives, who has children."""

from itertools import pairwise

import numpy as np
import pytest

from odefinder.bench.genetic.population import make_population
from odefinder.bench.genetic.selection import case_tolerances, first_filters, groups, lexicase, survivors
from tests.bench.genetic.genomes import stream


@pytest.mark.parametrize("seed", range(5))
def test_front_of_age_and_error_survives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    members = make_population(60, 4, 0)
    members.age[:] = rng.integers(0, 20, 60)
    members.fitness[:] = rng.integers(0, 20, 60)
    members.size[:] = rng.permutation(60)
    pairs = list(zip(members.age, members.fitness, members.size, strict=True))
    front = {
        i
        for i, (age, error, size) in enumerate(pairs)
        if not any((a <= age and e <= error and ((a, e) != (age, error) or s < size)) for a, e, s in pairs)
    }
    kept = survivors(stream(seed), members, max(len(front), 20))
    assert len(set(kept.tolist())) == max(len(front), 20)
    assert front <= set(kept.tolist())


def test_of_a_large_front_the_fittest_survive() -> None:
    members = make_population(30, 4, 0)
    members.age[:] = np.arange(30)
    members.fitness[:] = 30.0 - np.arange(30)
    assert sorted(survivors(stream(0), members, 10).tolist()) == list(range(20, 30))


def chosen(errors: np.ndarray, epsilon: np.ndarray, count: int = 300) -> np.ndarray:
    words, order, pool = stream(1), np.arange(len(errors)), np.empty(errors.shape[1], np.int64)
    pools, numbers = first_filters(errors, epsilon)
    picks = [lexicase(words, errors, epsilon, pools, numbers, order, pool) for _ in range(count)]
    return np.bincount(picks, minlength=errors.shape[1])


def test_lexicase_picks_the_best_of_each_case() -> None:
    errors = np.array([[0.0, 1.0, 2.0, 0.5], [2.0, 0.0, 1.0, 0.5], [1.0, 2.0, 0.0, 0.5]])
    picks = chosen(errors, np.zeros(3))
    assert picks[3] == 0  # good everywhere, best nowhere
    assert (picks[:3] > 60).all()


def test_within_epsilon_the_next_case_decides() -> None:
    errors = np.array([[0.0, 0.4, 9.0], [5.0, 0.0, 0.3]])
    picks = chosen(errors, np.array([0.5, 0.5]))
    assert picks.tolist() == [0, 300, 0]


def test_members_that_fail_everywhere_are_not_chosen() -> None:
    errors = np.array([[np.inf, 1.0], [np.inf, 1.0]])
    assert chosen(errors, case_tolerances(errors)).tolist() == [0, 300]


def test_tolerances_are_median_absolute_deviations() -> None:
    errors = np.array([[1.0, 2.0, 4.0, 9.0, 3.0], [1.0, np.inf, np.inf, np.inf, 2.0]])
    np.testing.assert_array_equal(case_tolerances(errors), [1.0, 0.0])


def test_groups_of_clones() -> None:
    members, starts = groups(np.array([3.0, 1.0, 3.0, np.inf, 1.0, 2.0]))
    parts = [members[a:b].tolist() for a, b in pairwise(starts)]
    assert parts == [[1, 4], [5], [0, 2], [3]]
