"""Files -> a Dataset: CSV and other text tables, Parquet, NPZ, NPY, JSON."""

from __future__ import annotations

import csv
import json
import re
import sys
import zipfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.data.known import Extras
from odefinder.data.names import read_time_title
from odefinder.data.tables import from_frame
from odefinder.errors import DataError, MissingExtraError

STDIN = Path("-")
SAMPLES = ("hare_lynx", "pendulum")
_TEXT_ENDINGS = {".csv", ".tsv", ".txt", ".dat", ".asc", ".tab", ""}
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "--", "?", ".", "missing", "#n/a", "<na>", "nat"}
_COMMENTS = ("#", "%")
_SNIFFED_LINES = 50


def read(
    path: str | Path,
    time: str | None = None,
    trajectory: str | None = None,
    variables: Sequence[str] | None = None,
    *,
    inputs: Any = None,
    conditions: Any = None,
    errors: Any = None,
) -> Dataset:
    """The data of a file with one row per point.

    The path "-" reads a text table from standard input.  `time` is the column of the times, `trajectory` one
    that tells trajectories apart, `variables` are the columns to use; those not given are found by name.
    `inputs`, `conditions` and `errors` are columns by name, or anything that `from_arrays` takes.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the path of a file")
    if not path.exists() and path != STDIN:
        raise DataError(f"there is no file {path}; check the path (now in {Path.cwd()})")
    try:
        content = load(path)
        if isinstance(content, tuple):
            if time is not None or trajectory is not None:
                raise DataError("this file has arrays, not columns: time and trajectory cannot be chosen")
            states, times = content
            return from_arrays(states, times, variables, inputs=inputs, conditions=conditions, errors=errors)
        extras = Extras(inputs, conditions, errors)
        return from_frame(content, time, trajectory, variables, guess_first_column=True, extras=extras)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def sample(name: str) -> Dataset:
    """Data that come with odefinder: `hare_lynx` (pelts, 1900-1920) or `pendulum` (damped, noisy)."""
    if name not in SAMPLES:
        raise DataError(f"there is no sample {name!r}; there are {', '.join(SAMPLES)}")
    return read(sample_path(name))


def sample_path(name: str) -> Path:
    """Where the CSV file of a sample is."""
    return Path(str(files("odefinder.data"))) / "samples" / f"{name}.csv"


def load(path: Path) -> pd.DataFrame | tuple[Any, Any]:
    """What is in a file, as it stands there: a table, or arrays X and t."""
    if path == STDIN:
        return _table_of_text(_decoded(sys.stdin.buffer.read()))
    ending = path.suffix.lower()
    if ending in _TEXT_ENDINGS:
        return _table_of_text(_decoded(path.read_bytes()))
    if ending in (".parquet", ".pq"):
        return _parquet(path)
    if ending in (".npz", ".npy"):
        return _numpy(path)
    if ending == ".json":
        return _json(path)
    if ending in (".xls", ".xlsx", ".ods"):
        raise DataError("spreadsheets cannot be read; save the sheet as CSV")
    raise DataError(f"files ending in {ending} cannot be read; give CSV, TSV, TXT, Parquet, NPZ, NPY or JSON")


# ---------------------------------------------------------------------------------------- binary files


def _parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("reading Parquet files", "parquet") from None
    try:
        return pd.read_parquet(path)
    except Exception as error:  # pyarrow has its own family of errors
        raise DataError(f"this is not Parquet, or it is damaged: {error}") from None


def _numpy(path: Path) -> pd.DataFrame | tuple[Any, Any]:
    try:
        loaded: Any = np.load(path, allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded.items())
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"this is not a file of plain NumPy arrays, or it is damaged: {error}") from None
    if list(arrays) == [""]:
        table = np.atleast_1d(arrays[""])
        if table.ndim != 2 or table.shape[1] < 2:
            raise DataError(f"the array has shape {table.shape}; give (points, 1 + variables), time first")
        return pd.DataFrame(table, columns=["t", *(f"x{j}" for j in range(table.shape[1] - 1))])
    if arrays and all(array.ndim == 1 for array in arrays.values()):
        lengths = {key: len(array) for key, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(
                f"the arrays have different lengths: {_counts(lengths)}; give one entry per point"
            )
        return pd.DataFrame(arrays)
    ranks = {key: read_time_title(key)[0] for key in arrays}
    times = sorted((rank, key) for key, rank in ranks.items() if rank is not None)
    states = [key for key, array in arrays.items() if array.ndim >= 2 and ranks[key] is None]
    if not times or len(states) != 1:
        shapes = _counts({key: array.shape for key, array in arrays.items()})
        raise DataError(
            f"the arrays are {shapes}; give t (points,) and x (points, variables), or one array per column"
        )
    return arrays[states[0]], arrays[times[0][1]]


def _json(path: Path) -> pd.DataFrame:
    try:
        content = json.loads(_decoded(path.read_bytes()))
        return pd.DataFrame(content if isinstance(content, list) else dict(content))
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(
            f'this is not a table; write {{"t": [0, 1], "x": [2, 3]}} in JSON ({error})'
        ) from None


def _counts(sizes: dict[str, Any]) -> str:
    return ", ".join(f"{key} {size}" for key, size in sizes.items())


# ---------------------------------------------------------------------------------------- text files


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\x00" in content:
        raise DataError("this is not a text file; save the table as CSV")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _table_of_text(text: str) -> pd.DataFrame:
    """The table; delimiter, decimal comma, header and comments are detected."""
    comments: list[str] = []
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(_COMMENTS):
            comments += [] if lines else [line.lstrip().lstrip("".join(_COMMENTS)).strip()]
        elif line.strip():
            lines.append((number, line))
    if not lines:
        raise DataError("the file is empty; give a header and one row per point")
    delimiter, decimal = _dialect([line for _, line in lines[: _SNIFFED_LINES + 1]])
    rows = [_cells(line, delimiter) for _, line in lines]
    header = None
    if not all(_is_value(cell, decimal) for cell in rows[0]):
        header, rows, lines = rows[0], rows[1:], lines[1:]
    elif comments and len(_cells(comments[-1], delimiter)) == len(rows[0]):
        header = _cells(comments[-1], delimiter)  # as numpy.savetxt writes it
    if not rows:
        raise DataError("the file has a header, but no rows of values")
    width = len(rows[0])
    for (number, _), row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise DataError(f"line {number} has {len(row)} entries, those before have {width}; correct it")
    if header is None:
        header = ["t", *(f"x{j}" for j in range(width - 1))]
    if len(header) == width - 1:
        header = ["", *header]  # R leaves the column of row names without a title
    if len(header) != width:
        raise DataError(f"the header has {len(header)} names for {width} columns; give each column one name")
    columns = list(zip(*rows, strict=True))
    used = [j for j in range(width) if header[j] or any(cell not in _MISSING for cell in columns[j])]
    names = [header[j] for j in used]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two columns are called {twice!r}; give each column its own name")
    if len(used) < 2:
        raise DataError(
            "the file has a single column; give the time and at least one variable, separated by commas"
        )
    return pd.DataFrame({header[j]: _column(columns[j], decimal) for j in used})


def _dialect(lines: Sequence[str]) -> tuple[str, str]:
    """The delimiter and the decimal mark under which most cells are numbers or dates."""
    best, choice = -1.0, (",", ".")
    for delimiter, decimal in ((",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."),
                               ("|", ","), (" ", "."), (" ", ",")):  # fmt: skip
        rows = [_cells(line, delimiter) for line in lines]
        body = rows[1:] or rows
        if max(map(len, body)) < 2:
            continue
        same_width = sum(len(row) == len(body[0]) for row in body) / len(body)
        cells = [cell for row in body for cell in row]
        score = same_width * sum(_is_value(cell, decimal) for cell in cells) / len(cells)
        if score > best:
            best, choice = score, (delimiter, decimal)
    return choice


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except csv.Error as error:
        raise DataError(f"the line {line[:40]!r} cannot be read: {error}") from None


def _is_value(cell: str, decimal: str) -> bool:
    """A number, a date or nothing."""
    if cell.lower() in _MISSING or re.match(r"\d{1,4}[-/.:]\d{1,2}[-/.:]\d", cell):
        return True
    return _number(cell, decimal) is not None


def _number(cell: str, decimal: str) -> float | None:
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".", 1)
    try:
        return float(cell) if "_" not in cell else None
    except ValueError:
        return None


def _column(cells: Sequence[str], decimal: str) -> Any:
    """Numbers, with cells that are not numbers left as text; missing entries are NaN or None."""
    known = [None if cell.lower() in _MISSING else cell for cell in cells]
    numbers = [np.nan if cell is None else _number(cell, decimal) for cell in known]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    values = [cell if cell is None or number is None else number
              for cell, number in zip(known, numbers, strict=True)]  # fmt: skip
    return pd.Series(values, dtype=object)
