"""Fitness predictors order expressions by a few points as all points would."""

import numpy as np
import pytest

from odefinder.bench.genetic.predictors import (
    estimate,
    evolve_predictors,
    fault_of,
    make_predictors,
    score_predictors,
    set_trainer,
)
from tests.bench.genetic.genomes import stream


def test_predictors_get_better_and_order_the_trainers() -> None:
    rng, words = np.random.default_rng(0), stream(0)
    target = rng.normal(size=80)
    predictors = make_predictors(words, 30, 5, 10, 80)
    for k in range(10):
        # Errors that only some points show.
        set_trainer(predictors, target + (np.arange(80) % 10 == k) * (k + 1.0), target)
    score_predictors(predictors)
    first = predictors.fault.copy()
    for _ in range(40):
        evolve_predictors(words, predictors)
    assert (predictors.fault <= first).all()
    assert predictors.fault.min() < first.min()
    assert predictors.points.min() >= 0
    assert predictors.points.max() < 80


def test_all_points_are_without_fault() -> None:
    rng = np.random.default_rng(1)
    predictors = make_predictors(stream(1), 1, 5, 4, 20)
    for scale in (1.0, 2.0, 3.0, np.nan):  # what is not finite counts as very bad
        set_trainer(predictors, scale * rng.normal(size=20), np.zeros(20))
    assert fault_of(predictors, np.arange(20), np.empty(4)) < 1e-12
    assert estimate(predictors.squares[0], np.arange(20)) == pytest.approx(predictors.squares[0].mean())
