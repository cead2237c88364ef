"""The doors of a fitted model, of its system and of what drives it, with hostile input.

`make fuzz` tries a thousand of each.
"""

import os
import tempfile
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefinder import ODEFormer, ODESystem
from odefinder.data import Clock, Hold, dates, from_arrays, sample, with_time_unit
from odefinder.errors import DataError, OdefinderError, SettingsError
from tests.test_fuzz import anything, formula, fuzzed, named, ours

T = np.linspace(0.0, 3.0, 12)
U = np.sin(T)
DRIVEN = ODESystem.from_text("x' = y + u; y' = -2*x", inputs=["u"])
CLOCK = Clock(name="date", unit="days", origin="2024-01-01")
odd = st.sampled_from([0, 1, 2, 0.5, -1, 10**9, 10**400, np.nan, np.inf, None, "a", "x", "u", "2024-01-02"])
odd |= st.sampled_from([pd.NaT, pd.NA, np.datetime64("NaT"), T, U[:3], pd.Series(U), np.zeros((2, 2, 2))])
odd |= st.sampled_from([lambda t: np.nan, lambda t: [t, t], lambda t: 1 / (t - 2.0), lambda: 1.0, len])
tables = st.builds(
    lambda times, values: pd.DataFrame({"t": pd.Series(times), "u": pd.Series(values)}),
    st.lists(st.floats(0.0, 3.0) | odd, max_size=5),
    st.lists(st.floats(-1.0, 1.0) | odd, max_size=5),
)
pairs = st.lists(st.tuples(odd | st.floats(0.0, 3.0), odd | st.floats()), max_size=3)
driving = odd | anything | named | tables | tables.map(Hold)
driving |= st.dictionaries(st.sampled_from(["u", "x", "t", 1, None]), odd | tables | pairs, max_size=2)


@cache
def fitted(kind: str) -> ODEFormer:
    model = ODEFormer(time_budget=0.3, network=False)
    if kind == "driven":
        return model.fit(pd.DataFrame({"t": T, "x": np.exp(-T), "u": U}), inputs=["u"])
    if kind == "several":
        runs = [pd.DataFrame({"t": T, "x": np.exp(-rate * T)}) for rate in (1.0, 2.0)]
        return model.set_params(known="x' = -k*x", vary=["k"]).fit(runs)
    days = pd.date_range("2024-01-01", periods=len(T))
    return model.fit(pd.DataFrame({"x": np.exp(-T), "y": np.exp(-T / 2)}, index=days))


kinds = st.sampled_from(["driven", "several", "dates"])


@fuzzed
@given(
    kind=kinds,
    bands=st.booleans(),
    name=st.sampled_from(["x0", "t", "inputs", "conditions", "level", "doses", "trajectory", "bands"]),
    thing=driving,
)
def test_simulations(kind: str, bands: bool, name: str, thing: Any) -> None:
    with ours():
        fitted(kind).simulate(**{"bands": bands, name: thing})


@fuzzed
@given(
    kind=kinds,
    name=st.sampled_from(["horizon", "points", "trajectory", "level", "inputs", "doses"]),
    thing=driving,
)
def test_forecasts(kind: str, name: str, thing: Any) -> None:
    if name != "points" or not isinstance(thing, int) or thing < 1000:
        with ours():
            fitted(kind).forecast(**{"horizon": 1.0, "points": 5, name: thing})


@fuzzed
@given(kind=kinds, door=st.integers(0, 11), thing=driving | formula)
def test_other_doors(kind: str, door: int, thing: Any) -> None:
    model = fitted(kind)
    calls: list[Any] = [
        lambda: model.score(thing, T), lambda: model.score({"x": T, "y": T}, T, measure=thing),
        lambda: model.score(np.exp(-T), T, inputs=thing), lambda: model.export(thing),
        lambda: model.export("julia", thing), lambda: model.latex(errors=thing), lambda: model.summary(thing),
        lambda: with_time_unit(model.dataset_, thing), lambda: dates(CLOCK, thing), lambda: sample(thing),
        lambda: model.observed_bands(thing), lambda: model.observed_bands(level=thing),
    ]  # fmt: skip
    with ours():
        calls[door]()


@fuzzed
@given(door=st.integers(0, 9), thing=driving)
def test_doors_of_a_system(door: int, thing: Any) -> None:
    x0, t = [1.0, 0.0], [0.0, 1.0, 2.0]
    calls: list[Any] = [
        lambda: DRIVEN.simulate(x0, t, inputs=thing), lambda: DRIVEN.simulate(x0, t, conditions=thing),
        lambda: DRIVEN.simulate(x0, t, inputs=1.0, doses=thing), lambda: DRIVEN.derivative(x0, thing),
        lambda: DRIVEN.export("julia", inputs=thing), lambda: DRIVEN.export("r", inputs=1.0, doses=thing),
        lambda: DRIVEN.with_variables(thing), lambda: DRIVEN.with_inputs(thing),
        lambda: DRIVEN.latex(labels=thing), lambda: ODESystem.from_text("x' = u", inputs=thing),
    ]  # fmt: skip
    with ours():
        calls[door]()


@fuzzed
@given(name=st.sampled_from(["inputs", "conditions", "errors"]), thing=driving)
def test_what_drives_a_fit(name: str, thing: Any) -> None:
    table = {"t": T, "x": np.exp(-T), "y": T, "x_sd": 0.1 + 0.0 * T, "run": np.repeat([1, 2], 6)}
    events = {"time": T, "amt": 1.0 * (T == 0.0), "cmt": 1, "dv": np.exp(-T)}
    for X, t in (({"x": np.exp(-T), "y": T}, T), (pd.DataFrame(table), None), (pd.DataFrame(events), None)):
        with ours():
            from_arrays(X, t, **{name: thing})


# ---------------------------------------------------------------- what campaigns have found


class Evil:
    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __bool__ = __len__ = __iter__ = __float__ = __repr__  # type: ignore[assignment]


def test_objects_without_a_text() -> None:
    model, evil = fitted("driven"), Evil()
    calls: list[Any] = [
        lambda: model.simulate(trajectory=evil), lambda: model.export(evil), lambda: sample(evil),
        lambda: model.export("r", evil), lambda: model.score(T, T, measure=evil),
        lambda: with_time_unit(model.dataset_, evil), lambda: DRIVEN.with_inputs(evil),
        lambda: DRIVEN.simulate([1.0, 0.0], T, conditions={"u": evil}), lambda: dates(CLOCK, evil),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(OdefinderError):
            call()


def test_numbers_that_no_float_can_hold() -> None:
    with pytest.raises(DataError, match="give a finite number"):
        DRIVEN.simulate([1.0, 0.0], T, inputs=10**400)
    with pytest.raises(DataError, match="pairs of time and amount"):
        DRIVEN.simulate([1.0, 0.0], T, inputs=1.0, doses={"x": [(10**400, 1.0)]})
    with pytest.raises(DataError, match="the condition k is not a number"):
        from_arrays(T, T, conditions={"k": 10**400})
    with pytest.raises(DataError, match="the errors of x0 do not fit"):
        from_arrays(T, T, errors={"x0": 10**400})
    with pytest.raises(DataError, match="numbers, 1 for each point"):
        DRIVEN.derivative([1.0, 0.0], {"u": 10**400})


def test_doses_of_a_table_next_to_another_input() -> None:
    events = {"time": T, "amt": 1.0 * (T == 0.0), "dv": np.exp(-T)}
    data = from_arrays(pd.DataFrame(events), inputs={"amt": "amt", "u": U})
    assert len(data.doses[0]) == 1
    assert data.known == ("u",)


def test_labels_are_texts_one_for_each_constant() -> None:
    assert "k" in DRIVEN.latex(labels=("k",))
    with pytest.raises(SettingsError, match="labels is a list of 1 texts"):
        DRIVEN.latex(labels=["a", "b"])


def test_times_without_a_date() -> None:
    assert list(dates(CLOCK, [0.0, 1.5]).astype(str)) == ["2024-01-01 00:00:00", "2024-01-02 12:00:00"]
    for times in ([np.nan], [1e300], [1e9], 5.0, "a"):
        with pytest.raises(DataError):
            dates(CLOCK, times)


def test_intervals_of_no_width() -> None:
    with pytest.raises(SettingsError, match=r"level is a number from 0\.001 to 0\.999999"):
        fitted("dates").summary(1e-320)
    assert str(fitted("dates").summary(0.001))


def test_many_doses_are_exported_at_once() -> None:
    """A loop within a loop over 30,000 of them would take minutes."""
    doses = {"x": [(k / 1e4, 1e-4) for k in range(30_000)]}
    for target in ("python", "julia", "matlab", "r", "modelica"):
        assert "0.0001" in DRIVEN.export(target, times=[0.0, 5.0], inputs=1.0, doses=doses)


def test_a_variable_called_underscore_can_be_drawn() -> None:
    model = ODEFormer(time_budget=0.2, network=False).fit(pd.DataFrame({"t": T, "_": np.exp(-T)}))
    assert r"\mathrm{\_}" in model.latex()
    with tempfile.TemporaryDirectory() as folder:
        model.plot(os.path.join(folder, "figure.png"))


@pytest.mark.parametrize(
    "parameters",
    [
        {"order": pd.DataFrame({"a": [1]})},
        {"hidden": pd.Series([1.0, 2.0])},
        {"explicit_time": T},
        {"known": np.array(1.0)},
        {"known": "x0' = -k*x0", "vary": np.zeros((2, 2))},
        {"positive": Evil()},
    ],
)
def test_arrays_in_the_place_of_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        ODEFormer(network=False, time_budget=0.1, **parameters).fit(T, T)
