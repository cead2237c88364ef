"""Files -> a Dataset."""

import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odefinder.data import SAMPLES, Dataset, read, sample, text_tables
from odefinder.errors import DataError, MissingExtraError, OdefinderError, SettingsError

T = np.arange(6.0)
X = np.column_stack([0.5 + T**2, 10.0 - T])
FRAME = pd.DataFrame({"t": T, "prey": X[:, 0], "N": X[:, 1]})


def written(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table(delimiter: str = ",", decimal: str = ".", header: str = "t,prey,N") -> str:
    lines = [
        delimiter.join(f"{value:.2f}".replace(".", decimal) for value in row) for row in FRAME.to_numpy()
    ]
    return "\n".join([header.replace(",", delimiter)] * bool(header) + lines) + "\n"


def assert_expected(dataset: Dataset, variables: tuple[str, ...] = ("prey", "N")) -> None:
    assert dataset.variables == variables
    np.testing.assert_allclose(dataset.times[0], T)
    np.testing.assert_allclose(dataset.states[0], X)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "   ", ", "])
@pytest.mark.parametrize("decimal", [".", ","])
def test_delimiters_and_decimal_marks(tmp_path: Path, delimiter: str, decimal: str) -> None:
    if decimal == "," and "," in delimiter:
        return
    assert_expected(read(written(tmp_path, table(delimiter, decimal))))
    assert_expected(read(written(tmp_path, table(delimiter, decimal, header=""))), ("x0", "x1"))


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n\n# another, with a comma\n" + table(),
        table().replace("\n", "\r\n"),
        table().replace("prey", '"prey"'),
        "\ufeff" + table(),
        table().replace("\n", ",\n"),
        "# t,prey,N\n" + table(header=""),
        "\n".join(f"{i},{line}" for i, line in zip(["", *range(6)], table().splitlines(), strict=True)),
        "t prey N\n" + "\n".join(f"{i} {line}" for i, line in enumerate(table(" ").splitlines()[1:])),  # R
        table() + ",,\n",
    ],
)  # fmt: skip
def test_tables_as_programs_write_them(tmp_path: Path, text: str) -> None:
    assert_expected(read(written(tmp_path, text)))


def test_other_encodings(tmp_path: Path) -> None:
    assert_expected(read(written(tmp_path, table().encode("utf-16"))))
    text = table(header="t,Größe (µm),N").encode("latin-1")
    assert read(written(tmp_path, text)).variables == ("Größe", "N")


def test_missing_cells(tmp_path: Path) -> None:
    for word in ("", "NA", "n/a", "NaN", "-", "?", "null"):
        states = read(written(tmp_path, table().replace("7.00", word))).states[0]
        assert np.argwhere(np.isnan(states)).tolist() == [[3, 1]]


def test_the_first_column_is_the_time_if_it_increases(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, table(header="A,prey,N")))
    assert_expected(dataset)
    assert dataset.notes == ("The first column, 'A', is taken as the time.",)
    falling = "a,b\n" + "\n".join(f"{9 - i},{i * i}" for i in range(6))
    with pytest.raises(
        DataError, match=r"data.csv: no column looks like the time; the columns are 'a', 'b'.*--time"
    ):
        read(written(tmp_path, falling))
    assert read(written(tmp_path, falling), time="b").variables == ("a",)


def test_dates_and_trajectories(tmp_path: Path) -> None:
    rows = [f"{run},2020-01-{day:02d},{day * run}" for run in (1, 2) for day in range(1, 7)]
    dataset = read(written(tmp_path, "\n".join(["run,date,size", *rows])))
    assert len(dataset) == 2
    assert dataset.labels == ("1", "2")
    assert dataset.clock.label == "days since 2020-01-01"
    assert dataset.states[1][:, 0].tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.to_parquet(tmp_path / "data.parquet")
    assert_expected(read(tmp_path / "data.parquet"))
    FRAME.set_index("t").to_parquet(tmp_path / "data.parquet")
    assert_expected(read(str(tmp_path / "data.parquet")))
    with pytest.raises(DataError, match="damaged"):
        read(written(tmp_path, "no parquet", "data.parquet"))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"odefinder\[parquet\]"):
        read(tmp_path / "data.parquet")


def test_numpy_files(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, t=T, x=X)
    assert_expected(read(path), ("x0", "x1"))
    assert_expected(read(path, variables=["prey", "N"]))
    np.savez(path, t=T, prey=X[:, 0], N=X[:, 1])
    assert_expected(read(path))
    np.savez(path, times=T, states=np.stack([X, X]))
    assert len(read(path)) == 2
    np.save(tmp_path / "data.npy", np.column_stack([T, X]))
    assert_expected(read(tmp_path / "data.npy"), ("x0", "x1"))
    for arrays, message in [
        ({"t": T, "x": X[:3, 0]}, "different lengths: t 6, x 3"),
        ({"a": X, "b": X}, r"a \(6, 2\), b"),
        ({"t": np.array([{}])}, "plain NumPy arrays"),
    ]:
        np.savez(path, **arrays)
        with pytest.raises(DataError, match=message):
            read(path)


def test_json(tmp_path: Path) -> None:
    assert_expected(read(written(tmp_path, json.dumps(FRAME.to_dict("list")), "data.json")))
    assert_expected(read(written(tmp_path, json.dumps(FRAME.to_dict("records")), "data.json")))
    with pytest.raises(DataError, match="not a table"):
        read(written(tmp_path, "3", "data.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("t,x\n", "no rows"),
        ("x\n1\n2\n3\n4\n", "single column"),
        ("t,x\n0,1\n1,2,3\n2,3\n3,4\n", "line 3 has 3 entries"),
        ("t,x,x\n0,1,1\n1,2,1\n2,3,1\n", "two columns are called 'x'"),
        ("t,x\n0,1\n1,two\n2,3\n3,4\n", "'x' has text, 'two' in row 2"),
        ("t,x\n0,1\n1,inf\n2,3\n3,4\n", "row 2, column 'x' is infinite"),
        ("t,x\n0,1\n1,2\n", "2 points: too few"),
        (b"PK\x03\x04\x00\x00", "not a text file"),
    ],
)
def test_bad_files(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=r"data.csv: .*" + message):
        read(written(tmp_path, text))


def test_bad_paths(tmp_path: Path) -> None:
    for path, message in [
        (tmp_path / "none.csv", "there is no file"),
        (tmp_path, "is a folder"),
        (written(tmp_path, "", "data.xlsx"), "not a spreadsheet, or it is damaged"),
        (written(tmp_path, "", "data.xls"), "save the sheet as .xlsx or CSV"),
        (written(tmp_path, "", "data.mat"), "files ending in .mat cannot be read"),
    ]:
        with pytest.raises(DataError, match=message):
            read(path)
    with pytest.raises(SettingsError, match="no column 'year'"):
        read(written(tmp_path, table()), time="year")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(st.binary(max_size=60), st.text(alphabet="0123456789.,;\n\t -e#ax\"'", max_size=80)))
def test_any_content_ends_in_a_dataset_or_one_of_our_errors(tmp_path: Path, content: str | bytes) -> None:
    for name in ("data.csv", "data.npz", "data.json", "data.parquet"):
        try:
            read(written(tmp_path, content, name))
        except OdefinderError:
            continue


def test_samples() -> None:
    pelts = sample("hare_lynx")
    assert str(pelts) == "21 points of hare, lynx; year from 1900 to 1920"
    assert pelts.states[0][-1].tolist() == [24.7, 8.6]
    assert sample("pendulum").clock.label == "time (s)"
    assert sample("hare_lynx").notes == sample("pendulum").notes == ()
    assert {"hare_lynx", "pendulum"} <= set(SAMPLES)
    with pytest.raises(DataError, match="there are hare_lynx"):
        sample("wolves")


def test_a_header_one_name_short(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a,b\n" + "".join(f"{k / 2},{k * k},{-k}\n" for k in range(6)))
    with pytest.raises(DataError, match="2 names for 3 columns"):
        read(path)
    path.write_text("t,b\n" + "".join(f"{k},{k / 2},{-k * k}\n" for k in range(6)))  # as R writes it
    assert read(path).variables == ("b",)


def test_long_lines_and_cells(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("t,a\n0," + "1" * 200 + "0" * 200_000 + "\n1,2\n2,3\n3,4\n")
    with pytest.raises(DataError):  # the number is infinite, which is what is said
        read(path)
    path.write_text("t,a\n0,0." + "1" * 200_000 + "\n1,2\n2,3\n3,4\n4,5\n")
    assert read(path).states[0][0, 0] == pytest.approx(1 / 9)
    path.write_text("1," * 5_000 + "1\n")
    with pytest.raises(DataError, match="more than 2000 columns"):
        read(path)


def test_many_rows_are_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("# note\nt,a\n" + "".join(f"{k},{k % 7}\n" for k in range(25_000)) + "25000,NA\n")
    data = read(path)
    assert sum(map(len, data.times)) in (25_000, 25_001)
    path.write_text("t,a\n" + "".join(f"{k},{k % 7}\n" for k in range(25_000)) + "25000,abc\n")
    with pytest.raises(DataError, match="'abc' in row 25001"):
        read(path)


@pytest.mark.parametrize(("title", "columns"), [("x", 3), ("Ω", 20)])
def test_reading_takes_at_most_three_times_the_size(
    tmp_path: Path, title: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file in small blocks; benchmarks/reading.py measures large ones."""
    monkeypatch.setattr(text_tables, "_CELLS", 1_000)
    values = np.random.default_rng(0).normal(size=(60_000 // columns, columns)).tolist()
    path = tmp_path / "f.csv"
    with path.open("w") as file:
        file.write("t," + ",".join(f"{title}{j}" for j in range(columns)) + "\n")
        file.writelines(f"{k}," + ",".join(map(repr, row)) + "\n" for k, row in enumerate(values))
    tracemalloc.start()
    try:
        read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.0 * os.path.getsize(path)


@pytest.mark.parametrize("shape", ["(1000000000000, 2)", "(-5, 2)", "(5.0, 2)", "(4, 2", "('a', 2)"])
def test_headers_that_claim_what_is_not_there(tmp_path: Path, shape: str) -> None:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    body = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    (tmp_path / "f.npy").write_bytes(body)
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("x.npy", body)
    for name in ("f.npy", "f.npz"):
        with pytest.raises(DataError):
            read(tmp_path / name)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        for _ in range(33):
            member.write(bytes(1 << 24))
    with pytest.raises(DataError, match="limit"):
        read(path)
