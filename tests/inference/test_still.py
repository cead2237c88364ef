"""Variables that never change within a trajectory."""

import numpy as np

from odefinder import ODEFormer
from odefinder.data import from_arrays
from odefinder.expressions.parse import parse
from odefinder.inference.still import without_still
from odefinder.system import ODESystem

T = np.linspace(0.0, 4.0, 40)


def runs() -> list[dict[str, np.ndarray]]:
    """x' = -0.5*x*k at three values of k, a third variable that is 7 everywhere."""
    return [
        {"k": np.full(40, k), "x": 3.0 * np.exp(-0.5 * k * T), "c": np.full(40, 7.0)} for k in (1.0, 2.0, 3.0)
    ]


def test_what_differs_between_trajectories_is_a_condition() -> None:
    data = from_arrays(runs(), T)
    still = without_still(data)
    assert still is not None
    assert (still.moving.variables, still.moving.conditions) == (("x",), ("k",))
    assert still.moving.settings is not None
    assert still.moving.settings.tolist() == [[1.0], [2.0], [3.0]]
    system = still.system(ODESystem(parse("-0.5*x*k", ["x", "k"]), ("x",), ("k",)))
    assert system == ODESystem.from_text("k' = 0; x' = -0.5*x*k; c' = 0")
    assert still.starts(np.array([[3.0]] * 3)).tolist() == [[k, 3.0, 7.0] for k in (1.0, 2.0, 3.0)]
    assert still.noise(np.array([0.1])).tolist() == [0.0, 0.1, 0.0]
    assert any("conditions=['k']" in note for note in data.notes)
    assert "c never changes: c' = 0." in data.notes


def test_nothing_is_still() -> None:
    assert without_still(from_arrays(np.column_stack([T, T**2]), T)) is None
    assert without_still(from_arrays(np.ones(40), T)) is None  # and nothing moves


def test_a_fit_has_a_derivative_of_exactly_0() -> None:
    model = ODEFormer(network=False).fit(runs(), T)
    assert all(str(one).startswith("k' = 0\nx' = ") for one in model.equations_["system"])
    assert all(str(one).endswith("\nc' = 0") for one in model.equations_["system"])
    assert str(model.system_) == "k' = 0\nx' = -0.5*x*k\nc' = 0"
    assert model.score(runs(), T) > 0.9999
    np.testing.assert_allclose(model.simulate()[:, [0, 2]], [[1.0, 7.0]] * 40)
    assert "0.5" in str(model.summary())
