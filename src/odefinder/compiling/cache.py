"""Where compiled functions are kept between processes.

Numba considers the cache of a function stale only when the function's own file changes, although the code of
every function it calls is compiled into it.  So each module has a cache folder of its own, named after the
contents of the module and of all modules of this package that it imports.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
KEEP = 3600.0  # seconds for which the compiled functions of an earlier text are kept
_IMPORT = re.compile(r"^from (odefinder[\w.]*) import ([^\n(]*)", re.MULTILINE)


@cache
def _source(module: str) -> bytes:
    """The text of a module of this package; a package is its __init__."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_bytes() if path.exists() else b""


@cache
def cache_folder(module: str) -> Path:
    """The folder for the compiled functions of a module; folders of its earlier texts are removed."""
    todo, seen = [module], set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for package, names in _IMPORT.findall(_source(name).decode()):
                todo.append(package)  # and, where a name is a module: it, too
                todo.extend(f"{package}.{part.strip()}" for part in names.split(","))
    digest = hashlib.sha256(b"".join(_source(name) for name in sorted(seen))).hexdigest()[:16]
    folder = _root() / f"{module}-{digest}"
    if not folder.exists():
        for old in folder.parent.glob(f"{module}-*"):  # but not what another process is writing right now
            with contextlib.suppress(OSError):
                if old != folder and time.time() - old.stat().st_mtime > KEEP:
                    shutil.rmtree(old, ignore_errors=True)
    return folder


def _root() -> Path:
    """Beside the package, or at home where that cannot be written."""
    if os.access(PACKAGE, os.W_OK):
        return PACKAGE / "__pycache__" / "numba"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "odefinder" / "numba"
