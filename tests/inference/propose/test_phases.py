"""Waves of angles in the user's units, and the phase oscillators that regression finds with them."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.expressions.drafts import finished
from odefinder.inference.fit.states import StateEstimate, estimate_states
from odefinder.inference.propose.phases import MOST_ANGLES, phase_features
from odefinder.inference.propose.sparse import propose
from odefinder.numerics.evaluate import evaluate
from odefinder.system import ODESystem

T = np.linspace(0.0, 10.0, 120)
PULLED = ODESystem.from_text(
    "a' = 1.3 + 0.31*sin(b - a) + 0.31*sin(c - a);"
    "b' = 1.7 + 0.31*sin(a - b) + 0.31*sin(c - b);"
    "c' = 0.81 + 0.31*sin(a - c) + 0.31*sin(b - c)"
)


def estimate_of(states: np.ndarray) -> tuple[StateEstimate, np.ndarray]:
    dataset = from_arrays(states, T)
    scaling = dataset.scaling()
    return estimate_states(dataset.observations(scaling)), scaling.factors


def test_waves_have_no_constants_in_the_users_units() -> None:
    estimate, factors = estimate_of(np.stack([3.0 * T, 2.0 * T + np.sin(T)], axis=1))
    angles = np.array([7.0, 2.5])
    values = [
        evaluate(finished(list(one.draft)), (angles / factors)[None])[0, 0]
        for one in phase_features(estimate, factors)
    ]
    expected = [np.sin(7.0), np.cos(7.0), np.sin(2.5), np.cos(2.5), np.sin(4.5), np.cos(4.5)]
    assert values == pytest.approx(expected)


@pytest.mark.parametrize(
    "states",
    [
        np.stack([1e-6 * T, 1e-6 * np.sin(T)], axis=1),  # no angle turns
        np.stack([1e9 * T, 1e9 * np.sin(T)], axis=1),  # no one could follow them
        np.sin(T)[:, None] * np.arange(1.0, MOST_ANGLES + 2),
    ],
)
def test_what_is_no_angle_has_no_waves(states: np.ndarray) -> None:
    assert not list(phase_features(*estimate_of(states)))


def test_units_that_pull_at_each_other_are_found() -> None:
    """They soon move alike, and polynomials follow them almost as well."""
    dataset = from_arrays(PULLED.simulate([0.4, 5.1, 2.2], T), T)
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    fronts = propose(data, estimate_states(data), factors=scaling.factors)
    places = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 3))
    for front, truth in zip(fronts, scaling.to_scaled(PULLED.program).components(), strict=True):
        expected = evaluate(truth, places)
        assert any(np.allclose(evaluate(fit.program, places), expected, atol=1e-4) for fit in front)
