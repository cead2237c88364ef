"""Datasets as plain data."""

import json

import numpy as np
import pandas as pd

from odefinder.data import Dataset, from_arrays
from odefinder.data.saved import as_dict, has_roles, read_dict

T = np.linspace(0.0, 9.0, 10)


def again(dataset: Dataset) -> Dataset:
    return read_dict(json.loads(json.dumps(as_dict(dataset), allow_nan=False)))


def test_plain_data_look_as_they_always_did() -> None:
    states = np.sin(T)[:, None].copy()
    states[3] = np.nan
    dataset = from_arrays({"x": states[:, 0], "y": T}, T)
    assert not has_roles(dataset)
    assert "roles" not in as_dict(dataset)
    np.testing.assert_array_equal(again(dataset).states[0], dataset.states[0])


def test_roles_survive() -> None:
    frame = pd.DataFrame(
        {"time": T, "x": np.sin(T), "x_sd": 0.1, "u": T**2, "k": 3.0, "amt": (T == 4.0) * 7.0}
    )
    dataset = from_arrays(frame, inputs=["u", "amt"], conditions="k").with_roles(2, 1, explicit_time=True)
    found = again(dataset)
    assert has_roles(dataset)
    assert (found.names, found.all_roles, found.velocities) == (dataset.names, dataset.all_roles, {0: 1})
    assert (found.doses, found.notes) == (dataset.doses, dataset.notes)
    expected = dataset.observations(dataset.scaling())
    data = found.observations(found.scaling())
    for name in ("times", "states", "known", "errors"):
        np.testing.assert_array_equal(getattr(data, name), getattr(expected, name))
    for one, other in zip(data.signals[0], expected.signals[0], strict=True):
        np.testing.assert_array_equal(one, other)
