"""Uploads that are too large, damaged, or no tables at all."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from odefinder.web.server import App


@pytest.fixture(scope="module")
def app() -> App:
    return App("secret", processes=1, upload_limit=100_000)


@pytest.fixture(scope="module")
def client(app: App) -> Iterator[TestClient]:
    with TestClient(app.asgi, base_url="http://127.0.0.1:8000/secret/") as client:
        yield client
    assert not app.folder.exists()


def upload(client: TestClient, content: Any, name: str = "data.csv") -> Any:
    return client.post("api/tables", params={"name": name}, content=content)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        ("", "a.csv", "a.csv: the file is empty; give a header and one row per point"),
        ("1\n2\n", "a.csv", "a.csv: the file has a single column"),
        (b"\x00\x01\x02", "a.csv", "a.csv: this is not a text file; save the table as CSV"),
        ("x", "a.xlsx", "a.xlsx: this is not a spreadsheet, or it is damaged"),
        ("x", "a.xls", "a.xls: old spreadsheets cannot be read; save the sheet as .xlsx or CSV"),
        ("x", "a.exe", "a.exe: files ending in .exe cannot be read"),
        (b"PAR1 broken", "a.parquet", "a.parquet: this is not Parquet, or it is damaged"),
        ("t,x\n1,2\n3\n", "../../etc/passwd", "../../etc/passwd: line 3 has 1 entries"),
    ],
)
def test_bad_uploads_get_our_sentences(client: TestClient, content: Any, name: str, sentence: str) -> None:
    answer = upload(client, content, name)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(sentence)


def test_uploads_have_a_limit(client: TestClient, app: App) -> None:
    before = sorted(app.folder.iterdir())
    answer = upload(client, b"1,2\n" * 50_000)
    assert answer.status_code == 413
    assert "more than" in answer.json()["error"]
    assert upload(client, (b"1,2\n" for _ in range(50_000))).status_code == 413  # its length is not declared
    assert sorted(app.folder.iterdir()) == before


def test_an_upload_that_declares_a_gigabyte_is_refused_before_it_comes(client: TestClient, app: App) -> None:
    before = sorted(app.folder.iterdir())
    answer = client.post("api/tables", headers={"content-length": str(2**30)}, content=b"t,x\n0,1\n")
    assert answer.status_code == 413
    assert sorted(app.folder.iterdir()) == before


def test_a_file_that_ends_in_the_middle(client: TestClient, tmp_path: Path) -> None:
    pd.DataFrame({"t": np.arange(50.0), "x": np.arange(50.0)}).to_parquet(tmp_path / "a.parquet")
    np.savez(tmp_path / "a.npz", t=np.arange(50.0), X=np.zeros((50, 2)))
    for name in ("a.parquet", "a.npz"):
        whole = (tmp_path / name).read_bytes()
        answer = upload(client, whole[: len(whole) // 2], name)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{name}: ")
        assert str(tmp_path) not in answer.text


def test_ten_thousand_columns(client: TestClient) -> None:
    header = ",".join(f"c{k}" for k in range(10_000))
    row = ",".join("1" for _ in range(10_000))
    begin = time.monotonic()
    answer = upload(client, f"{header}\n{row}\n")
    assert answer.status_code == 400
    assert "columns" in answer.json()["error"]
    assert time.monotonic() - begin < 5.0


def test_bytes_of_any_kind(client: TestClient) -> None:
    noise = np.random.default_rng(0).bytes(5_000)
    for name in ("a.csv", "a.parquet", "a.npz", "a.npy", "a.json", "a.xlsx", "a.txt", "a", ""):
        answer = upload(client, noise, name)
        assert answer.status_code == 400, name
        assert "odefinder-" not in answer.json()["error"]  # no path of this machine


def test_names_are_only_text(client: TestClient) -> None:
    found = upload(client, "t,<script>\n0,1\n1,2\n2,4\n3,8\n4,16\n", "<img>.csv").json()
    assert found["columns"] == ["t", "<script>"]
