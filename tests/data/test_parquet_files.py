"""Parquet files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from odefinder.data import read
from odefinder.errors import DataError

T = np.arange(8.0)


def test_columns_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    days = pd.date_range("2024-01-01", periods=8).strftime("%Y-%m-%d")
    kind = pd.Categorical(["a"] * 4 + ["b"] * 4)
    table = pd.DataFrame({"run": kind, "x": T, "text": [f"{k}" for k in range(7)] + [None]}, index=days)
    table.rename_axis("date").to_parquet(path)
    data = read(path, trajectory="run")
    assert data.labels == ("a", "b")
    assert data.variables == ("x", "text")
    np.testing.assert_array_equal(data.states[1], [[4.0, 4.0], [5.0, 5.0], [6.0, 6.0], [7.0, np.nan]])


@pytest.mark.parametrize("column", [np.zeros(5_000_000), ["a" * 100_000] * 1_000])
def test_bombs_are_refused(tmp_path: Path, column: list[str]) -> None:
    path = tmp_path / "f.parquet"
    table = pyarrow.table({"t": np.arange(len(column)) // 1000, "x": column})
    pyarrow.parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 500_000
    with pytest.raises(DataError, match=r"f.parquet: it unpacks from .* which is the limit"):
        read(path)
