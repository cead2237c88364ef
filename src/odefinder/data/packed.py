"""Compressed files: a tiny one must not unpack to gigabytes."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from odefinder.edge.reading import open_bytes
from odefinder.errors import DataError

MOST_BYTES = 1 << 30  # unpacked, and of the file itself
MOST_VALUES = 1 << 29  # bytes of all values of an NPY, NPZ or Parquet file
ALWAYS = 1 << 25  # bytes to which any file may unpack
MOST_TIMES = 100  # the size of the file; tables of numbers have 2 to 20, what is made to do harm has 1,000
_BLOCK = 1 << 20


def check_unpacked(unpacked: int, packed: int, most: int = MOST_BYTES) -> None:
    """Raise if a file of `packed` bytes unpacks to too many."""
    limit = min(most, max(ALWAYS, MOST_TIMES * packed))
    if unpacked > limit:
        raise DataError(
            f"it unpacks from {packed:,} bytes to more than {limit:,}, which is the limit; give fewer "
            "points, or unpack it to a CSV file"
        )


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """What was compressed by gzip, as a stream; all of it was read once, so that it is sound."""
    with open_bytes(path, MOST_BYTES) as packed:
        size = packed.seek(0, io.SEEK_END)
        packed.seek(0)
        with gzip.GzipFile(fileobj=packed) as file:
            read = 0
            try:
                while block := file.read(_BLOCK):
                    read += len(block)
                    check_unpacked(read, size)
                file.seek(0)
            except (OSError, EOFError, zlib.error) as error:
                raise DataError(f"this is not compressed by gzip, or it is damaged: {error}") from None
            yield file  # type: ignore[misc]  # a BinaryIO in all but name
