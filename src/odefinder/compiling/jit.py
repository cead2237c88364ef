"""The one way functions are compiled here: cached on disk, without the GIL, division as in NumPy.

Numba's cache of a function is stale only when the function's own file changes, although the code of
every function it calls is compiled into it.  So each module has its own cache folder, named after the
contents of the module and of all modules of this package that it imports.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_config: Any = numba.config  # its attributes are made at run time
_PACKAGE = Path(__file__).parent
KEEP = 3600.0  # seconds that the compiled functions of an earlier text are kept
_IMPORT = re.compile(r"^from (odefinder[\w.]*) import ([^\n(]*)", re.MULTILINE)


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers with numba."""
    return compile_with(function)


def compile_with(function: F, **options: Any) -> F:
    """Compile with further options of numba."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = _cache_folder(function.__module__)
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        _config.CACHE_DIR = before


@cache
def _source(module: str) -> bytes:
    """The text of a module of this package; a package is its __init__."""
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_bytes() if path.exists() else b""


@cache
def _cache_folder(module: str) -> str:
    """The folder for the compiled functions of a module; folders of its earlier texts are removed."""
    if not module.startswith("odefinder"):
        return cast(str, _config.CACHE_DIR)
    todo, seen = [module], set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for package, names in _IMPORT.findall(_source(name).decode()):
                todo.append(package)  # and, where a name is a module: it, too
                todo.extend(f"{package}.{part.strip()}" for part in names.split(","))
    digest = hashlib.sha256(b"".join(_source(name) for name in sorted(seen))).hexdigest()[:16]
    root = _PACKAGE / "__pycache__" / "numba"
    if not os.access(_PACKAGE, os.W_OK):
        root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "odefinder" / "numba"
    folder = root / f"{module}-{digest}"
    if not folder.exists():
        for old in root.glob(f"{module}-*"):  # but not what another process is writing right now
            with contextlib.suppress(OSError):
                if old != folder and time.time() - old.stat().st_mtime > KEEP:
                    shutil.rmtree(old, ignore_errors=True)
    return str(folder)
