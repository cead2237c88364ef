"""Features: their number, their integrals, and equations made of them."""

from math import comb

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.expressions.program import make_program
from odefinder.inference.fit.integral import component_score
from odefinder.inference.fit.states import StateEstimate, estimate_states
from odefinder.inference.propose.library import (
    LARGEST,
    all_features,
    equation,
    feature_integrals,
    make_library,
    monomials,
)


def estimate_of(dimension: int) -> StateEstimate:
    t = np.linspace(1.0, 10.0, 80)
    states = np.stack([np.sin(t + d) * (0.5 + 0.1 * d) + 0.4 * (d % 2) for d in range(dimension)], axis=1)
    return estimate_states(Observations(t, states, np.array([0, 80])))


@pytest.mark.parametrize(("dimension", "degree"), [(1, 5), (2, 4), (3, 3), (6, 2)])
def test_the_number_of_monomials(dimension: int, degree: int) -> None:
    features = list(monomials(dimension, degree))
    assert len({feature.draft for feature in features}) == comb(dimension + degree, degree)


@pytest.mark.parametrize("dimension", [1, 2, 3, 6, 9, 25])
def test_every_feature_is_a_valid_expression(dimension: int) -> None:
    estimate = estimate_of(dimension)
    for feature in all_features(estimate)[:: 1 + dimension]:
        program = equation([feature], [2.0])
        assert make_program(program.ops, program.values) == program
        assert len(program.components()) == 1
        size = component_score(program, 0.0, 100, 1.0) / np.log(100)
        assert size == pytest.approx(feature.cost - 0.5)  # without the sign of addition
    assert np.isfinite(make_library(estimate).integrals).all()


def test_integrals_of_features() -> None:
    estimate = estimate_of(2)
    features = list(monomials(2, 2))
    found = feature_integrals(features, estimate)
    x, y = estimate.nodes.T
    expected = estimate.integrals(np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)).T
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_poles_are_left_out() -> None:
    estimate = estimate_of(1)  # crosses 0
    library = make_library(estimate)
    slopes = (
        np.abs(np.diff(library.integrals, axis=1)).max(axis=1) / np.diff(np.linspace(1.0, 10.0, 80)).min()
    )
    assert slopes.max() < LARGEST


def test_an_equation_without_terms_is_zero() -> None:
    program = equation([], [])
    np.testing.assert_array_equal(program.constants, [0.0])
