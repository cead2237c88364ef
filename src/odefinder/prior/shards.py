"""Examples on disk: one Parquet file with one row per example, every list trimmed to its real length.

    index, dimension, n_known, n_trajectories, tries
                                                    numbers
    sigma, additive, step, outliers, missing, rho   how it was measured (see `examples.py`)
    family                                          text
    times, trajectory     (points,)                 time of each observed point, number of its trajectory
    roles                 (columns,)                what each column is (see `data/roles.py`); first come the
                                                    `dimension` states, then the `n_known` known variables
    states                (points, columns)         list of points, each a list of its variables; NaN: missing
    starts                (trajectories, columns)   clean states at each trajectory's first observed time
    ops, values           (nodes,)                  the system as a prefix program (see `program.py`)
    tokens                (length,)                 the same as target ids of the manifest's vocabulary

In pandas `np.stack(row["states"])` is the array (points, columns); in polars
`frame.explode("times", "states", "trajectory")` has one row per point.  What was drawn for the examples
of a shard, and their statistics, are in the file's own metadata.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from odefinder.edge.writing import replacing
from odefinder.errors import DataError, MissingExtraError
from odefinder.limits.sizes import MAX_DIMENSION, MAX_POINTS, MAX_TOKENS, MAX_TRAJECTORIES
from odefinder.prior.examples import EXAMPLE, MAX_PROGRAM, Examples
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.statistics import Statistics

if TYPE_CHECKING:
    import pyarrow

_MEASURED = ("sigma", "additive", "step", "outliers", "missing", "rho")
_NUMBERS = ("index", "dimension", "n_known", "n_trajectories", "tries", *_MEASURED)
# List columns: the field, the field with its length, and the longest there can be.
_LISTS = (
    ("times", "n_points", MAX_POINTS),
    ("trajectory", "n_points", MAX_POINTS),
    ("ops", "n_nodes", MAX_PROGRAM),
    ("values", "n_nodes", MAX_PROGRAM),
    ("tokens", "n_tokens", MAX_TOKENS),
)
_NESTED = (("states", "n_points", MAX_POINTS), ("starts", "n_trajectories", MAX_TRAJECTORIES))
_NEEDED = {*_NUMBERS, "family", *(name for name, *_ in (*_LISTS, *_NESTED))} - {"n_known"}
_METADATA_KEY = b"odefinder"


def arrow() -> tuple[ModuleType, ModuleType]:
    """pyarrow and pyarrow.parquet, or an error that says how to get them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Reading and writing Parquet files", "parquet") from None
    return pyarrow, pyarrow.parquet


def _offsets(lengths: NDArray[np.integer]) -> NDArray[np.int32]:
    """Where each list begins in the flat values, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _inside(lengths: NDArray[np.integer], longest: int) -> NDArray[np.bool_]:
    """(examples, longest): which entries are real."""
    inside: NDArray[np.bool_] = np.arange(longest) < lengths[:, None]
    return inside


def _inside_both(examples: Examples, length: str, longest: int) -> NDArray[np.bool_]:
    """(examples, longest, MAX_DIMENSION): which entries of a field with one row per point are real."""
    rows = _inside(examples[length], longest)[:, :, None]
    inside: NDArray[np.bool_] = rows & _inside(_columns(examples), MAX_DIMENSION)[:, None, :]
    return inside


def _columns(examples: Examples) -> NDArray[np.int64]:
    """How many columns each example has, (examples,): states and known variables."""
    columns: NDArray[np.int64] = examples["dimension"].astype(np.int64) + examples["n_known"]
    return columns


def to_table(examples: Examples) -> pyarrow.Table:
    """Examples as an Arrow table."""
    pa, _ = arrow()
    columns = {name: pa.array(examples[name]) for name in _NUMBERS}
    columns["family"] = pa.DictionaryArray.from_arrays(pa.array(examples["family"]), list(FAMILY_NAMES))
    for name, length, longest in _LISTS:
        flat = examples[name][_inside(examples[length], longest)]
        columns[name] = pa.ListArray.from_arrays(_offsets(examples[length]), flat)
    width = _columns(examples)
    flat = examples["roles"][_inside(width, MAX_DIMENSION)]
    columns["roles"] = pa.ListArray.from_arrays(_offsets(width), flat)
    for name, length, longest in _NESTED:
        flat = examples[name][_inside_both(examples, length, longest)]
        inner = pa.ListArray.from_arrays(_offsets(np.repeat(width, examples[length])), flat)
        columns[name] = pa.ListArray.from_arrays(_offsets(examples[length]), inner)
    return pa.table(columns)


def from_table(table: pyarrow.Table) -> Examples:
    """The examples of a table; what is not used of the records is zero."""
    examples = np.zeros(table.num_rows, EXAMPLE)
    column = {name: table[name].combine_chunks() for name in table.column_names}
    with_roles = "roles" in column  # shards of older versions have states only, all of them seen
    for name in _NUMBERS:
        if with_roles or name != "n_known":
            examples[name] = column[name].to_numpy(zero_copy_only=False)
    if with_roles:
        inside = _inside(_columns(examples), MAX_DIMENSION)
        examples["roles"][inside] = column["roles"].flatten().to_numpy()
    family = column["family"]
    codes = np.array([FAMILY_NAMES.index(name) for name in family.dictionary.to_pylist()], np.int8)
    examples["family"] = codes[family.indices.to_numpy(zero_copy_only=False)]
    for name, length, longest in _LISTS:
        examples[length] = column[name].value_lengths().to_numpy(zero_copy_only=False)
        examples[name][_inside(examples[length], longest)] = column[name].flatten().to_numpy()
    for name, length, longest in _NESTED:
        flat = column[name].flatten().flatten().to_numpy()
        examples[name][_inside_both(examples, length, longest)] = flat
    return examples


def write_table(path: Path, table: pyarrow.Table, statistics: Statistics) -> None:
    """Write a shard.  It has its name only when it is complete, whenever this process is killed."""
    _, parquet = arrow()
    metadata = {_METADATA_KEY: json.dumps(statistics.to_dict())}
    with replacing(path) as place:
        parquet.write_table(
            table.replace_schema_metadata(metadata), place, compression="zstd", use_dictionary=["family"],
            write_page_checksum=True,
        )  # fmt: skip


def shard_statistics(path: Path, first: int, rows: int) -> Statistics | None:
    """The statistics that a shard carries, or None unless it is complete with these examples.

    first: the index of its first example.  All of it is read, because damage may be anywhere.
    """
    pa, parquet = arrow()
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            if file.metadata.num_rows != rows or _NEEDED - set(file.schema_arrow.names):
                return None
            expected = first
            for part in file.iter_batches():
                index = part.column("index").to_numpy()
                if not np.array_equal(index, np.arange(expected, expected + len(index))):
                    return None
                expected += len(index)
            return Statistics.from_dict(json.loads(file.metadata.metadata[_METADATA_KEY]))
    except (OSError, pa.ArrowInvalid, KeyError, TypeError, ValueError):
        return None


def read_shard(path: str | os.PathLike[str]) -> Examples:
    """The examples of one shard, exactly as they were drawn."""
    pa, parquet = arrow()
    try:
        return from_table(parquet.read_table(path, page_checksum_verification=True))
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (OSError, pa.ArrowInvalid, KeyError) as problem:
        raise DataError(
            f"{path} is not a complete shard ({problem}); delete it and run the same `odefinder "
            "generate` again"
        ) from None
