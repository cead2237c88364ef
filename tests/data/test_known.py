"""Inputs, conditions and errors in arrays, lists, tables and files."""

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odefinder.data import Dataset, from_arrays, read
from odefinder.data.inputs import Hold
from odefinder.errors import DataError, OdefinderError, SettingsError
from odefinder.numerics.knots import values_at

T = np.linspace(0.0, 9.0, 10)
X = np.column_stack([np.sin(T), np.cos(T)])
U = T**2
FRAME = pd.DataFrame({"time": T, "x": X[:, 0], "y": X[:, 1], "u": U, "temperature": 20.0})
SEVERAL = pd.concat([FRAME.assign(run=1), FRAME.assign(run=2, temperature=30.0)], ignore_index=True)


def note(dataset: Dataset) -> str:
    return " ".join(dataset.notes)


def at_rows(dataset: Dataset, number: int = 0) -> np.ndarray:
    return values_at(dataset.signals[number], dataset.times[number])


# ------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize(
    ("inputs", "name"),
    [
        (U, "u"), (U[:, None], "u"), (U.tolist(), "u"), ({"force": U}, "force"),
        (pd.Series(U, name="force"), "force"), (pd.DataFrame({"force": U}), "force"),
        (pd.DataFrame({"force": U, "t": T}), "force"), ({"force": (T, U)}, "force"), ((T, U), "u"),
        ({"force": pd.DataFrame({"t": T, "value": U})}, "force"), (Hold(U), "u"), ({"u": Hold((T, U))}, "u"),
        ([U], "u"), ([{"force": U}], "force"),
    ],
)  # fmt: skip
def test_an_input_of_an_array(inputs: Any, name: str) -> None:
    dataset = from_arrays(X, T, inputs=inputs)
    assert dataset.inputs == (name,)
    assert dataset.variables == ("x0", "x1")
    np.testing.assert_allclose(at_rows(dataset)[:, 0], U)


def test_functions_numbers_and_several_inputs() -> None:
    dataset = from_arrays(X, T, inputs={"u": np.cos, "k": 3, "v": U})
    assert dataset.inputs == ("u", "k", "v")
    np.testing.assert_allclose(at_rows(dataset), np.column_stack([np.cos(T), np.full(10, 3.0), U]), atol=2e-3)
    dataset = from_arrays(X, T, inputs=lambda t: (t, 2.0 * t))
    assert dataset.inputs == ("u1", "u2")
    assert from_arrays(X, T, inputs=np.column_stack([U, T])).inputs == ("u1", "u2")


@pytest.mark.parametrize(
    "inputs",
    ["u", ["u"], {"u": "u"}, {"u": U}, pd.DataFrame({"u": U}), U, [Hold("u")], Hold("u"), Hold(["u"])],
)
def test_an_input_of_a_table(inputs: Any) -> None:
    frame = FRAME if not isinstance(inputs, (np.ndarray, pd.DataFrame)) else FRAME.drop(columns="u")
    frame = (
        frame.drop(columns="u") if isinstance(inputs, dict) and isinstance(inputs["u"], np.ndarray) else frame
    )
    dataset = from_arrays(frame.drop(columns="temperature"), inputs=inputs)
    assert (dataset.variables, dataset.inputs) == (("x", "y"), ("u",))
    np.testing.assert_allclose(at_rows(dataset)[:, 0], U)


def test_held_columns_jump() -> None:
    dataset = from_arrays(FRAME, inputs=Hold("u"), conditions="temperature")
    between = values_at(dataset.signals[0], np.array([2.5]))
    assert between.tolist() == [[4.0]]


def test_steps_get_a_note_that_names_hold() -> None:
    steps, ramp = np.repeat([0.0, 2.0], 5), np.clip(T - 3.0, 0.0, 3.0)
    assert "u changes in steps" in note(from_arrays(X, T, inputs={"u": steps}))
    assert "--hold u" in note(from_arrays(X, T, inputs={"u": steps}))
    meant = ([0.0, 5.0, 5.0, 9.0], [0.0, 0.0, 2.0, 2.0])
    for source in (Hold(steps), ramp, np.ones(10), meant, U):
        assert "steps" not in note(from_arrays(X, T, inputs={"u": source}))


def test_names_that_equations_cannot_use() -> None:
    frame = FRAME.rename(columns={"u": "Voltage (V)"})
    dataset = from_arrays(frame, inputs=["Voltage (V)"], conditions={"T": "temperature"})
    assert (dataset.inputs, dataset.conditions) == (("Voltage",), ("T",))
    assert "'Voltage (V)' is called Voltage" in note(dataset)


def test_an_input_with_other_times() -> None:
    dataset = from_arrays(X, T, inputs={"u": ([1.0, 5.0], [2.0, 6.0])})
    assert (
        "u is known from 1 to 5, the data run from 0 to 9: before, its first value, 2, is held; after"
        in note(dataset)
    )
    np.testing.assert_allclose(at_rows(dataset)[:, 0], [2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0, 6.0])


def test_dates_of_inputs_are_those_of_the_data() -> None:
    days = pd.date_range("2020-01-01", periods=10, freq="D")
    hours = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=20, freq="12h"), "u": np.arange(20.0)})
    dataset = from_arrays(X, days, inputs=hours)
    np.testing.assert_allclose(at_rows(dataset)[:, 0], 2.0 * T)
    with pytest.raises(DataError, match=r"the input u are numbers, those of the data are dates"):
        from_arrays(X, days, inputs={"u": (T, U)})
    table = pd.DataFrame({"minutes": 60.0 * T, "u": U})
    by_unit = from_arrays(pd.DataFrame({"hours": T, "x": X[:, 0]}), inputs=table)
    np.testing.assert_allclose(at_rows(by_unit)[:, 0], U)


def test_missing_values_of_inputs() -> None:
    gaps = U.copy()
    gaps[[3, 4]] = np.nan
    dataset = from_arrays(X, T, inputs=gaps)
    assert "2 of 10 values of u are missing: interpolated." in dataset.notes
    np.testing.assert_allclose(at_rows(dataset)[3, 0], 4.0 + (25.0 - 4.0) / 3.0)


def test_inputs_follow_rows_that_are_sorted_or_left_out() -> None:
    order = np.array([3, 1, 0, 2, 9, 8, 7, 6, 5, 4])
    states = X.copy()
    states[5] = np.nan
    dataset = from_arrays(states[order], T[order], inputs=U[order])
    assert len(dataset.times[0]) == 9
    np.testing.assert_allclose(at_rows(dataset)[:, 0], np.delete(U, 5))


# ------------------------------------------------------------------------------------------- trajectories


@pytest.mark.parametrize(
    "inputs",
    [[U, 2.0 * U], {"u": [U, 2.0 * U]}, [{"u": U}, {"u": 2.0 * U}], np.concatenate([U, 2.0 * U]),
     [lambda t: t**2, lambda t: 2.0 * t**2], np.stack([U, 2.0 * U]), [(T, U), (T, 2.0 * U)]],
)  # fmt: skip
def test_inputs_of_several_trajectories(inputs: Any) -> None:
    dataset = from_arrays([X, X], [T, T], inputs=inputs)
    assert dataset.inputs == ("u",)
    for number, factor in enumerate((1.0, 2.0)):
        np.testing.assert_allclose(at_rows(dataset, number)[:, 0], factor * U, atol=0.2)


def test_columns_of_several_tables_and_of_one_long_one() -> None:
    lists = from_arrays([FRAME, FRAME.assign(temperature=30.0)], inputs="u", conditions="temperature")
    long = from_arrays(SEVERAL, inputs=["u"], conditions=["temperature"])
    for dataset in (lists, long):
        assert (dataset.inputs, dataset.conditions) == (("u",), ("temperature",))
        assert dataset.variables == ("x", "y")
        assert dataset.settings is not None
        assert dataset.settings.tolist() == [[20.0], [30.0]]
    assert long.labels == ("1", "2")


def test_a_table_of_inputs_with_the_same_trajectories() -> None:
    inputs = pd.DataFrame({"run": [2, 2, 1, 1], "time": [0.0, 9.0, 0.0, 9.0], "w": [5.0, 5.0, 0.0, 9.0]})
    dataset = from_arrays(SEVERAL.drop(columns=["u", "temperature"]), inputs=inputs)
    np.testing.assert_allclose(at_rows(dataset, 0)[:, 0], T)
    np.testing.assert_allclose(at_rows(dataset, 1)[:, 0], 5.0)
    with pytest.raises(DataError, match="nothing for trajectory 2"):
        from_arrays(SEVERAL, inputs=inputs[inputs["run"] == 1])


@pytest.mark.parametrize(
    "conditions",
    [{"k": [1.0, 2.0]}, [{"k": 1.0}, {"k": 2.0}], {"k": np.array([1, 2])}, {"k": np.repeat([1.0, 2.0], 10)},
     pd.DataFrame({"k": [1.0, 2.0]})],
)  # fmt: skip
def test_conditions(conditions: Any) -> None:
    dataset = from_arrays([X, X], [T, T], conditions=conditions)
    assert dataset.conditions == ("k",)
    assert dataset.settings is not None
    assert dataset.settings.tolist() == [[1.0], [2.0]]


def test_a_table_of_inputs_for_all_trajectories_or_one_after_the_other() -> None:
    shared = pd.DataFrame({"t": np.linspace(0.0, 9.0, 20), "u": np.linspace(0.0, 9.0, 20)})
    dataset = from_arrays([X, X], [T, T], inputs=shared)
    np.testing.assert_allclose(at_rows(dataset, 1)[:, 0], T)
    long = pd.DataFrame({"t": np.tile(T, 2), "u": np.concatenate([T, 2.0 * T])})
    dataset = from_arrays([X, X], [T, T], inputs=long)
    np.testing.assert_allclose(at_rows(dataset, 1)[:, 0], 2.0 * T)
    with pytest.raises(DataError, match="go back in row 11; sort them, or give a list"):
        from_arrays(X, T, inputs=long)


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("errors", [{"x0": 0.1}, {"x0": np.full(10, 0.1)}, [{"x0": 0.1}]])
def test_errors_by_name(errors: Any) -> None:
    dataset = from_arrays(X, T, errors=errors)
    np.testing.assert_array_equal(dataset.errors[0][:, 0], 0.1)
    assert np.isnan(dataset.errors[0][:, 1]).all()


def test_errors_as_arrays_follow_the_rows() -> None:
    given = np.column_stack([T + 1.0, T + 2.0])
    given[2, 0] = 0.0
    order = np.argsort(-T)
    dataset = from_arrays(X[order], T[order], errors=given[order])
    assert np.isnan(dataset.errors[0][2, 0])
    np.testing.assert_array_equal(dataset.errors[0][:, 1], T + 2.0)
    np.testing.assert_array_equal(from_arrays(X, T, errors=0.5).errors[0], 0.5)
    assert from_arrays(X, T).errors == ()


def test_error_columns_are_found_by_name() -> None:
    frame = FRAME[["time", "x", "y"]].assign(x_sd=0.1, **{"y error": 0.2})
    dataset = from_arrays(frame)
    assert dataset.variables == ("x", "y")
    assert "The column 'x_sd' is taken as the standard errors of x; name it in variables" in note(dataset)
    np.testing.assert_array_equal(dataset.errors[0], np.tile([0.1, 0.2], (10, 1)))
    assert from_arrays(frame, variables=["x"]).errors[0][0].tolist() == [0.1]
    assert from_arrays(frame, variables=["x", "x_sd"]).errors == ()
    assert from_arrays(frame.drop(columns="x")).variables == ("y", "x_sd")
    for errors in ({"x": "y error"}, ["x_sd"], "x_sd"):
        assert np.isfinite(from_arrays(frame, errors=errors, variables=["x"]).errors[0]).all()


def test_units_in_titles_may_be_left_out() -> None:
    frame = FRAME[["time"]].assign(**{"c (mg/l)": np.sin(T), "c_sd (mg/l)": 0.1, "drive (V)": U})
    dataset = from_arrays(frame, inputs="drive")
    assert (dataset.variables, dataset.inputs) == (("c",), ("drive",))
    np.testing.assert_array_equal(dataset.errors[0], 0.1)
    np.testing.assert_allclose(at_rows(dataset)[:, 0], U)
    with pytest.raises(SettingsError, match="named as a variable and as an input"):
        from_arrays(frame, inputs="drive", variables=["c (mg/l)", "drive (V)"])


@given(st.recursive(
    st.none() | st.floats() | st.text("ux", max_size=2) | st.booleans() | st.just(np.sin) | st.just(U)
    | arrays.arrays(np.float64, arrays.array_shapes(max_dims=3, max_side=10)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | inner.map(Hold)
    | st.dictionaries(st.text("uxk", max_size=2), inner, max_size=2),
    max_leaves=4,
))  # fmt: skip
@settings(deadline=None, max_examples=100)
def test_anything_ends_with_data_or_with_our_errors(given_thing: Any) -> None:
    for option in ("inputs", "conditions", "errors"):
        for data in ((X, T), ([X, X], [T, T]), (FRAME,)):
            with suppress(OdefinderError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                dataset = from_arrays(*data, **{option: given_thing}).with_roles(2, 1, explicit_time=True)
                known = dataset.observations(dataset.scaling()).known
                assert known is not None
                assert np.isfinite(known).all()


def test_what_the_user_says_about_errors_wins() -> None:
    frame = FRAME[["time", "x"]].assign(x_sd=0.1, z=0.2, time_err=0.3)
    dataset = from_arrays(frame, variables=["x"], errors={"x": "z"})
    np.testing.assert_array_equal(dataset.errors[0], 0.2)
    assert from_arrays(frame, errors=0.5).variables == ("x", "x_sd", "z")


def test_the_column_of_trajectories_may_be_a_condition() -> None:
    frame = SEVERAL[["time", "x", "temperature"]]
    dataset = from_arrays(frame, trajectory="temperature", conditions="temperature")
    assert dataset.labels == ("20", "30")
    assert dataset.variables == ("x",)
    assert dataset.settings is not None
    assert dataset.settings.tolist() == [[20.0], [30.0]]


def test_fewer_variables_keep_their_errors() -> None:
    dataset = from_arrays(X, T, errors=np.column_stack([T + 1.0, T + 2.0])).with_variables(["x1"])
    np.testing.assert_array_equal(dataset.errors[0][:, 0], T + 2.0)


# ------------------------------------------------------------------------------------------- files


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    SEVERAL.assign(x_sd=0.1).to_csv(path, index=False)
    dataset = read(path, inputs=["u"], conditions=["temperature"])
    assert (dataset.variables, dataset.inputs, dataset.conditions) == (("x", "y"), ("u",), ("temperature",))
    assert len(dataset) == len(dataset.errors) == 2
    np.savez(tmp_path / "data.npz", t=T, x=X)
    assert read(tmp_path / "data.npz", inputs=U).inputs == ("u",)


# ------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": "U1"}, "no column 'U1' .*did you mean 'u'"),
        ({"inputs": ["u"], "variables": ["x", "u"]}, "'u' is named as a variable and as an input"),
        ({"inputs": {"x": U}}, "'x' is both a variable and an input; give it one role"),
        ({"inputs": "u", "conditions": {"u": 1.0}}, "'u' is both an input and a condition"),
        ({"conditions": "u"}, r"the condition u varies within the trajectory .from 0 to 81.*inputs=\['u'\]"),
        ({"conditions": {"k": "many"}}, "no column 'many'"),
        ({"conditions": {"k": np.nan}}, "k is missing"),
        ({"conditions": 3.0}, "conditions need names"),
        ({"inputs": {"w": np.full(10, np.nan)}}, "w has no values; fill it in"),
        ({"inputs": {"w": U[:5]}}, "w has 5 values for 10 times; give one value for every row"),
        ({"inputs": {"w": ["a"] * 10}}, "'w' has text"),
        ({"inputs": {"w": lambda t: 1 / 0}}, r"w\(t\) fails at t = 0"),
        ({"inputs": {"t": U}}, "t is the time itself"),
        ({"inputs": {"w": 1e150 * U}}, "'w' reach 8.1e.151, which is too large"),
        ({"conditions": {"k": 1e-150}}, "'k' reach 1e-150, which is too small"),
        ({"errors": {"z": 0.1}}, "errors are given for 'z', which is not one of the variables"),
        ({"errors": {"x": -U}}, "of x in row 2 is negative"),
        ({"errors": {"x": U[:4]}}, "errors of x do not fit"),
        ({"errors": {"x": "x_err"}}, "no column 'x_err' .*the columns are 'time', 'x', 'y', 'u'"),
        ({"errors": np.ones((10, 7))}, "do not fit"),
        ({"errors": ["u"]}, r"not clear whose errors the column 'u' has; say so: errors=\{'x': 'u'\}"),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, SettingsError), match=message):
        from_arrays(FRAME.drop(columns="temperature"), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": "u"}, "arrays have no names; give its values"),
        ({"inputs": [U, U, U]}, "3 trajectories|length 3 was given for 2 trajectories with 20 rows"),
        ({"inputs": [{"u": U}, {"v": U}]}, "trajectory 2 has the inputs v, trajectory 1 has u"),
        ({"inputs": [U, U[:3]]}, "of trajectory 2 has 3 values for 10 times"),
        ({"conditions": [{"k": 1.0}, {"k": np.nan}]}, "k of trajectory 2 is missing"),
        ({"conditions": {"k": ["cold", "hot"]}}, "not a number; code groups as numbers"),
    ],
)
def test_messages_about_several_trajectories(options: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, SettingsError), match=message):
        from_arrays([X, X], [T, T], **options)


def test_times_of_inputs_that_no_float_can_hold() -> None:
    for times in ([10**400, 1], [10**400, T], [10**400, pd.Series(T)]):
        with pytest.raises(DataError, match=r"the times .* cannot be read"):
            from_arrays(SEVERAL[["time", "x", "run"]], inputs=pd.DataFrame({"t": pd.Series(times), "u": 1.0}))


def test_notes_about_what_never_changes() -> None:
    assert "conditions=['u'] says the same" in note(from_arrays([X, X], T, inputs={"u": [1.0, 2.0]}))
    assert "The input u never changes" in note(from_arrays(X, T, inputs={"u": 1.0}))
    assert "The condition k is always 1" in note(from_arrays([X, X], T, conditions={"k": 1.0}))


@pytest.mark.parametrize("given", [object(), [], {}, (), [None, None], [[1, 2], [3]], b"u", 1j, {"u": None}])
def test_nonsense_ends_with_our_errors(given: Any) -> None:
    for option in ("inputs", "conditions", "errors"):
        for data in ((X, T), ([X, X], [T, T])):
            with suppress(OdefinderError):
                from_arrays(*data, **{option: given})
