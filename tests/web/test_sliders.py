"""Sliders for the constants of a candidate."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data import from_arrays
from odefinder.inference.remarks import Explanation
from odefinder.web.models import played, played_with
from odefinder.web.sliders import sliders_of

T = np.linspace(0.0, 2.0, 40)


def explanation(text: str) -> Explanation:
    system = ODESystem.from_text(text)
    return Explanation(system, np.ones((1, system.dimension)), 1.0, 0.0, 1.0, "guess")


def test_a_factor_of_one_has_a_slider_and_signs_stay_in_the_equation() -> None:
    data = from_arrays(np.ones((40, 2)) * T[:, None], T, ["x", "y"])
    sliders = sliders_of(explanation("x' = -x; y' = x - 2*y"), data)
    assert sliders.names == ["k1", "k2", "k3"]
    assert sliders.values == [1.0, 1.0, 2.0]
    moved = ODESystem(sliders.moved(np.array([3.0, 1.0, 0.5])), ("x", "y"))
    assert str(moved) == "x' = -3*x\ny' = x - 0.5*y"


def test_that_a_velocity_is_one_has_none() -> None:
    data = from_arrays(np.cos(T)[:, None], T, ["x"]).with_roles(order=2)
    found = played_with(explanation("x' = x_dot; x_dot' = -4*x"), data)
    assert found["constants"] == [{"name": "k1", "value": 4.0, "equations": ["x''"]}]


def test_a_constant_in_two_equations_has_one_slider() -> None:
    truth = ODESystem.from_text("S' = -2*S*I; I' = 2*S*I - I")
    states = truth.simulate([0.99, 0.01], np.linspace(0.0, 10.0, 50))
    model = ODEFormer(known="S' = -b*S*I; I' = b*S*I - g*I").fit(
        states, np.linspace(0.0, 10.0, 50), variables=["S", "I"]
    )
    found = played_with(model._fitted()[0], model.dataset_)
    assert [(one["name"], one["equations"]) for one in found["constants"]] == [
        ("b", ["S'", "I'"]),
        ("g", ["I'"]),
    ]
    assert found["owners"].count(0) == 2
    answer = played(model, {"constants": [3.0, 0.5]})
    assert answer["text"].replace(" ", "") == "S'=-3*S*I\nI'=3*S*I-0.5*I"
    assert answer["curves"][0]["states"][0][-1] < 0.1


def test_constants_that_differ_between_trajectories_move_on_their_own() -> None:
    states = [5.0 * np.exp(-rate * T)[:, None] for rate in (0.5, 2.0)]
    model = ODEFormer(known="x' = -k*x", vary=["k"]).fit(states, [T, T], variables=["x"])
    (varied,) = played_with(model._fitted()[0], model.dataset_)["varied"]
    assert varied["values"] == pytest.approx([0.5, 2.0], rel=1e-2)
    curves = played(model, {"varied": [[1.0, varied["values"][1]]]})["curves"]
    assert curves[0]["states"][0][-1] == pytest.approx(5.0 * np.exp(-2.0), rel=1e-2)
    assert curves[1]["states"][0][-1] == pytest.approx(5.0 * np.exp(-4.0), rel=1e-2)
