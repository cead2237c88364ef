"""Spreadsheets (.xlsx): the first sheet that has a table."""

from __future__ import annotations

import contextlib
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from odefinder.data.packed import check_unpacked
from odefinder.data.text_tables import MISSING, MOST_COLUMNS
from odefinder.errors import DataError, MissingExtraError

MOST_ROWS = 1 << 20  # of a sheet in Excel
MOST_CELLS = 20_000_000


def spreadsheet(path: Path) -> pd.DataFrame:
    """The table of a sheet: its header is the first row that is as full as any, empty ones around it go."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("reading spreadsheets", "excel")
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        check_unpacked(size, path.stat().st_size)
        with contextlib.closing(
            load_workbook(path, read_only=True, data_only=True, keep_links=False)
        ) as book:
            for sheet in book.worksheets:
                cells = pd.DataFrame(_cells(sheet), dtype=object).dropna(axis="columns", how="all")
                if cells.shape[0] > 1 and cells.shape[1] > 1:
                    return _table(cells)
    except DataError:
        raise
    except Exception as error:  # openpyxl raises whatever a damaged file makes of it
        raise DataError(f"this is not a spreadsheet, or it is damaged: {error}") from None
    raise DataError("no sheet has a table; give a header and one row per point")


def _cells(sheet: Any) -> list[list[Any]]:
    """The rows of a sheet that are not empty, of equal length."""
    sheet.reset_dimensions()  # what a file says of them may be wrong
    rows: list[list[Any]] = []
    seen = 0
    for number, row in enumerate(sheet.rows, start=1):  # before a cell far off come empty rows and cells
        seen += len(row)
        _check_size(number, seen)
        values = [_value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        if len(values) > MOST_COLUMNS:
            raise DataError(f"row {number} has more than {MOST_COLUMNS} columns, which is the limit")
        if values:
            rows.append(values)
    width = max(map(len, rows), default=0)
    _check_size(len(rows), len(rows) * width)
    return [row + [None] * (width - len(row)) for row in rows]


def _check_size(rows: int, cells: int) -> None:
    if rows > MOST_ROWS or cells > MOST_CELLS:
        raise DataError(
            f"a sheet has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells, which is the limit; remove "
            "cells far off, or save it as CSV"
        )


def _value(cell: Any) -> Any:
    """What a cell has: None where it is empty, or says that it has no value."""
    value = cell.value
    if cell.data_type == "e" or (isinstance(value, str) and value.strip().lower() in MISSING):
        return None
    return value


def _table(cells: pd.DataFrame) -> pd.DataFrame:
    filled = cells.notna().sum(axis=1).to_numpy()
    header = int((filled == filled.max()).argmax())
    titles = ["" if pd.isna(one) else str(one).strip() for one in cells.iloc[header]]
    below = cells.iloc[header + 1 :].dropna(how="all").reset_index(drop=True)
    below.columns = pd.Index([title or f"Unnamed: {j}" for j, title in enumerate(titles)])
    return below.infer_objects()
