"""R2 of trajectories, against values worked out by hand."""

import numpy as np
import pytest

from odefinder.bench.metrics import r2_score, trajectory_r2
from tests.programs import words

T = np.linspace(0.0, 2.0, 41)


def test_perfect_mean_and_worse() -> None:
    truth = np.array([[1.0], [2.0], [3.0]])
    assert r2_score(truth, truth) == 1.0
    assert r2_score(truth, np.full((3, 1), 2.0)) == 0.0
    assert r2_score(truth, truth[::-1]) == -3.0  # 1 - 8 / 2


def test_variables_are_weighted_by_their_variance() -> None:
    """The same as the variance-weighted average of the R2 of each variable."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50, 3)) * np.array([1.0, 10.0, 0.1])
    prediction = truth + rng.normal(size=(50, 3)) * np.array([0.5, 0.5, 0.5])
    single = np.array([r2_score(truth[:, [j]], prediction[:, [j]]) for j in range(3)])
    variances = truth.var(axis=0)
    assert r2_score(truth, prediction) == pytest.approx((single * variances).sum() / variances.sum())


def test_a_truth_that_stands_still() -> None:
    still = np.ones((4, 2))
    assert r2_score(still, still) == 1.0
    assert r2_score(still, still + 1e-9) == -np.inf


def test_what_is_not_finite_or_of_another_shape_is_worst() -> None:
    truth = np.array([[1.0], [2.0], [3.0]])
    for bad in (np.nan, np.inf):
        prediction = truth.copy()
        prediction[1] = bad
        assert r2_score(truth, prediction) == -np.inf
    assert r2_score(truth, truth[:2]) == -np.inf
    assert r2_score(truth, np.full((3, 1), 1e300)) == -np.inf


def test_a_trajectory_in_closed_form() -> None:
    truth = 3.0 * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words("mul -0.7 x0"), truth[0], T, truth) == pytest.approx(1.0, abs=1e-12)
    slower = 3.0 * np.exp(-0.5 * T)[:, None]
    expected = r2_score(truth, slower)
    assert trajectory_r2(words("mul -0.5 x0"), truth[0], T, truth) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_unit_of_the_data_does_not_matter(scale: float) -> None:
    truth = scale * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words("mul -0.7 x0"), truth[0], T, truth) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("text", ["mul 100 pow3 x0", "inv add x0 -3", "log add x0 -5"])
def test_what_cannot_be_integrated_is_worst(text: str) -> None:
    truth = 3.0 * np.exp(-0.7 * T)[:, None]
    assert trajectory_r2(words(text), truth[0], T, truth) == -np.inf
