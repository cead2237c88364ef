"""Dates and durations as numbers."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from odefinder.data.clock import read_times, read_times_on
from odefinder.data.dataset import Clock
from odefinder.errors import DataError


@pytest.mark.parametrize(
    ("frequency", "unit", "step"),
    [("YS", "years", 1.0), ("MS", "days", 30.4), ("W", "days", 7.0), ("D", "days", 1.0), ("6h", "hours", 6.0),
     ("15min", "minutes", 15.0), ("s", "seconds", 1.0), ("20ms", "seconds", 0.02)],
)  # fmt: skip
def test_the_unit_suits_the_step(frequency: str, unit: str, step: float) -> None:
    numbers, clock, notes = read_times(pd.date_range("2001-01-01", periods=25, freq=frequency), "date")
    assert clock.unit == unit
    assert clock.origin.startswith("2001-01-0")
    assert numbers[0] == 0.0
    assert np.mean(np.diff(numbers)) == pytest.approx(step, rel=0.01)
    assert notes == [f"Dates (date) were converted to {unit} since {clock.origin}."]


@pytest.mark.parametrize(
    "days",
    [
        ["2020-01-30", "2020-01-31", "2020-02-02"],
        ["2020-01-30 00:00", "2020-01-31 00:00", "2020-02-02 00:00"],
        ["30.01.2020", "31.01.2020", "02.02.2020"],
        ["01.01.2020", "02.01.2020", "04.01.2020"],
        ["01/30/2020", "01/31/2020", "02/02/2020"],
        ["30 Jan 2020", "31 Jan 2020", "2 Feb 2020"],
        [datetime.date(2020, 1, 30), datetime.date(2020, 1, 31), datetime.date(2020, 2, 2)],
        np.array(["2020-01-30", "2020-01-31", "2020-02-02"], dtype="datetime64[D]"),
        pd.PeriodIndex(["2020-01-30", "2020-01-31", "2020-02-02"], freq="D"),
        pd.to_timedelta([30, 31, 33], unit="D"),
        pd.Categorical(["2020-01-30", "2020-01-31", "2020-02-02"]),
    ],
)
def test_dates_in_many_guises(days: Any) -> None:
    numbers, clock, _ = read_times(days, "date")
    assert clock.unit == "days"
    np.testing.assert_allclose(numbers - numbers[0], [0.0, 1.0, 3.0])


def test_day_and_month_are_told_apart_by_their_order() -> None:
    for dates, order in [
        (["01/02/2020", "02/02/2020", "03/02/2020"], "day/month"),
        (["02/01/2020", "02/02/2020", "02/03/2020"], "month/day"),
        (["05/11/2020", "03/12/2020", "02/01/2021"], "day/month"),
    ]:
        numbers, _, notes = read_times(dates, "date")
        assert (np.diff(numbers) > 0).all()
        assert f"read as {order}" in notes[0]


def test_times_of_day() -> None:
    numbers, clock, _ = read_times(["10:00", "10:30", "11:00"], "time")
    assert (clock.unit, clock.origin) == ("minutes", "")
    assert np.diff(numbers).tolist() == [30.0, 30.0]


def test_numbers_stay() -> None:
    for values in ([1.0, 2.0], ["1", "2"], pd.array([1, 2], dtype="Int64"), np.array([1, 2], dtype=object)):
        numbers, clock, notes = read_times(values, "Time (s)")
        assert numbers.tolist() == [1.0, 2.0]
        assert (clock.label, notes) == ("Time (s)", [])


def test_dates_outside_the_calendar_of_python() -> None:
    numbers, clock, _ = read_times(np.array(["0000-12-30", "0000-12-31"], dtype="datetime64[D]"), "date")
    assert clock.label == "days since 0000-12-30"
    assert numbers.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "values", [["yesterday", "today-ish"], [1j, 2j], [object(), object()], [[1], [2, 3]]]
)
def test_what_is_no_time(values: Any) -> None:
    with pytest.raises(DataError):
        read_times(values, "t")


def test_times_of_something_else_on_the_same_clock() -> None:
    _, clock, _ = read_times(pd.Series(pd.date_range("2020-01-05", periods=5, freq="D")), "date")
    hours = pd.Series(pd.date_range("2020-01-04", periods=5, freq="12h"))
    np.testing.assert_allclose(read_times_on(clock, hours, "date", "it"), [-1.0, -0.5, 0.0, 0.5, 1.0])
    np.testing.assert_allclose(
        read_times_on(Clock("hours", "hours"), np.array([60.0]), "minutes", "it"), [1.0]
    )
    np.testing.assert_allclose(read_times_on(Clock(), [1, 2], "t", "it"), [1.0, 2.0])
    with pytest.raises(DataError, match="the times of it are dates, those of the data are numbers"):
        read_times_on(Clock(), hours, "date", "it")
