"""Parquet files: what they say of their size is looked at before memory is taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from odefinder.data.packed import MOST_VALUES, check_unpacked
from odefinder.errors import DataError, MissingExtraError

_VALUE = 8  # bytes of a number, or of the place of a text


def parquet_table(path: Path) -> pd.DataFrame:
    """The table of a Parquet file."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading Parquet files", "parquet") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            about = file.metadata
            groups = [about.row_group(j) for j in range(about.num_row_groups)]
            columns = [group.column(j) for group in groups for j in range(group.num_columns)]
        size = path.stat().st_size
        check_unpacked(_VALUE * sum(column.num_values for column in columns), size, MOST_VALUES)
        check_unpacked(sum(column.total_uncompressed_size for column in columns), size, MOST_VALUES)
        # A long text that occurs in many rows is kept once.
        texts = {column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY"}
        frame: pd.DataFrame = pyarrow.parquet.read_table(path, read_dictionary=sorted(texts)).to_pandas()
        check_unpacked(sum(_text_size(frame[name]) for name in frame.select_dtypes("category")), size)
    except DataError:
        raise
    except Exception as error:  # pyarrow has its own family of errors
        raise DataError(f"this is not Parquet, or it is damaged: {error}") from None
    frame.index = frame.index.astype(object) if isinstance(frame.index, pd.CategoricalIndex) else frame.index
    return frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))


def _text_size(column: pd.Series) -> int:
    """Characters of a column of texts."""
    lengths = np.array([len(str(one)) for one in column.cat.categories], dtype=np.int64)
    return int(lengths[column.cat.codes[column.notna()]].sum())
