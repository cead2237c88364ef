"""Spreadsheets (.xlsx): the first sheet that has a table."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from odefinder.errors import DataError, MissingExtraError

MOST_UNPACKED = 1 << 30  # bytes


def spreadsheet(path: Path) -> pd.DataFrame:
    """The table of a sheet: its header is the first row that is as full as any, empty ones around it go."""
    if find_spec("openpyxl") is None:
        raise MissingExtraError("reading spreadsheets", "excel")
    _check_size(path)
    try:
        sheets: dict[Any, pd.DataFrame] = pd.read_excel(
            path, sheet_name=None, header=None, dtype=object, engine="openpyxl"
        )
    except Exception as error:  # openpyxl raises whatever a damaged file makes of it
        raise DataError(f"this is not a spreadsheet, or it is damaged: {error}") from None
    for sheet in sheets.values():
        cells = sheet.dropna(how="all").dropna(axis="columns", how="all")
        if cells.shape[0] > 1 and cells.shape[1] > 1:
            return _table(cells)
    raise DataError("no sheet has a table; give a header and one row per point")


def _table(cells: pd.DataFrame) -> pd.DataFrame:
    filled = cells.notna().sum(axis=1).to_numpy()
    header = int((filled == filled.max()).argmax())
    titles = ["" if pd.isna(one) else str(one).strip() for one in cells.iloc[header]]
    below = cells.iloc[header + 1 :].dropna(how="all").reset_index(drop=True)
    below.columns = pd.Index([title or f"Unnamed: {j}" for j, title in enumerate(titles)])
    return below.infer_objects()


def _check_size(path: Path) -> None:
    """Raise if unpacking it would fill the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"this is not a spreadsheet, or it is damaged: {error}") from None
    if size > MOST_UNPACKED:
        raise DataError(f"it unpacks to {size:,} bytes, and the limit is {MOST_UNPACKED:,}; save it as CSV")
