"""Initial values that the user fixes or bounds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.errors import SettingsError
from odefinder.inference.fit.horizon import beginning, segments
from odefinder.inference.fit.known_settings import Known, knowledge_of
from odefinder.inference.fit.known_starts import with_starts
from odefinder.inference.fit.refine import fit_constants, held_starts
from odefinder.inference.prepared import prepared

ORAL = ODESystem.from_text("depot' = -0.7*depot; c' = 0.14*depot - 0.3*c")
KNOWN = "depot' = -ka*depot; c' = ka*depot/V - k*c"
HOURS = np.linspace(0.0, 12.0, 25)


def blood(noise: float = 0.0) -> np.ndarray:
    c = ORAL.simulate([100.0, 0.0], HOURS)[:, 1:]
    return c + noise * np.random.default_rng(0).normal(size=c.shape)


def data() -> Dataset:
    return from_arrays(blood(0.2), HOURS, ["c"]).with_roles(1, 1, False, ("depot", "c"))


def limits(**given: Any) -> tuple[tuple[float, float], ...]:
    found = knowledge_of(Known(known=KNOWN, **given), data())
    assert found is not None
    return found.starts


def test_names_of_initial_values() -> None:
    assert limits() == ()
    assert limits(fixed={"depot(0)": 100, "V": 5.0}) == ((-np.inf, np.inf), (100.0, 100.0))
    assert limits(bounds={"c ( 0 )": (0, None), "k": (0, 1)}) == ((0.0, np.inf), (-np.inf, np.inf))
    assert limits(fixed={"c(0)": 1.0}, bounds={"c(0)": (0, 2)})[0] == (1.0, 1.0)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"fixed": {"depo(0)": 1.0}}, "did you mean 'depot'"),
        ({"fixed": {"c(0)": 3.0}, "bounds": {"c(0)": (0, 2)}}, "exclude its fixed value"),
        ({"bounds": {"c(0)": (2, 0)}}, "leave nothing between"),
        ({"known": None, "fixed": {"depot(0)": 1.0}}, "scale of depot is free"),
        ({"fixed": {"c(0)": 100.0}}, "said to be 100, but the data begin with c = "),
        ({"bounds": {"c(0)": (50.0, None)}}, "between 50 and inf, but the data begin"),
    ],
)
def test_what_makes_no_sense_is_said(given: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        knowledge_of(Known(**{"known": KNOWN, **given}), data())


def test_a_fixed_dose_gives_a_volume(tmp_path: Path) -> None:
    model = ODEFormer(known=KNOWN, hidden=1, fixed={"depot(0)": 100, "c(0)": 0})
    model.fit(blood(0.2), HOURS, variables=["c"])
    assert model.constants_ == pytest.approx({"ka": 0.7, "V": 5.0, "k": 0.3}, rel=0.05)
    assert model.starts_.tolist() == [[0.0, 100.0]]
    assert all(row.determined for row in model.summary().constants)
    assert model.summary().start_errors.tolist() == [[0.0, 0.0]]
    bands = model.simulate(bands=True)
    assert (bands.upper - bands.lower)[0].tolist() == [0.0, 0.0]
    model.save(tmp_path / "model.json")
    again = ODEFormer.load(tmp_path / "model.json")
    assert again.summary().start_errors.tolist() == [[0.0, 0.0]]


def test_bounds_of_initial_values_hold() -> None:
    model = ODEFormer(known=KNOWN, hidden=1, bounds={"depot(0)": (20, 30), "c(0)": (0, None)})
    model.fit(blood(0.2), HOURS, variables=["c"])
    assert 20.0 <= model.starts_[0, 1] <= 30.0
    assert model.starts_[0, 0] >= 0.0


def test_a_pendulum_that_was_at_rest() -> None:
    t = np.linspace(0.0, 8.0, 40)
    x = ODESystem.from_text("x' = v; v' = -4*x - 0.3*v").simulate([1.0, 0.0], t)[:, :1]
    x = x + 0.02 * np.random.default_rng(0).normal(size=x.shape)
    model = ODEFormer(order=2, network=False, fixed={"q'(0)": 0}).fit(x, t, variables=["q"])
    assert model.starts_[0, 1] == 0.0


def test_parts_of_a_trajectory_that_begin_later_are_free() -> None:
    ready = prepared(data())
    own, estimate = with_starts(ready.data, ready.estimate, ((0.0, np.inf), (1.0, 1.0)), ready.scaling)
    assert held_starts(own, fit_starts=True).tolist() == [False, True]
    first = beginning(own, 0.5)
    assert held_starts(first, fit_starts=True).tolist() == [False, True]
    several, starts = segments(own, estimate.states, 6)
    assert held_starts(several, fit_starts=True).tolist() == [False, True, *[False] * (2 * len(starts) - 2)]
    program = ready.scaling.to_scaled(ODESystem.from_text("c' = -0.3*c; depot' = -depot").program)
    fit = fit_constants(program, own, starts=np.array([[-1.0, 7.0]]), iterations=0)
    assert fit.starts.tolist() == [[0.0, 1.0]]
