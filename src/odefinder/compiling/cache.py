"""Where compiled functions are kept between processes.

Numba considers the cache of a function stale only when the function's own file changes, although the code of
every function it calls is compiled into it.  So each module has a cache folder of its own, named after the
contents of the module and of all modules of this package that it imports.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
VARIABLE = "ODEFINDER_CACHE"  # of the environment: another folder to keep compiled functions in
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


@cache
def _root() -> Path:
    """ODEFINDER_CACHE; otherwise next to the package, or at home where that cannot be written."""
    chosen = os.environ.get(VARIABLE)
    usual = [PACKAGE / "__pycache__" / "numba", *(home / "odefinder" / "numba" for home in _homes())]
    for folder in [Path(chosen).absolute()] if chosen else usual:
        if _can_be_written(folder):
            return folder
    warnings.warn(
        f"{chosen or usual[-1]} cannot be written: what is compiled now is lost when this process ends; name "
        f"a folder that can be written in the environment variable {VARIABLE}",
        stacklevel=2,
    )
    try:
        folder = Path(tempfile.mkdtemp(prefix="odefinder-"))
    except OSError:  # there is no place at all: nothing is kept
        return Path(chosen).absolute() if chosen else usual[-1]
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _can_be_written(folder: Path) -> bool:
    """Whether a file can be made there; permissions alone do not say it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError:
        return False
    return True


def _homes() -> list[Path]:
    """The user's folder for caches, if there is one; never the current folder, as the cache has pickles."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return [given]
    try:
        home = Path.home() / ".cache"
    except RuntimeError:  # no HOME, and a user without an entry
        return []
    return [home] if home.is_absolute() else []


def child_environment() -> dict[str, str]:
    """The environment of another process that uses this package and this cache."""
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), VARIABLE: str(_root())}
