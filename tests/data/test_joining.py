"""Several datasets as one."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odefinder.data import Dataset, from_arrays, read
from odefinder.data.joining import joined
from odefinder.errors import DataError

T = np.arange(6.0)


def table(level: float) -> pd.DataFrame:
    return pd.DataFrame({"t": T, "x": level + T, "y": level - T})


def test_files_are_trajectories(tmp_path: Path) -> None:
    table(1.0).to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "two.csv.gz").write_bytes(
        gzip.compress(table(2.0)[["y", "t", "x"]].to_csv(index=False).encode())
    )
    table(3.0).to_excel(tmp_path / "three.xlsx", index=False, startrow=2, startcol=1)
    data = read([tmp_path / name for name in ("one.csv", "two.csv.gz", "three.xlsx")])
    assert data.labels == ("one", "two", "three")
    assert [states[0].tolist() for states in data.states] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_dates_count_from_the_first_file(tmp_path: Path) -> None:
    for name, start, step in (("a", "2024-01-01", "D"), ("b", "2024-01-11", "h")):
        dates = pd.date_range(start, periods=6, freq=step)
        pd.DataFrame({"date": dates, "x": T}).to_csv(tmp_path / f"{name}.csv", index=False)
    data = read([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert data.clock.label == "days since 2024-01-01"
    np.testing.assert_allclose(data.times[1], 10.0 + T / 24.0)
    hours = read([tmp_path / "a.csv", tmp_path / "b.csv"], time_unit="h")
    np.testing.assert_allclose(hours.times[0], 24.0 * T)


def dataset(**columns: list[float]) -> Dataset:
    return from_arrays({"t": T, **{name: T + values[0] for name, values in columns.items()}})


def test_what_does_not_belong_together() -> None:
    with pytest.raises(DataError, match="2 has the variables x, z, 1 has x, y; all must have the same"):
        joined([dataset(x=[0.0], y=[1.0]), dataset(x=[0.0], z=[1.0])])
    dated = from_arrays({"date": pd.date_range("2024-01-01", periods=6), "x": T})
    with pytest.raises(DataError, match="the times of 2 are dates, those before are numbers"):
        joined([dataset(x=[0.0]), dated])


def test_errors_that_only_some_have() -> None:
    known = from_arrays(T, T, errors=0.1)
    both = joined([known, from_arrays(T, T)])
    assert np.isnan(both.errors[1]).all()
    assert (both.errors[0] == 0.1).all()


@pytest.mark.parametrize("name", ["data.csv.gz", "data.xlsx", "data.npz.gz"])
def test_damaged_files_are_errors_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 not what it says")
    with pytest.raises(DataError, match=name):
        read(tmp_path / name)


def test_a_condition_that_differs_between_files_is_not_always_the_same(tmp_path: Path) -> None:
    files = [tmp_path / "cold.csv", tmp_path / "warm.csv"]
    for file, degrees in zip(files, (10.0, 20.0), strict=True):
        table(1.0).assign(T=degrees).to_csv(file, index=False)
    assert not any("is always" in note for note in read(files, conditions=["T"]).notes)
    again = read([files[0], files[0]], conditions=["T"])
    assert [note for note in again.notes if "is always" in note] == [
        "The condition T is always 10: its effect cannot be told from a constant."
    ]
