"""Selection of columns: sparse combinations are found, also where the greedy first choice is wrong."""

import numpy as np
import pytest

from odefinder.inference.propose.subsets import additions, every_pair, grow, least_squares, shrink


def random_columns(count: int = 40, rows: int = 60) -> np.ndarray:
    columns = np.random.default_rng(0).normal(size=(count, rows))
    return columns / np.linalg.norm(columns, axis=1, keepdims=True)


def test_forward_selection_finds_three_columns() -> None:
    columns = random_columns()
    target = 2.0 * columns[3] - 1.5 * columns[17] + columns[30]
    sets = list(grow(columns, target, 3))
    assert [len(chosen) for chosen in sets] == [1, 2, 3]
    assert set(sets[-1]) == {3, 17, 30}
    coefficients, rest = least_squares(columns, target, [3, 17, 30])
    np.testing.assert_allclose(coefficients, [2.0, -1.5, 1.0])
    assert rest == pytest.approx(0.0, abs=1e-20)


def test_a_swap_mends_a_greedy_choice() -> None:
    """The sum of two columns is the best single one, but not one of the best pair."""
    columns = random_columns(10)
    lure = columns[1] + columns[2] + 0.9 * columns[9]
    columns = np.vstack([columns[:9], lure / np.linalg.norm(lure)])
    target = columns[1] + columns[2]
    first, second = grow(columns, target, 2)
    assert first == [9]
    assert set(second) == {1, 2}


def test_columns_that_nearly_cancel_are_found_among_all_pairs() -> None:
    columns = random_columns()
    columns[7] = columns[8] + 0.01 * columns[7]
    columns[7] /= np.linalg.norm(columns[7])
    target = columns[7] - columns[8]
    assert every_pair(columns, target, 3)[0] == (7, 8)
    assert len(every_pair(columns, target, 3)) == 3


def test_what_must_stay_stays() -> None:
    columns = random_columns()
    for chosen in grow(columns, columns[5] + columns[6], 3, start=(9,)):
        assert chosen[0] == 9


def test_the_gain_of_an_addition_is_the_fall_of_the_sum_of_squares() -> None:
    columns = random_columns()
    target = np.random.default_rng(1).normal(size=60)
    gain = additions(columns, target, [4, 8])
    before, after = (least_squares(columns, target, chosen)[1] for chosen in ([4, 8], [4, 8, 20]))
    assert gain[20] == pytest.approx(before - after)
    assert gain[4] == 0.0


def test_backward_elimination_keeps_what_counts() -> None:
    columns = random_columns(12)
    columns[11] = columns[3]  # a duplicate is no trouble
    target = columns[2] - 3.0 * columns[7]
    assert set(list(shrink(columns, target, range(12)))[-2]) == {2, 7}
