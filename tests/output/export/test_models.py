"""The export of a fitted model: with what its data say."""

from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.data.doses import Dose
from odefinder.errors import SettingsError
from odefinder.inference.outcome import Outcome
from odefinder.inference.remarks import Explanation

T = np.linspace(1.0, 7.0, 61)
SYSTEM = ODESystem.from_text("x' = u - 0.7*x/m", inputs=["m", "u"])


def fitted(dataset: Dataset, system: ODESystem, start: float) -> ODEFormer:
    """A model as a fit would leave it."""
    starts = np.full((len(dataset), 1), start)
    explanation = Explanation(system, starts, 1.0, 0.0, 1.0, "search")
    return ODEFormer()._keep(dataset, Outcome([explanation], np.zeros(1), []))


def executed(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "exported"}
    exec(source, names)
    return names


def test_inputs_conditions_and_doses_of_the_data() -> None:
    known = {"inputs": {"u": np.sin(T)}, "conditions": {"m": 2.0}}
    states = SYSTEM.simulate([1.5], T, **known)
    data = from_arrays(states, T, variables=["x"], **known)
    data = Dataset(**(vars(data) | {"doses": ((Dose(3.0, 2.5, "x"),),)}))
    exported = executed(fitted(data, SYSTEM, 1.5).export("python"))
    expected = SYSTEM.simulate([1.5], exported["times"], doses={"x": [(3.0, 2.5)]}, **_on(T))
    np.testing.assert_allclose(exported["solve"](exported["times"], exported["start"]), expected, rtol=1e-6)


def _on(times: np.ndarray) -> dict[str, Any]:
    return {"inputs": {"u": (times, np.sin(times))}, "conditions": {"m": 2.0}}


def test_what_the_data_lack() -> None:
    model = fitted(from_arrays(np.ones((61, 1)) + T[:, None], T, variables=["x"]), SYSTEM, 1.0)
    with pytest.raises(SettingsError, match=r"the data lack m, u; use system_\.export"):
        model.export("julia")
    with pytest.raises(SettingsError, match="there is no trajectory -1"):
        model.export("julia", -1)
