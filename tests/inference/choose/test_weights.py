"""Weights: sure only where the candidates agree and nothing is left."""

import numpy as np
import pytest

from odefinder.inference.choose.weights import EARLY, SPREAD, agreement, exactness, relative_weights, weights

LINE = np.linspace(0.0, 1.0, 20)[None, :, None]  # one trajectory from elsewhere
AWAY = np.full_like(LINE, np.nan)


def test_relative_weights() -> None:
    np.testing.assert_allclose(
        relative_weights(np.array([10.0, 10.0 + SPREAD, 400.0])), [0.7310586, 0.2689414, 0.0], atol=1e-6
    )


def test_agreement_is_about_trajectories_from_elsewhere() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    assert agreement([LINE, LINE + 1e-3, -LINE], shares) == pytest.approx(0.8)
    assert agreement([LINE, AWAY, AWAY], shares) == pytest.approx(0.5)
    assert agreement([AWAY, LINE, LINE], shares) == 0.0


def test_what_makes_a_result_less_sure() -> None:
    criteria, paths = np.array([0.0, 1.0]), [LINE, LINE]
    sure = weights(criteria, paths, 0.0)
    assert sure[0] > 0.9
    assert sure[1] / sure[0] == pytest.approx(np.exp(-1.0 / SPREAD))
    assert weights(criteria, [LINE, -LINE], 0.0)[0] < sure[0]
    assert weights(criteria, paths, 0.0, [LINE, -LINE])[0] < sure[0]
    assert weights(criteria, paths, 0.0, [LINE, LINE])[0] == sure[0]
    assert weights(criteria, paths, 1.0)[0] < sure[0]
    assert weights(criteria, paths, 0.0, one_path=True)[0] < sure[0]
    assert weights(criteria, paths, 0.0, early=True)[0] == EARLY


def test_exact_systems_are_sure() -> None:
    assert exactness(1e-15, 0.0) == 1.0
    assert exactness(0.0, 0.0) == 1.0
    assert exactness(1e-9, 0.0) == 0.0
    assert 0.0 < exactness(1e-11, 0.0) < exactness(1e-12, 0.0) < 1.0
    criteria, paths = np.array([0.0, 1.0]), [LINE, LINE]
    approximate, exact = (weights(criteria, paths, 0.0, exact=share)[0] for share in (0.0, 1.0))
    assert approximate < exact


def test_rounded_data_cannot_tell() -> None:
    assert exactness(1e-12, resolution=1e-12) == 1.0
    assert exactness(1e-9, resolution=1e-9) == exactness(1e-14, resolution=1e-9) == 0.0


def test_of_exact_systems_that_disagree_one_may_be_wrong() -> None:
    criteria, paths = np.array([0.0, 0.0]), [LINE, -LINE]
    assert weights(criteria, paths, 0.0, exact=1.0)[0] == pytest.approx(0.5)
    assert weights(criteria, [LINE, LINE], 0.0, exact=1.0)[0] > 0.99
    alone = weights(np.array([0.0, 100.0]), [AWAY, LINE], 0.0, exact=1.0)[0]
    assert alone > 0.4  # it runs away, but there is no other
