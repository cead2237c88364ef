"""Fitted models as files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from odefinder import ODEFormer, ODESystem, sample
from odefinder.errors import DataError
from odefinder.inference.outcome import Outcome

TRUTH = ODESystem.from_text("x' = 2*x - x*y; y' = x*y - y")
T = np.linspace(0.0, 8.0, 100)
X = TRUTH.simulate([1.0, 0.5], T)


def quick(**parameters: Any) -> ODEFormer:
    return ODEFormer(**{"network": False, "time_budget": 20.0, **parameters})


@pytest.fixture(scope="module")
def with_network() -> ODEFormer:
    return ODEFormer(time_budget=60.0).fit(sample("hare_lynx"))


def test_save_and_load(with_network: ODEFormer, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model = clone(with_network).set_params(guess=TRUTH, operators={"sin", "inv"}, weights=Path("w"))
    model._keep(with_network.dataset_, Outcome(with_network._explanations, with_network.noise_, ["a"]))
    model.choose(2).save(path)
    again = ODEFormer.load(path)
    assert str(again) == str(model)
    assert again.system_ == model.system_
    assert again.get_params() == {
        **model.get_params(), "guess": TRUTH.to_text(), "operators": ["inv", "sin"], "weights": "w",
    }  # fmt: skip
    np.testing.assert_array_equal(again.starts_, model.starts_)
    np.testing.assert_array_equal(again.noise_, model.noise_)
    assert again.notes_ == model.notes_
    assert again.dataset_.clock == model.dataset_.clock
    content = json.loads(path.read_text())
    assert (content["format"], content["version"]) == ("odefinder model", 1)


def test_missing_entries_survive_a_file(tmp_path: Path) -> None:
    states = X.copy()
    states[3, 0] = np.nan
    quick(time_budget=5.0, sparse=False, guess="x' = 2*x - x*y; y' = x*y - y").fit(
        states, T, variables=["x", "y"]
    ).save(tmp_path / "m.json")
    np.testing.assert_array_equal(ODEFormer.load(tmp_path / "m.json").dataset_.states[0], states)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "this is not a saved model"),
        ("no json", "this is not JSON"),
        ('{"format": "odefinder model", "version": 99}', "up to version 2: update odefinder"),
        ('{"format": "odefinder model", "version": 1}', "is damaged"),
        ('{"format": "odefinder model"}', "it is damaged"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(DataError, match=message):
        ODEFormer.load(tmp_path / "m.json")
    with pytest.raises(DataError, match="there is no file"):
        ODEFormer.load(tmp_path / "other.json")
