"""Writing without losing what was there: beside it first, then moved into its place."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odefinder.edge.reading import reason, short
from odefinder.errors import DataError, OdefinderError

_ADVICE = {
    errno.ENOENT: "create its folder first, or choose another path",
    errno.ENOSPC: "make room on the disk, or choose another place",
    errno.EFBIG: "the system limits the size of files (ulimit -f)",
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; when the block ends well, what is there takes the place of `path`.

    A device or a pipe is written to directly.  Where writing fails, a DataError says why, and `path` is as it
    was.
    """
    try:
        place = Path(os.path.realpath(path))  # of a link, the file behind it
        old = place.stat() if place.exists() else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            if stat.S_ISDIR(old.st_mode):
                raise DataError(f"cannot write {path}: it is a folder; give the path of a file")
            yield path
            return
        beside = place.with_name(f".odefinder-{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            yield beside
            _to_disk(beside)
            if old is not None:
                with contextlib.suppress(OSError):
                    shutil.copymode(place, beside)
            os.replace(beside, place)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
    except OdefinderError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(_message(path, error)) from None


def check_place(path: Path) -> None:
    """Raise now if a file could not be written there later."""
    if not os.path.isdir(path.parent):  # which also holds for names that are too long
        raise DataError(f"there is no folder {short(path.parent)}; create it first")
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder; give the path of a file")
    if not os.access(path if os.path.exists(path) else path.parent, os.W_OK):
        raise DataError(f"cannot write {short(path)}: permission denied; choose another place")


def make_folder(path: Path) -> None:
    """Make a folder with those above it, unless it is there; the error says why it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DataError(f"{path} is a file; give the path of a folder") from None
    except (OSError, ValueError) as error:
        problem = f"cannot make the folder {short(path)}: {reason(error)}; choose another place"
        raise DataError(problem) from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file completely, or leave what was there."""
    with replacing(path) as place:
        place.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file completely, or leave what was there."""
    write_bytes(path, text.encode("utf-8", "replace"))


def _to_disk(path: Path) -> None:
    """A full disk is noticed here, not after the old file is gone."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _message(path: Path, error: Exception) -> str:
    advice = _ADVICE.get(getattr(error, "errno", None) or 0, "")
    return f"cannot write {short(path)}: {reason(error)}" + (f"; {advice}" if advice else "")
