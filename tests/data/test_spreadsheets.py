"""Spreadsheets."""

import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odefinder.data import read, spreadsheets
from odefinder.errors import DataError

T = np.arange(6.0)
TABLE = pd.DataFrame({"t": T, "x": T**2, "y": [1.5, None, 3.0, 4.0, 5.0, 6.0]})
HEAD = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


def with_sheet(folder: Path, rows: str) -> Path:
    """A workbook with these rows of XML in its only sheet."""
    TABLE.to_excel(folder / "good.xlsx", index=False)
    path = folder / "f.xlsx"
    with (
        zipfile.ZipFile(folder / "good.xlsx") as good,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            sheet = name.startswith("xl/worksheets/")
            bad.writestr(name, f"{HEAD}{rows}</sheetData></worksheet>" if sheet else good.read(name))
    return path


def test_the_first_sheet_with_a_table(tmp_path: Path) -> None:
    path = tmp_path / "f.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="empty")
        pd.DataFrame(["a note"]).to_excel(book, sheet_name="note", index=False, header=False)
        TABLE.to_excel(book, sheet_name="data", index=False, startrow=3, startcol=2)
    data = read(path)
    assert data.variables == ("x", "y")
    np.testing.assert_array_equal(data.states[0], TABLE[["x", "y"]])


def test_dates_text_and_missing_values(tmp_path: Path) -> None:
    days = [datetime(2024, 1, 1) + timedelta(days=k) for k in range(6)]
    cells = {"date": days, "x": [1, "NA", "1,234", "12 %", 5.5, 6], "run": list("aaaaaa")}
    pd.DataFrame(cells).to_excel(tmp_path / "f.xlsx", index=False)
    data = read(tmp_path / "f.xlsx")
    assert data.clock.label == "days since 2024-01-01"
    np.testing.assert_array_equal(data.states[0][:, 0], [1.0, 1234.0, 12.0, 5.5, 6.0])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "row 1048576 has more than 2000 columns"),
        ('<row r="900000000"><c r="A900000000"><v>1</v></c></row>', "a sheet has more than 1,048,576 rows"),
        ("<row><c><v>1</v></c></row>" * 3, "no sheet has a table"),
        ('<row><c r="XFD1"><v>1</v></c></row>' * 9, "row 1 has more than 2000 columns"),
        (" " * (1 << 26), "it unpacks from"),
    ],
)
def test_few_cells_that_would_fill_the_memory(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(DataError, match=f"f.xlsx: {message}"):
        read(with_sheet(tmp_path, rows))


@pytest.mark.parametrize("column", ['<c r="XFD{0}"/>', '<c r="A{0}"><v>1</v></c>'])
def test_empty_cells_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str) -> None:
    monkeypatch.setattr(spreadsheets, "MOST_CELLS", 30_000)
    rows = "".join(f'<row r="{k}">{column.format(k)}</row>' for k in range(1, 30))
    rows += '<row r="30"><c r="BEE30"><v>1</v></c></row>'  # column 1487
    with pytest.raises(DataError, match="or 30,000 cells"):
        read(with_sheet(tmp_path, rows))
