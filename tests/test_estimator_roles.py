"""Fits of what laboratories have: velocities nobody measured, inputs, conditions, the time itself."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from odefinder import ODEFormer
from odefinder.errors import SettingsError, SimulationWarning
from odefinder.system import ODESystem

TIMES = np.linspace(0.0, 12.0, 120)
FORCE = np.sign(np.sin(1.7 * TIMES)) + 0.3 * np.cos(0.5 * TIMES)
PENDULUM = ODESystem.from_text("theta' = v; v' = -2.3*sin(theta) - 0.2*v")
DRIVEN = ODESystem.from_text("x' = v; v' = 1.5*u - 0.4*v - 2*x - x^3", inputs=["u"])


def noisy(x: NDArray[np.float64], share: float = 0.03) -> NDArray[np.float64]:
    return x + share * x.std(axis=0) * np.random.default_rng(0).normal(size=x.shape)


def quick(**options: object) -> ODEFormer:
    return ODEFormer(**{"network": False, "time_budget": 60} | options)


def test_a_pendulum_seen_by_its_angle() -> None:
    theta = PENDULUM.simulate([1.8, 0.0], TIMES)[:, :1]
    model = quick(order=2).fit(theta, TIMES, variables=["theta"])
    assert "theta'' = -0.2*theta' - 2.3*sin(theta)" in str(model)
    assert model.system_.variables == ("theta", "theta_dot")
    assert model.starts_[0] == pytest.approx([1.8, 0.0], abs=1e-3)
    other = PENDULUM.simulate([-1.0, 1.5], TIMES)[:, :1]
    assert model.score(other, TIMES) > 0.9999


def test_a_noisy_angle_is_no_obstacle() -> None:
    theta = noisy(PENDULUM.simulate([1.8, 0.0], TIMES)[:, :1])
    model = quick(order={"theta": 2}).fit(theta, TIMES, variables=["theta"])
    assert model.score(PENDULUM.simulate([-1.0, 1.5], TIMES)[:, :1], TIMES) > 0.99


def test_measured_velocities_are_used() -> None:
    states = PENDULUM.simulate([1.8, 0.0], TIMES)
    frame = pd.DataFrame({"t": TIMES, "theta": states[:, 0], "theta_dot": states[:, 1]})
    model = quick(order=2).fit(frame)
    first, second = str(model.system_).splitlines()
    assert first.split("=")[1].strip() == "theta_dot"
    assert second.split("=")[1].strip() == "-0.2*theta_dot - 2.3*sin(theta)"


def test_a_driven_oscillator_seen_by_its_position(tmp_path: Path) -> None:
    x = noisy(DRIVEN.simulate([0.2, 0.0], TIMES, inputs=FORCE[:, None])[:, :1])
    model = quick(order=2).fit(x, TIMES, variables=["x"], inputs={"u": FORCE})
    assert re.search(r"x'' = 1.5\d*\*u - 2[.\d]*\*x - 0.4\d*\*x' - ([.\d]+\*)?x\^3\n", str(model))
    push = np.cos(2.2 * TIMES)
    truth = DRIVEN.simulate([0.0, 0.0], TIMES, inputs=push[:, None])
    np.testing.assert_allclose(model.simulate([0.0, 0.0], TIMES, inputs={"u": push}), truth, atol=0.2)
    model.save(tmp_path / "model.json")
    again = ODEFormer.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.simulate(), model.simulate())
    model.plot(tmp_path / "figure.png")
    with pytest.raises(SettingsError, match="reads u"):
        model.score(x, TIMES)


def test_conditions_of_several_trajectories() -> None:
    growth = ODESystem.from_text("N' = 0.5*c*N*(1 - N/4)", inputs=["c"])
    levels = (0.5, 1.0, 2.0)
    runs = [growth.simulate([0.3], TIMES, conditions={"c": level}) for level in levels]
    conditions = [{"c": level} for level in levels]
    model = quick().fit(runs, [TIMES] * 3, variables=["N"], conditions=conditions)
    assert str(model.system_) == "N' = 0.5*N*c - 0.125*N^2*c"
    predicted = model.simulate([0.3], TIMES, conditions={"c": 3.0})
    np.testing.assert_allclose(predicted, growth.simulate([0.3], TIMES, conditions={"c": 3.0}), atol=1e-3)


def test_a_force_of_unknown_frequency() -> None:
    x = ODESystem.from_text("x' = -0.5*x + 2*sin(1.3*t)", inputs=["t"]).simulate([0.5], TIMES)
    model = quick(explicit_time=True).fit(x, TIMES, variables=["x"])
    assert str(model.system_) == "x' = 2*sin(1.3*t) - 0.5*x"


def test_velocities_stay_velocities_where_constants_are_tied() -> None:
    t = np.linspace(0.0, 12.0, 100)
    truth = ODESystem.from_text("x' = v; y' = w; v' = 0.4*y - 1.73*x; w' = 0.4*x - 1.73*y")
    positions = truth.simulate([1.0, -0.3, 0.2, 0.5], t)[:, :2]
    noisy = positions + 0.02 * np.random.default_rng(3).standard_normal(positions.shape)
    model = ODEFormer(order=2, network=False).fit(noisy, t)
    first, second = model.system_.to_text().splitlines()[:2]
    assert (first.split("= ")[1], second.split("= ")[1]) == ("x0_dot", "x1_dot")


def test_what_does_nothing_is_dropped_along_the_path_of_a_hidden_state() -> None:
    """Nobody measured g; where it is taken for 0, every term with it seems to do nothing."""
    t = np.linspace(0.0, 30.0, 120)
    oral = ODESystem.from_text("c' = 0.15*g - 0.25*c; g' = -0.9*g")
    doses = {"g": [(10.0, 15.0), (19.0, 25.0)]}
    c = oral.simulate([0.0, 20.0], t, doses=doses)[:, 0]
    rows = pd.DataFrame({"time": t, "c": c, "amt": np.nan, "cmt": ""})
    given = pd.DataFrame({"time": [10.0, 19.0], "c": np.nan, "amt": [15.0, 25.0], "cmt": "g"})
    table = pd.concat([rows, given]).sort_values("time", kind="stable")
    guess = "c' = 0.2*g/(1 + 0.001*c^2) - 0.2*c; g' = -0.8*g"
    model = quick(hidden=1, known="g' = ?; c' = ?", guess=guess)
    model.fit(table, inputs=["amt"], variables=["c"])
    assert str(model.system_).splitlines() == ["c' = 0.15*g - 0.25*c", "g' = -0.9*g"]


def test_score_finds_inputs_and_conditions_among_the_columns() -> None:
    tank = ODESystem.from_text("h' = k*u - 0.5*h", inputs=["u", "k"])
    force = np.sin(TIMES) + 1.0
    tables = []
    for k in (0.5, 1.0, 2.0):
        h = tank.simulate([1.0], TIMES, inputs={"u": force}, conditions={"k": k})[:, 0]
        tables.append(pd.DataFrame({"time": TIMES, "h": h, "u": force, "k": k}))
    model = quick(known="h' = a*k*u - b*h").fit(tables, inputs=["u"], conditions=["k"])
    assert model.score(tables[1]) > 0.9999
    assert model.score(tables) > 0.9999
    with pytest.raises(SettingsError, match="the system reads u, k"):
        model.score(tables[1][["time", "h"]])


def test_constants_that_only_occur_together_are_named() -> None:
    t = np.linspace(0.0, 10.0, 60)
    epidemic = ODESystem.from_text("S' = -0.5*S*I; I' = 0.5*S*I - 0.2*I").simulate([1.0, 0.1], t)
    model = quick(known="S' = -b*Q*S*I; I' = b*Q*S*I - g*I").fit(epidemic, t, variables=["S", "I"])
    assert "The data determine only the product of the constants b and Q." in model.notes_


def test_observed_inputs_beyond_their_times_are_held_and_said_to_be() -> None:
    follower = ODESystem.from_text("x' = u - 0.5*x", inputs=["u"])
    x = follower.simulate([1.0], TIMES, inputs={"u": FORCE})
    model = quick(known="x' = a*u - b*x").fit(x, TIMES, variables=["x"], inputs={"u": FORCE})
    last, later = TIMES[-1], np.linspace(0.0, 2.0 * TIMES[-1], 50)
    said = rf"u is known from 0 to {last:g}, the times run from 0 to {2 * last:g}: after, its last value"
    with pytest.warns(SimulationWarning, match=said):
        states = model.simulate([1.0], later)
    held = {"u": (TIMES, FORCE)}
    with pytest.warns(SimulationWarning, match="its last value"):
        np.testing.assert_allclose(states, model.simulate([1.0], later, inputs=held), atol=1e-6)
    with pytest.warns(SimulationWarning, match=r"Give inputs= \(--inputs\)"):
        model.forecast(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.simulate([1.0], TIMES[:20])
