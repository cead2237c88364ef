"""Terms added and dropped: in a linear problem the best set is known."""

import numpy as np

from odefinder.inference.choose.stepwise import Stepwise
from odefinder.inference.fit.shooting import Outlook


def problem() -> tuple[Stepwise, np.ndarray, np.ndarray]:
    """A linear regression, seen from wrong coefficients; the columns and the target."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(500, 8)) * [1, 10, 0.1, 1, 1, 5, 1, 1]
    target = columns @ [2.0, 0.3, 0, 0, -1.0, 0, 0, 0] + 0.1 * rng.normal(size=500)
    here = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    rest = columns @ here - target
    around = Outlook(float(rest @ rest), columns.T @ rest, columns.T @ columns)
    return Stepwise.around(around, here, np.full(8, 10.0), 500), columns, target


def test_the_true_terms_come_first() -> None:
    stepwise, columns, target = problem()
    start = np.array([True, False, False, True, False, False, False, False])
    best = stepwise.best_sets(start)[0]
    assert np.flatnonzero(best).tolist() == [0, 1, 4]
    expected = np.linalg.lstsq(columns[:, best], target, rcond=None)[0]
    assert np.allclose(stepwise.solution(best)[best], expected)
    assert not stepwise.solution(best)[~best].any()


def test_the_expected_cost_is_that_of_least_squares() -> None:
    stepwise, columns, target = problem()
    one, other = np.arange(8) < 2, np.arange(8) < 5
    left = [float(np.linalg.lstsq(columns[:, k], target, rcond=None)[1][0]) for k in (one, other)]
    expected = 0.25 * 500 * np.log(left[0] / left[1]) - 30.0
    assert np.isclose(stepwise.value(one) - stepwise.value(other), expected)
