"""Curves for the page: forecasts, and inputs that are multiplied."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data.arrays import from_arrays
from odefinder.web.curves import curves, residuals
from odefinder.web.models import candidate_of, driving_of
from odefinder.web.tables import data_of

TIMES = np.linspace(0.0, 2.0, 21)


def test_the_time_goes_on_in_a_forecast() -> None:
    data = from_arrays(np.sin(TIMES)[:, None], TIMES, ["x"]).with_roles(explicit_time=True)
    system = ODESystem.from_text("x' = cos(t)", inputs=["t"])
    (curve,) = curves(system, np.zeros((1, 1)), data, until=3.0)
    assert curve["times"][-1] == 6.0
    assert curve["states"][0][-1] == pytest.approx(np.sin(6.0), abs=1e-5)


def test_inputs_are_multiplied_and_keep_their_last_value() -> None:
    data = from_arrays(TIMES[:, None], TIMES, ["x"], inputs={"u": np.ones(21)})
    system = ODESystem.from_text("x' = u", inputs=["u"])
    (curve,) = curves(system, np.zeros((1, 1)), data, until=2.0, factors=[3.0, 1.0])
    assert curve["states"][0][-1] == pytest.approx(12.0)
    (left,) = residuals(system, np.zeros((1, 1)), data)
    assert np.abs(left["states"][0]).max() < 1e-6
    (signals,) = driving_of(data.all_signals()) or []
    assert np.unique(signals["before"]).tolist() == [1.0]


def test_jumps_of_inputs_are_drawn_as_jumps() -> None:
    from odefinder.data import Hold

    data = from_arrays(TIMES[:, None], TIMES, ["x"], inputs={"u": Hold((np.arange(21) > 9).astype(float))})
    (line,) = data_of(data)["trajectories"][0]["inputs"]
    times, values = np.array(line["times"]), np.array(line["values"])
    assert np.all(np.diff(times) > 0)
    (jump,) = np.flatnonzero(np.diff(values))
    assert np.diff(times)[jump] < 1e-12


def test_velocities_nobody_measured_are_no_gaps() -> None:
    data = data_of(from_arrays(TIMES[:, None], TIMES, ["x"]).with_roles(order=2))
    assert data["observed"] == [True, False]
    assert data["gaps"] == 0


def test_constants_that_differ_between_trajectories() -> None:
    rates = (0.5, 1.0, 2.0)
    states = [5.0 * np.exp(-rate * TIMES)[:, None] for rate in rates]
    model = ODEFormer(known="x' = -k*x", vary=["k"]).fit(states, [TIMES] * 3, variables=["x"])
    found = candidate_of(model, 0)
    for rate, curve, left, signals in zip(
        rates, found["curves"], found["residuals"], found["driving"], strict=True
    ):
        assert curve["states"][0][-1] == pytest.approx(5.0 * np.exp(-2.0 * rate), rel=1e-2)
        assert np.abs(left["states"][0]).max() < 0.05
        assert signals["after"][0][0] == pytest.approx(rate, rel=1e-2)
