"""DataFrames -> a Dataset: the time, the trajectories, the variables."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from odefinder.data import from_arrays, from_frame
from odefinder.errors import DataError, SettingsError

T = np.linspace(0.0, 9.0, 10)
FRAME = pd.DataFrame({"x": np.sin(T), "Hare pelts (thousands)": np.cos(T)})


def with_time(name: str, **more: Any) -> pd.DataFrame:
    return FRAME.assign(**{name: T}, **more)


@pytest.mark.parametrize(
    ("name", "label"),
    [("t", "t"), ("time", "time"), ("Time (s)", "Time (s)"), ("time [min]", "time (min)"), ("t/s", "t (s)"),
     ("time_s", "time (s)"), ("Year", "Year"), ("day", "day"), ("elapsed time", "elapsed time"),
     ("TIMESTAMP", "TIMESTAMP")],
)  # fmt: skip
def test_the_time_is_found_by_name(name: str, label: str) -> None:
    for dataset in (from_frame(with_time(name)), from_arrays(FRAME.set_axis(pd.Index(T, name=name)))):
        assert dataset.clock.label == label
        assert dataset.variables == ("x", "Hare_pelts")
        assert dataset.titles == ("x", "Hare pelts (thousands)")
        np.testing.assert_array_equal(dataset.times[0], T)


@pytest.mark.parametrize("option", ["time", "trajectory"])
def test_arrays_are_no_names_of_columns(option: str) -> None:
    with pytest.raises(SettingsError, match=f"{option} is the name of a column, not array"):
        from_frame(with_time("t"), **{option: T})


def test_numbers_as_people_write_them() -> None:
    dataset = from_frame(pd.DataFrame({"t": T[:4], "x": ["1,234", "12 %", 3, "4"]}))
    assert dataset.states[0][:, 0].tolist() == [1234.0, 12.0, 3.0, 4.0]


def test_a_changed_name_is_noted() -> None:
    (note,) = from_frame(with_time("t")).notes
    assert note == "The column 'Hare pelts (thousands)' is called Hare_pelts in equations."


def test_capital_t_is_a_temperature() -> None:
    assert from_frame(with_time("t", T=T**2)).variables == ("x", "Hare_pelts", "T")
    with pytest.raises(DataError, match="no column looks like the time"):
        from_frame(with_time("T"))


def test_time_and_variables_can_be_chosen() -> None:
    frame = with_time("clock", other="text")
    dataset = from_arrays(frame, "clock", ["Hare pelts (thousands)", "x"])
    assert dataset.variables == ("Hare_pelts", "x")
    np.testing.assert_array_equal(dataset.states[0][:, 1], FRAME["x"])
    for options in ({"time": "clok"}, {"time": "clock", "variables": ["z"]}, {"trajectory": "run"}):
        with pytest.raises(SettingsError, match="the columns are 'x'"):
            from_frame(frame, **options)


def test_the_times_beside_a_frame() -> None:
    dataset = from_arrays(with_time("year"), with_time("year")["year"])
    assert dataset.variables == ("x", "Hare_pelts")
    assert dataset.clock.label == "year"
    other = from_arrays(with_time("year"), 2.0 * T)
    assert "'year' looks like a time and was left out" in other.notes[0]
    with pytest.raises(DataError, match="10 rows and t has 3 times"):
        from_arrays(FRAME, T[:3])


def test_row_numbers_are_left_out() -> None:
    dataset = from_frame(with_time("t").assign(**{"Unnamed: 0": np.arange(10)}))
    assert dataset.variables == ("x", "Hare_pelts")
    assert "only numbers the rows" in " ".join(dataset.notes)


def test_dates_in_the_index() -> None:
    dates = pd.date_range("2020-01-01", periods=10, freq="h", tz="Europe/Berlin")
    dataset = from_arrays(FRAME.set_index(dates))
    assert dataset.clock.label == "hours since 2019-12-31 23:00:00"
    np.testing.assert_allclose(dataset.times[0], T)
    assert from_arrays(FRAME["x"].set_axis(dates)).variables == ("x",)


def test_dates_in_a_first_column_of_any_name() -> None:
    dates = pd.date_range("2023-01-01", periods=len(T)).strftime("%d.%m.%Y")
    dataset = from_frame(pd.DataFrame({"Datum": dates, "x": T}), guess_first_column=True)
    assert dataset.clock.label == "days since 2023-01-01"
    np.testing.assert_array_equal(dataset.times[0], np.arange(len(T)))


@pytest.mark.parametrize("name", ["sample_id", "Patient", "run", "Batch ID"])
def test_names_of_trajectories(name: str) -> None:
    frame = pd.concat([with_time("t"), with_time("t")]).assign(**{name: ["a"] * len(T) + ["b"] * len(T)})
    assert from_frame(frame).labels == ("a", "b")


def test_codes_for_missing_values_are_noticed() -> None:
    x = np.where(np.arange(len(T)) % 3 == 1, -999.0, np.sin(T))
    assert any("x is -999 at" in note for note in from_frame(pd.DataFrame({"t": T, "x": x})).notes)
    for harmless in (np.sin(T), 999.0 - T, np.full(len(T), 999.0)):
        notes = from_frame(pd.DataFrame({"t": T, "x": harmless})).notes
        assert not any("missing value" in note for note in notes)


def test_dates_spread_over_columns() -> None:
    dates = pd.date_range("2020-01-01", periods=10, freq="MS")
    dataset = from_frame(FRAME.assign(Year=dates.year, month=dates.month))
    assert dataset.variables == ("x", "Hare_pelts")
    assert dataset.clock.label == "days since 2020-01-01"
    assert dataset.times[0][:3].tolist() == [0.0, 31.0, 60.0]
    assert "Year, month together are the time" in dataset.notes[0]
    with pytest.raises(DataError, match="Year, month are not dates"):
        from_frame(FRAME.assign(Year=2020, month=range(4, 14)))


def test_trajectories_of_a_column() -> None:
    table = pd.concat([with_time("t").assign(run=run) for run in ("a", "b")], ignore_index=True)
    dishes = table.rename(columns={"run": "dish"})
    for dataset in (
        from_frame(table),
        from_arrays(dishes, trajectory="dish"),
        from_arrays(dishes.drop(columns="t"), np.tile(T, 2), trajectory="dish"),
    ):
        assert dataset.labels == ("a", "b")
        assert dataset.variables == ("x", "Hare_pelts")
        np.testing.assert_array_equal(dataset.times[1], T)
    with pytest.raises(DataError, match=r"row 3 belongs to no trajectory"):
        from_frame(table.assign(run=table["run"].where(table.index != 2)), trajectory="run")
    mixed = table.sample(frac=1.0, random_state=1)
    assert len(from_frame(mixed, trajectory="run")) == 2
    table.loc[14, "x"] = np.inf
    with pytest.raises(DataError, match="row 15, column 'x' of trajectory b is infinite"):
        from_frame(table)


def test_an_index_that_repeats_does_no_harm() -> None:
    table = pd.concat([with_time("t").assign(run=run) for run in (1, 2)])
    dataset = from_frame(table, variables=["x"])
    assert [states.shape for states in dataset.states] == [(10, 1), (10, 1)]
    np.testing.assert_array_equal(dataset.states[1], dataset.states[0])


def test_a_list_of_frames() -> None:
    dataset = from_arrays([with_time("t"), with_time("t")[:6]])
    assert [len(times) for times in dataset.times] == [10, 6]
    assert dataset.variables == ("x", "Hare_pelts")


def test_missing_values_of_every_kind() -> None:
    frame = with_time("t", y=pd.array([1, None] * 5, dtype="Int64"), z=pd.Series(["1.5", None] * 5))
    states = from_frame(frame).states[0]
    assert np.isnan(states[1, 2:]).all()
    assert states[0, 2:].tolist() == [1.0, 1.5]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (with_time("t", species="lynx"), "'species' has text, 'lynx'.*variables=.*trajectory='species'"),
        (with_time("t", y=[1.0, "n/k", *T[2:]]), "'y' has text, 'n/k' in row 2; correct it"),
        (with_time("t", y=[[1]] * 10), "not a number"),
        (with_time("t", y=1j), "complex"),
        (with_time("t", y=pd.Timestamp("2020")), "time='y'"),
        (with_time("t", y=pd.Timedelta("1s")), "durations"),
        (FRAME, r"the columns are 'x', 'Hare pelts \(thousands\)'. Say which.*--time"),
        (FRAME[:0], "no rows"),
        (with_time("t")[["t"]], "no column of values"),
        (pd.concat([with_time("t"), FRAME[["x"]]], axis=1), "two columns are called 'x'"),
        (with_time("t").assign(t=[f"{i}th" for i in range(10)]), "'0th' in column 't' is neither"),
        (with_time("t").assign(t=pd.NaT), "missing"),
    ],
)  # fmt: skip
def test_bad_tables(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_frame(frame)
