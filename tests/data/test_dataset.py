"""Datasets with roles, in canonical units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.data import Dataset, from_arrays
from odefinder.data.roles import Role
from odefinder.errors import SettingsError
from odefinder.numerics.integrate import Status, integrate
from odefinder.system import ODESystem

T = np.linspace(3.0, 8.0, 26)
EQUATIONS = "x' = x_dot; x_dot' = -2*x - 0.3*x_dot*h1 + u*k + 0.1*sin(t); h1' = x - h1"


def pendulum(scale: float = 1.0, origin: float = 0.0, stretch: float = 1.0) -> Dataset:
    """Two trajectories with different clocks; only x is seen."""
    t, later = origin + stretch * T, origin + stretch * (T + 40.0)
    force = {"u": [(t[[0, 10, 25]], [0.0, 1.0, -4.0]), lambda time: 2.0 * float(time > later[12])]}
    x = scale * np.sin(T)[:, None]
    return from_arrays([x, x], [t, later], ["x"], inputs=force, conditions={"k": [0.5, 3.0]}, errors=0.1)


def test_every_variable_has_its_place_and_role() -> None:
    dataset = pendulum().with_roles(order=2, hidden=1, explicit_time=True)
    assert dataset.names == ("x", "x_dot", "h1", "u", "k", "t")
    assert dataset.variables == ("x", "x_dot", "h1")
    assert dataset.all_roles == (
        Role.OBSERVED, Role.VELOCITY, Role.HIDDEN, Role.INPUT, Role.CONDITION, Role.TIME,
    )  # fmt: skip
    assert dataset.velocities == {0: 1}
    assert np.isnan(dataset.states[0][:, 1:]).all()
    assert np.isnan(dataset.first_values()[:, 1:]).all()
    assert str(dataset).endswith("; inputs u; conditions k")


@given(st.sampled_from([1.0, 0.1, 30.0]), st.sampled_from([0.0, -1e2, 1e5]), st.sampled_from([1.0, 0.1, 4.0]))
@settings(deadline=None, max_examples=20)
def test_a_simulation_in_canonical_units_is_the_same(scale: float, origin: float, stretch: float) -> None:
    """Programs, signals, conditions and the time fit together, for every trajectory with its own clock."""
    dataset = pendulum(scale, origin, stretch).with_roles(2, 1, explicit_time=True)
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    assert scaling.dimension == 3
    assert scaling.factors[1] == scaling.rate * scaling.factors[0]
    assert scaling.factors[2] == 1.0
    system = ODESystem.from_text(EQUATIONS, inputs=["u", "k", "t"])
    assert str(ODESystem(scaling.to_scaled(system.program), ("x", "v", "h"), ("u", "k", "t"))).startswith(
        "x' = v\n"
    )
    start = np.array([0.2 * scale, 0.1 * scale / stretch, 0.3])
    for number, (times, signals) in enumerate(zip(dataset.times, dataset.all_signals(), strict=True)):
        expected, status = integrate(system.program, start, times, signals=signals, rtol=1e-10, atol=1e-13)
        assert status == Status.OK
        rows = slice(*data.bounds[number : number + 2])
        found, _ = integrate(
            scaling.to_scaled(system.program), scaling.states(start), data.times[rows],
            signals=data.signals[number], rtol=1e-10, atol=1e-13,
        )  # fmt: skip
        size = np.abs(expected).max(axis=0)
        np.testing.assert_allclose(scaling.original_states(found) / size, expected / size, atol=1e-5)


def test_observations_with_roles() -> None:
    dataset = pendulum().with_roles(order=2, hidden=1, explicit_time=True)
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    assert data.roles == dataset.all_roles
    assert data.known is not None
    assert data.known.shape == (52, 3)
    np.testing.assert_allclose(np.abs(data.known).max(axis=0), 1.0)
    np.testing.assert_allclose(data.known[:, 2] * scaling.factors[5], np.concatenate(dataset.times))
    np.testing.assert_allclose(data.known[[0, 26], 1], [0.5 / 3.0, 1.0])
    assert data.errors is not None
    np.testing.assert_allclose(data.errors[:, 0], 0.1 / scaling.factors[0])
    assert np.isnan(data.errors[:, 1:]).all()
    assert data.times[0] == data.times[26] == data.signals[0].knots[0] == 1.0
    assert data.count == 52
    np.testing.assert_array_equal(data.scale[1:], 1.0)


def test_plain_data_have_no_roles() -> None:
    dataset = from_arrays(np.sin(T), T)
    data = dataset.observations(dataset.scaling())
    assert (data.roles, data.known, data.signals, data.errors) == ((), None, (), None)
    assert dataset.with_roles().variables == dataset.variables


def test_a_measured_velocity_is_an_observed_state() -> None:
    dataset = from_arrays({"x": np.sin(T), "x_dot": np.cos(T)}, T).with_roles(order=2)
    assert dataset.variables == ("x", "x_dot")
    assert dataset.velocities == {0: 1}
    assert dataset.all_roles == (Role.OBSERVED,) * 2
    np.testing.assert_allclose(
        dataset.scaling().factors, np.abs(np.column_stack([np.sin(T), np.cos(T)])).max(0)
    )


def test_doses_reach_hidden_states() -> None:
    import pandas as pd

    frame = pd.DataFrame({"time": T, "amt": 0.0, "c": np.sin(T), "cmt": "h1"})
    frame.loc[5, "amt"] = 7.0
    dataset = from_arrays(frame, inputs="amt").with_roles(hidden=1)
    data = dataset.observations(dataset.scaling())
    assert data.known is None
    assert data.signals[0].doses.tolist() == [[0.0, 7.0]]
    assert data.signals[0].knots[0] == data.times[5]


def test_points_and_variables_are_chosen_with_what_belongs_to_them() -> None:
    dataset = pendulum().with_points([np.array([0, 5, 7, 25]), np.arange(10)])
    assert [len(one) for one in dataset.errors] == [4, 10]
    full = pendulum().with_roles(2, 1)
    assert full.with_variables(["x_dot", "x"]).velocities == {1: 0}
    assert full.with_variables(["x_dot"]).velocities == {}


def test_the_name_of_the_time_must_be_free() -> None:
    dataset = Dataset((T,), (np.ones((26, 1)),), ("t",))
    with pytest.raises(SettingsError, match="a column is called t"):
        dataset.with_roles(explicit_time=True)
