"""Units of time, dates in and dates out."""

import numpy as np
import pandas as pd
import pytest

from odefinder.data import Dataset, dates, from_arrays, with_time_unit
from odefinder.data.clock import times_on
from odefinder.errors import DataError, SettingsError

T = np.arange(6.0)
DAYS = pd.date_range("2024-01-31 06:00", periods=6)


def dated() -> Dataset:
    return from_arrays({"date": DAYS, "x": T}, inputs={"u": (DAYS, T)})


def test_dates_come_out_as_they_went_in() -> None:
    data = dated()
    assert dates(data.clock, data.times[0]).equals(DAYS)
    np.testing.assert_allclose(times_on(data.clock, DAYS + pd.Timedelta(hours=12)), T + 0.5)
    np.testing.assert_allclose(times_on(data.clock, ["2024-02-01 06:00", "2024-02-03 18:00"]), [1.0, 3.5])
    assert times_on(data.clock, T) is T


def test_another_unit() -> None:
    data = with_time_unit(dated(), "h")
    assert data.clock.label == "hours since 2024-01-31 06:00:00"
    np.testing.assert_allclose(data.times[0], 24.0 * T)
    np.testing.assert_allclose(data.signals[0].knots[[0, -1]], [0.0, 120.0])
    assert any("converted to hours" in note for note in data.notes)
    assert dates(data.clock, data.times[0]).equals(DAYS)


def test_a_unit_that_the_data_do_not_say_is_believed() -> None:
    data = with_time_unit(from_arrays(T, T), "min")
    assert data.clock.unit == "minutes"
    np.testing.assert_allclose(data.times[0], T)
    title = pd.DataFrame({"time (s)": 60.0 * T, "x": T})
    np.testing.assert_allclose(with_time_unit(from_arrays(title), "minutes").times[0], T)


def test_what_is_no_unit_or_no_date() -> None:
    with pytest.raises(SettingsError, match="'fortnights' is not a unit of time; choose one of"):
        with_time_unit(dated(), "fortnights")
    with pytest.raises(DataError, match="numbers, not dates"):
        dates(from_arrays(T, T).clock, T)


@pytest.mark.parametrize(("unit", "factor"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_times_since_1970(unit: str, factor: float) -> None:
    seconds = DAYS.to_numpy().astype("datetime64[s]").astype(np.int64)
    data = from_arrays(pd.DataFrame({"time": (seconds * factor).astype(np.int64), "x": T}))
    assert data.clock.label == "days since 2024-01-31 06:00:00"
    np.testing.assert_allclose(data.times[0], T)
    np.testing.assert_allclose(from_arrays(T, seconds * factor).times[0], T)
    assert any("since 1970" in note for note in data.notes)


def test_seconds_since_1970_must_say_so() -> None:
    seconds = DAYS.to_numpy().astype("datetime64[s]").astype(np.float64)
    assert from_arrays(T, seconds).clock.origin == ""
    assert from_arrays({"timestamp": seconds, "x": T}).clock.origin == "2024-01-31 06:00:00"
    assert from_arrays({"epoch (s)": seconds, "x": T}).clock.unit == "days"
