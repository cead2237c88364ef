"""A file with one line of JSON for each fit, and studies that go on where they stopped.

A line is written and synchronised as soon as its fit is done, so a run that is killed loses only the fits
in progress; a last line that was cut off by a kill is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

from odefinder.edge.parameters import checked
from odefinder.edge.writing import make_folder
from odefinder.errors import DataError, SettingsError


class Keyed(Protocol):
    """A fit to be done, or its result."""

    @property
    def key(self) -> Hashable: ...


Task = TypeVar("Task", bound=Keyed)
Kind = TypeVar("Kind", bound=Keyed)


def run_rest(
    tasks: Sequence[Task], execute: Callable[[Task], Kind], kind: type[Kind], out: Path, processes: int
) -> Iterator[Kind]:
    """Do what the file `out` does not hold yet, and yield each new result."""
    checked("jobs", processes)
    make_folder(out.parent)
    with ResultFile(out) as file:
        done = {result.key for result in read_lines(out, kind)}
        for result in _executed([task for task in tasks if task.key not in done], execute, processes):
            file.append(result)
            yield result


def _executed(tasks: Sequence[Task], execute: Callable[[Task], Kind], processes: int) -> Iterator[Kind]:
    if processes == 1:
        yield from map(execute, tasks)
        return
    with ProcessPoolExecutor(min(processes, os.cpu_count() or 1)) as pool:
        yield from pool.map(execute, tasks)


def read_lines(path: Path, kind: type[Kind]) -> list[Kind]:
    """The results of a file, the last of each fit; none if there is no file."""
    if not path.exists():
        return []
    results = {}
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):  # the rest was cut off
        try:
            result = kind(**json.loads(line))
        except (ValueError, TypeError):
            raise DataError(
                f"line {number} of {path} is damaged, or not a result of this study; remove it, and its fit "
                "is repeated, or give another file"
            ) from None
        results[result.key] = result
    return list(results.values())


class ResultFile:
    """A file of results, open for more lines; no other run may write to it meanwhile."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self._file: IO[bytes] = self.path.open("ab+")
        except OSError as problem:
            raise DataError(f"cannot write {self.path}: {problem.strerror or problem}") from None
        _lock(self._file, path)
        self._drop_cut_line()

    def append(self, result: Any) -> None:
        """Write a line so that it survives a kill; result: a dataclass."""
        try:
            self._file.write(json.dumps(asdict(result), allow_nan=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise DataError(
                f"cannot write {self.path}: {problem.strerror or problem}; what is there is kept, and "
                "the same command goes on"
            ) from None

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drop_cut_line(self) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._file.truncate(whole)


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock the file until it is closed or the process ends; does nothing on systems without such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise SettingsError(f"another run is writing to {path}; wait for it, or give another --out") from None
