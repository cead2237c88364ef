"""Waves of the time in what polynomials leave."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.expressions.program import CONST
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.waves import waves

T = np.linspace(0.0, 20.0, 160)
FORCED = ODESystem.from_text("x' = v; v' = -2*x - 0.3*v + 1.4*sin(w*t)", inputs=["t", "w"])


def noisy(frequency: float) -> np.ndarray:
    x = FORCED.simulate([1.0, 0.0], T, conditions={"w": frequency})
    return x + 0.03 * x.std(axis=0) * np.random.default_rng(0).normal(size=x.shape)


@pytest.mark.parametrize("frequency", [0.5, 2.2, 6.0])
def test_the_frequency_of_a_force_is_found(frequency: float) -> None:
    """From one and a half to nineteen periods."""
    model = ODEFormer(network=False, explicit_time=True, time_budget=0.01)
    dataset = model.fit(noisy(frequency), T, variables=["x", "v"]).dataset_
    data = dataset.observations(dataset.scaling())
    alone = [one for one in waves(data, estimate_states(data)) if one.inner == 2 and len(one.draft) == 6]
    found = [next(value for op, value in reversed(one.draft) if op == CONST) / T[-1] for one in alone]
    assert min(abs(one - frequency) for one in found) < 0.05


def test_without_the_time_there_are_none() -> None:
    model = ODEFormer(network=False, time_budget=0.01).fit(noisy(2.2), T)
    data = model.dataset_.observations(model.dataset_.scaling())
    assert waves(data, estimate_states(data)) == []


def test_a_force_of_many_periods_under_noise() -> None:
    model = ODEFormer(network=False, explicit_time=True, time_budget=60)
    model.fit(noisy(2.2), T, variables=["x", "v"])
    assert "sin(2.2*t)" in str(model.system_)
