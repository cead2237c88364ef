"""NPY and NPZ files: what their headers claim is compared with what is there before memory is taken."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odefinder.data.names import read_time_title
from odefinder.data.packed import MOST_VALUES, check_unpacked
from odefinder.errors import DataError

_LONGEST_HEADER = 10_000
_KINDS = "biufcmMSU"  # numbers, dates and text


def numpy_table(path: Path) -> pd.DataFrame | tuple[Any, Any]:
    """A table, or arrays X and t."""
    try:
        arrays = _arrays(path)
    except (DataError, OSError):
        raise
    except Exception as error:  # what damaged files raise goes from TokenError to zlib.error
        kind = type(error).__name__
        raise DataError(
            f"this is not a file of plain NumPy arrays, or it is damaged ({kind}: {error})"
        ) from None
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


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays by name; the only one of an NPY file has none."""
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            _check_header(file, path.stat().st_size)
            file.seek(0)
            return {"": np.load(file, allow_pickle=False, max_header_size=_LONGEST_HEADER)}
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            claimed = sum(member.file_size for member in members)
            check_unpacked(claimed, path.stat().st_size, MOST_VALUES)
            for member in members:
                if not member.filename.endswith(".npy"):
                    raise DataError(f"it holds {member.filename[:60]!r}, which is not an array; remove it")
                with archive.open(member) as inner:
                    _check_header(inner, member.file_size)
        file.seek(0)
        with np.load(file, allow_pickle=False, max_header_size=_LONGEST_HEADER) as loaded:
            return dict(loaded.items())


def _check_header(file: IO[bytes], size: int) -> None:
    """Raise if an array is not of plain values, or not as large as its header says."""
    form = np.lib.format
    version = form.read_magic(file)
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    shape, _, kind = read(file, max_header_size=_LONGEST_HEADER)
    if kind.kind not in _KINDS or kind.names or kind.subdtype:
        raise DataError(f"it holds an array of {kind}; give plain NumPy arrays of numbers, one per column")
    claimed = math.prod(shape) * kind.itemsize
    if claimed > MOST_VALUES:
        raise _too_large(claimed)
    if min(shape, default=0) < 0 or claimed > size - file.tell():
        raise DataError(f"its header promises {claimed:,} bytes, and there are {size - file.tell():,}")


def _too_large(size: int) -> DataError:
    return DataError(f"its arrays take {size:,} bytes, and the limit is {MOST_VALUES:,}; give fewer points")


def _counts(sizes: dict[str, Any]) -> str:
    return ", ".join(f"{key} {size}" for key, size in sizes.items())
