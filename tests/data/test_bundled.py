"""Data that come with odefinder."""

import re
from pathlib import Path

import numpy as np
import pytest

from odefinder.data import SAMPLES, sample, sample_path
from odefinder.data.bundled import BUNDLED, Sample, bundled
from odefinder.errors import DataError

FOLDER = sample_path("hare_lynx").parent
LIMIT = 300_000  # bytes of all samples together


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_read_with_its_roles(name: str) -> None:
    data, known = sample(name), bundled(name)
    assert all(np.isfinite(times).all() for times in data.times)
    assert set(known.inputs) <= set(data.known)
    assert set(known.conditions) <= set(data.known)
    assert set(known.errors) <= set(data.observed)


def test_what_was_measured_elsewhere_has_its_licence_beside_it() -> None:
    for path in FOLDER.glob("*.csv"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        if "github.com/" in first:
            licence = re.search(r"licences/\w+\.txt", first)
            assert licence, path
            assert len((FOLDER / licence[0]).read_text(encoding="utf-8")) > 500


def test_the_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in Path(FOLDER).rglob("*") if path.is_file()) < LIMIT


def test_options_are_those_of_the_command_line() -> None:
    one = Sample("", ("u",), ("T",), {"q": 0.5}, parameters={"order": 2, "time_budget": 30.0})
    assert " ".join(one.options()) == "--input u --condition T --error q=0.5 --order 2 --budget 30"
    assert BUNDLED["hare_lynx"].options() == []
    two = Sample("", parameters={"network": False, "known": "x' = -k*x", "bounds": {"k": (0.0, None)}})
    assert two.options() == ["--no-network", "--known", '"x\' = -k*x"', "--bounds", "k=0:"]


def test_an_unknown_sample() -> None:
    with pytest.raises(DataError, match="there are hare_lynx"):
        bundled("wolves")
