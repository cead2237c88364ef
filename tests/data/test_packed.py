"""Compressed files that unpack to much more than they seem to hold."""

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odefinder.data import packed, read
from odefinder.errors import DataError


@pytest.mark.parametrize("line", [b"1,2\n", b"\n", b"#\n", b"1", b",", b"\0"])
def test_bombs_are_refused_without_being_kept(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "f.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"t,x\n")
        for _ in range(12):
            file.write(line * ((1 << 22) // len(line)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"f.csv.gz: it unpacks from .* bytes to more than .* the limit"):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * packed._BLOCK


def test_tables_that_pack_well_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "ALWAYS", 0)
    times = np.arange(5000.0)
    path = tmp_path / "f.csv.gz"
    pd.DataFrame({"t": times, "x": np.exp(-times / 500.0), "zero": 0.0}).to_csv(path, index=False)
    assert len(read(path).times[0]) == 5000


def test_a_limit_holds_for_large_files_too() -> None:
    packed.check_unpacked(1 << 30, 1 << 28)
    with pytest.raises(DataError, match="1,073,741,824, which is the limit"):
        packed.check_unpacked((1 << 30) + 1, 1 << 28)


def test_damage_at_the_end_is_found(tmp_path: Path) -> None:
    path = tmp_path / "f.csv.gz"
    body = gzip.compress(b"t,x\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(99)))
    path.write_bytes(body[:-9] + bytes(9))
    with pytest.raises(DataError, match="not compressed by gzip, or it is damaged"):
        read(path)
