"""R2 against values in closed form."""

import numpy as np
import pytest

from odefinder.numerics.r2 import variance_weighted_r2


def test_perfect_mean_and_worse() -> None:
    truth = np.array([[1.0], [2.0], [3.0]])
    assert variance_weighted_r2(truth, truth) == 1.0
    assert variance_weighted_r2(truth, np.full((3, 1), 2.0)) == 0.0
    assert variance_weighted_r2(truth, truth[::-1]) == -3.0  # 1 - 8 / 2


def test_variables_are_weighted_by_their_variance() -> None:
    """The same as the variance-weighted average of the R2 of each variable."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50, 3)) * np.array([1.0, 10.0, 0.1])
    prediction = truth + rng.normal(size=(50, 3)) * np.array([0.5, 0.5, 0.5])
    single = np.array([variance_weighted_r2(truth[:, [j]], prediction[:, [j]]) for j in range(3)])
    variances = truth.var(axis=0)
    assert variance_weighted_r2(truth, prediction) == pytest.approx(
        (single * variances).sum() / variances.sum()
    )


def test_a_truth_that_stands_still() -> None:
    still = np.ones((4, 2))
    assert variance_weighted_r2(still, still) == 1.0
    assert variance_weighted_r2(still, still + 1e-9) == 1.0
    assert variance_weighted_r2(still, 2.0 * still) == 0.0


def test_what_is_not_finite_or_of_another_shape_is_worst() -> None:
    truth = np.array([[1.0], [2.0], [3.0]])
    for bad in (np.nan, np.inf):
        prediction = truth.copy()
        prediction[1] = bad
        assert variance_weighted_r2(truth, prediction) == -np.inf
    assert variance_weighted_r2(truth, truth[:2]) == -np.inf
    assert variance_weighted_r2(truth, np.full((3, 1), 1e300)) == -np.inf


def test_missing_observations_are_left_out() -> None:
    by_hand = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 3.0]])
    assert variance_weighted_r2(by_hand, np.array([[1.0, 1.0], [2.0, 9.0], [4.0, 2.0]])) == 0.8
    observed = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])
    predicted = np.array([[1.0, 5.0], [2.0, np.nan], [2.0, 7.0]])
    assert variance_weighted_r2(observed, predicted) == 0.5
