"""Reading what a path leads to: regular files and pipes, nothing that never ends."""

from __future__ import annotations

import io
import stat
from pathlib import Path
from typing import BinaryIO

from odefinder.errors import DataError


def check_file(path: Path) -> int | None:
    """The size of a regular file, None for a pipe; everything else is an error."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path{_here()}") from None
    except (OSError, ValueError) as error:  # also names that are too long, or have a NUL
        raise DataError(f"cannot read {short(path)}: {reason(error)}") from None
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"{path} is a folder; give the path of a file")
    if stat.S_ISFIFO(found.st_mode):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{path} is neither a file nor a pipe; copy what it holds to a file first")
    return found.st_size


def open_bytes(path: Path, most: int) -> BinaryIO:
    """The content as a stream that can be read more than once, without holding a whole file in memory."""
    if check_file(path) is None:  # a pipe gives everything once
        return io.BytesIO(read_bytes(path, most))
    _check_size(path, most)
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"cannot read {short(path)}: {reason(error)}") from None


def read_bytes(path: Path, most: int) -> bytes:
    """The content, if it is not larger than `most`."""
    _check_size(path, most)
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DataError(f"cannot read {short(path)}: {reason(error)}") from None
    if len(content) > most:
        raise DataError(f"{path} has more than {most:,} bytes, which is the limit; give a smaller file")
    return content


def _check_size(path: Path, most: int) -> None:
    size = check_file(path)
    if size is not None and size > most:
        raise DataError(f"{path} has {size:,} bytes, and the limit is {most:,}; give a smaller file")


def _here() -> str:
    try:
        return f" (now in {Path.cwd()})"
    except OSError:  # a folder that was removed
        return ""


def short(path: Path) -> str:
    """The path for a message, on one line and not longer than one."""
    text = str(path).replace("\0", "?")
    return text if len(text) <= 200 else f"{text[:200]}..."


def reason(error: Exception) -> str:
    """What the system says went wrong."""
    return str(getattr(error, "strerror", None) or error)
