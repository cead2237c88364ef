"""Scores of chaotic motion: the true law scores well where R2 over the whole record does not."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data import Dataset, from_arrays
from odefinder.errors import SettingsError
from odefinder.inference.measures import MEASURES, chaos_measure, checked_measure

LORENZ = ODESystem.from_text("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z")
OTHER = ODESystem.from_text("x' = 10*(y - x); y' = x*(20 - z) - y; z' = x*y - 8/3*z")  # comes to rest
T = np.linspace(0.0, 20.0, 1500)
STARTS = np.array([[-8.0, 7.0, 27.0]])


@pytest.fixture(scope="module")
def data() -> Dataset:
    states = LORENZ.simulate(STARTS[0], T)
    noise = 0.01 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    return from_arrays(states + noise, T, ["x", "y", "z"])


def test_the_law_scores_well(data: Dataset) -> None:
    near = STARTS + 1e-3
    assert 3.0 < chaos_measure(LORENZ, data, near, "valid_time") < 15.0  # of 18 Lyapunov times
    assert chaos_measure(LORENZ, data, near, "window_r2") > 0.99
    assert chaos_measure(LORENZ, data, near, "attractor_distance") < 0.15
    assert chaos_measure(LORENZ, data, near, "lyapunov_exponent") == pytest.approx(0.906, abs=0.08)
    assert chaos_measure(LORENZ, data, near, "dimension") == pytest.approx(2.06, abs=0.02)


def test_another_law_scores_badly(data: Dataset) -> None:
    assert chaos_measure(OTHER, data, STARTS, "attractor_distance") > 0.3
    assert chaos_measure(OTHER, data, STARTS, "lyapunov_exponent") < 0.0
    assert chaos_measure(OTHER, data, STARTS, "valid_time") < 2.0


def test_measures_are_named() -> None:
    with pytest.raises(SettingsError, match="valid_time"):
        checked_measure("mse")
    assert MEASURES[0] == "r2"
    driven = ODESystem.from_text("x' = u - x", inputs=("u",))
    with pytest.raises(SettingsError, match="without inputs"):
        chaos_measure(driven, from_arrays(np.sin(T), T), np.zeros((1, 1)), "valid_time")


def test_an_estimator_scores_by_measure() -> None:
    t = np.linspace(0.0, 6.0, 60)
    model = ODEFormer(network=False, time_budget=3.0).fit(np.exp(-t), t)
    assert model.score(np.exp(-t), t, measure="lyapunov_exponent") == pytest.approx(-1.0, abs=0.01)
    with pytest.raises(SettingsError, match="measure is one of"):
        model.score(np.exp(-t), t, measure="nothing")  # type: ignore[arg-type]
