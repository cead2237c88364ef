"""A compiled function on disk, with a checksum: what is damaged counts as absent, and is made again.

numba's own files are pickles without one, and machine code with a flipped bit would end the process.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching

_Files: Any = caching.IndexDataCacheFile
_Function: Any = caching.FunctionCache


class CheckedFiles(_Files):
    """The index of a function and its machine code, each with the checksum of what follows."""

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, overloads = self._read(self._index_path)
        except (OSError, ValueError, TypeError):
            return {}
        fresh = (version, stamp) == (self._version, self._source_stamp)
        return dict(overloads) if fresh else {}

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def _read(self, path: str) -> Any:
        content = Path(path).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise OSError(f"{path} is damaged")  # numba takes it for a file that is not there
        return pickle.loads(content[32:])


class KeptFunction(_Function):
    """The cache of one function; where it cannot be written, the function is compiled for this process."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of another version of a library, or damaged in spite of its checksum
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it if that is possible."""
        try:
            super().save_overload(sig, data)
        except OSError as problem:
            say_once(f"compiled functions cannot be kept: {problem.strerror or problem}")


@cache
def say_once(problem: str) -> None:
    """Warn that every process has to compile again."""
    from odefinder.compiling.cache import VARIABLE

    warnings.warn(
        f"{problem}; every start compiles again, which takes a minute. Name a folder that can be written in "
        f"the environment variable {VARIABLE}",
        stacklevel=3,
    )
