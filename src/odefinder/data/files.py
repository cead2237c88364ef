"""Files -> a Dataset: CSV and other text tables, also compressed, spreadsheets, Parquet, NPZ, NPY, JSON."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from odefinder.data.arrays import from_arrays
from odefinder.data.bundled import BUNDLED, bundled, sample_path
from odefinder.data.columns import has_times
from odefinder.data.dataset import Dataset
from odefinder.data.joining import joined, short_names
from odefinder.data.known import Extras
from odefinder.data.numpy_files import numpy_table
from odefinder.data.packed import MOST_BYTES, unpacked
from odefinder.data.parquet_files import parquet_table
from odefinder.data.spreadsheets import spreadsheet
from odefinder.data.tables import from_frame
from odefinder.data.text_tables import decoded, table_of_file
from odefinder.data.time_units import with_time_unit
from odefinder.edge.parameters import checked
from odefinder.edge.reading import check_file, open_bytes, read_bytes
from odefinder.edge.rules import items
from odefinder.errors import DataError

__all__ = [
    "MOST_BYTES",
    "SAMPLES",
    "STDIN",
    "input_table",
    "load",
    "of_file",
    "read",
    "sample",
    "sample_path",
]

STDIN = Path("-")
SAMPLES = tuple(BUNDLED)
_TEXT_ENDINGS = {".csv", ".tsv", ".txt", ".dat", ".asc", ".tab", ""}


def read(
    path: str | Path | Sequence[str | Path],
    time: str | None = None,
    trajectory: str | None = None,
    variables: Sequence[str] | None = None,
    *,
    inputs: Any = None,
    conditions: Any = None,
    errors: Any = None,
    time_unit: str | None = None,
) -> Dataset:
    """The data of a file with one row per point, or of several files, each with its own trajectories.

    The path "-" reads a text table from standard input.  `time` is the column of the times, `trajectory` one
    that tells trajectories apart, `variables` are the columns to use; those not given are found by name.
    `inputs`, `conditions` and `errors` are columns by name, or anything that `from_arrays` takes.
    `time_unit` is the unit in which times are counted, such as "hours", if it is not to be chosen by their
    steps.
    """
    given = {"inputs": inputs, "conditions": conditions, "errors": errors}
    if isinstance(path, (str, Path)) or (several := items(path)) is None:
        dataset = _read_one(checked("path", path), time, trajectory, variables, given)
    else:
        paths = [Path(checked("path", one)) for one in several]
        dataset = joined(
            [_read_one(one, time, trajectory, variables, given) for one in paths], short_names(paths)
        )
    return dataset if time_unit is None else with_time_unit(dataset, time_unit)


def _read_one(
    path: str | Path,
    time: str | None,
    trajectory: str | None,
    variables: Sequence[str] | None,
    given: dict[str, Any],
) -> Dataset:
    with of_file(path) as content:
        if isinstance(content, tuple):
            if time is not None or trajectory is not None:
                raise DataError("this file has arrays, not columns: time and trajectory cannot be chosen")
            states, times = content
            return from_arrays(states, times, variables, **given)
        return from_frame(
            content, time, trajectory, variables, guess_first_column=True, extras=Extras(**given)
        )


@contextmanager
def of_file(path: str | Path) -> Iterator[pd.DataFrame | tuple[Any, Any]]:
    """What is in a file that a user names; errors inside say which file they are about."""
    path = Path(checked("path", path))
    if path != STDIN:
        check_file(path)
    try:
        yield load(path)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def input_table(path: str | Path) -> pd.DataFrame:
    """A table of inputs with a column of times, from a file that a user names."""
    with of_file(path) as content:
        if isinstance(content, tuple) or not has_times(content):
            raise DataError("it has no column of times; give one called time or t, and one for each input")
        return content


def sample(name: str) -> Dataset:
    """Data that come with odefinder, such as `hare_lynx` (pelts, 1900-1920); SAMPLES has all names."""
    one = bundled(name)
    known: dict[str, Any] = {"inputs": list(one.inputs) or None, "conditions": list(one.conditions) or None}
    known |= {"errors": dict(one.errors) or None}
    return read(sample_path(name), variables=one.variables or None, **known)


def load(path: Path) -> pd.DataFrame | tuple[Any, Any]:
    """What is in a file, as it stands there: a table, or arrays X and t."""
    if path == STDIN:
        return table_of_file(io.BytesIO(_standard_input()))
    ending = path.suffix.lower()
    if ending == ".gz":
        if Path(path.stem).suffix.lower() not in _TEXT_ENDINGS:
            raise DataError(f"only compressed text tables can be read, such as data.csv.gz, not {path.name}")
        with unpacked(path) as file:
            return table_of_file(file)
    if ending in _TEXT_ENDINGS:
        with open_bytes(path, MOST_BYTES) as file:
            return table_of_file(file)
    if ending in (".parquet", ".pq"):
        return parquet_table(path)
    if ending in (".npz", ".npy"):
        return numpy_table(path)
    if ending == ".json":
        return _json(path)
    if ending in (".xlsx", ".xlsm"):
        return spreadsheet(path)
    if ending in (".xls", ".ods"):
        raise DataError("old spreadsheets cannot be read; save the sheet as .xlsx or CSV")
    raise DataError(
        f"files ending in {ending} cannot be read; give CSV, TSV, TXT, XLSX, Parquet, NPZ, NPY or JSON"
    )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise DataError("standard input is closed; give the path of a file")
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"there are more than {MOST_BYTES:,} bytes, which is the limit")
    return content


def _json(path: Path) -> pd.DataFrame:
    try:
        content = json.loads(decoded(read_bytes(path, MOST_BYTES)))
        return pd.DataFrame(content if isinstance(content, list) else dict(content))
    except (ValueError, TypeError, RecursionError, OverflowError, AttributeError) as error:
        raise DataError(
            f'this is not a table; write {{"t": [0, 1], "x": [2, 3]}} in JSON ({error})'
        ) from None
