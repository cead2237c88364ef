"""What is said about a system is what it does."""

import numpy as np
import pytest

from odefinder import ODEFormer
from odefinder.data import from_arrays
from odefinder.inference.claims import all_starts, claim, in_users_units, sound_first, still
from odefinder.inference.remarks import Explanation
from odefinder.limits.alarm import Alarm
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.system import ODESystem

T = np.linspace(0.0, 4.0, 30)
DECAY = ODESystem.from_text("x' = -x")


@pytest.mark.parametrize("size", [1e-90, 1e-9, 1.0, 1e9, 1e90])
@pytest.mark.parametrize("count", [1, 60])
def test_r2_is_that_of_the_simulation(size: float, count: int) -> None:
    factors = size * (1.0 + np.arange(count))
    dataset = from_arrays([factor * np.exp(-T) for factor in factors], [T] * count, variables=["x"])
    assert claim(DECAY, factors[:, None], in_users_units(dataset), dataset.scaling()) == pytest.approx(
        1.0, abs=1e-9
    )
    assert claim(DECAY, 2.0 * factors[:, None], in_users_units(dataset), dataset.scaling()) < 0.0


def test_without_time_nothing_is_claimed() -> None:
    dataset = from_arrays(np.exp(-T), T, variables=["x"])
    with Alarm(0.0):
        assert claim(DECAY, np.ones((1, 1)), in_users_units(dataset), dataset.scaling()) is None


def test_trajectories_that_were_not_fitted_begin_where_they_were_observed() -> None:
    whole = from_arrays([k + np.exp(-T) for k in range(5)], [T] * 5, variables=["x"])
    starts = all_starts(np.array([[1.1], [5.1]]), whole, np.array([0, 4]))
    assert starts.ravel().tolist() == [1.1, 2.0, 3.0, 4.0, 5.1]


def test_the_last_resort_always_exists() -> None:
    dataset = from_arrays(np.array([1e90, -1e90, 5.0, 1e-90]), np.array([0.0, 1e-9, 1e-8, 1e-7]))
    found = still(dataset)
    assert str(found.system) == "x0' = 0"
    assert np.isfinite(found.starts).all()


def test_systems_that_cannot_be_simulated_come_last() -> None:
    rows = [Explanation(DECAY, np.ones((1, 1)), r2, 0.0, 0.5, "search") for r2 in (-np.inf, 0.5, 0.9)]
    assert [one.r2 for one in sound_first(rows)] == [0.5, 0.9, -np.inf]


def test_outliers_count_in_what_is_claimed() -> None:
    states = np.exp(-T)
    states[[10, 21]] += [0.8, -0.5]
    model = ODEFormer(network=False, time_budget=20.0).fit(states, T)
    simulated = model.system_.simulate(model.starts_[0], T)
    assert model.equations_["r2"][0] == pytest.approx(variance_weighted_r2(states[:, None], simulated))
    assert not any("misses clear structure" in note for note in model.notes_)
