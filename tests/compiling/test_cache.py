"""The cache of compiled functions: fresh when any imported module changes."""

import os
import time
from pathlib import Path

import pytest

from odefinder.compiling import cache


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three modules, in which `upper` imports `middle`, which imports `parts`."""
    (tmp_path / "upper.py").write_text("from odefinder.middle import f\n")
    (tmp_path / "middle.py").write_text("from odefinder.parts import (\n    g,\n)\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("g = 1\n")
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    monkeypatch.setattr(cache, "_source", cache._source.__wrapped__)
    monkeypatch.setattr(cache, "cache_folder", cache.cache_folder.__wrapped__)
    return tmp_path


def folder(module: str) -> Path:
    return cache.cache_folder(f"odefinder.{module}")


def test_the_folder_follows_the_text_of_every_imported_module(package: Path):
    upper, middle = folder("upper"), folder("middle")
    assert upper == folder("upper")
    assert upper.name.startswith("odefinder.upper-")
    (package / "parts" / "__init__.py").write_text("g = 2\n")
    assert folder("upper") != upper
    assert folder("middle") != middle
    (package / "upper.py").write_text("from odefinder import middle, other\n")
    by_name = folder("upper")
    (package / "middle.py").write_text("from odefinder.parts import g\n")
    assert folder("upper") != by_name
    parts = folder("parts")
    (package / "upper.py").write_text("from odefinder.middle import f  # changed\n")
    assert folder("parts") == parts


def test_folders_of_earlier_texts_are_removed(package: Path):
    old, other = folder("upper"), folder("middle")
    old.mkdir(parents=True)
    other.mkdir(parents=True)
    (package / "upper.py").write_text("x = 1\n")
    folder("upper")
    assert old.exists()  # it may be another process's
    long_ago = time.time() - 2 * cache.KEEP
    os.utime(old, (long_ago, long_ago))
    os.utime(other, (long_ago, long_ago))
    folder("upper")
    assert not old.exists()
    assert other.exists()


def test_a_package_that_cannot_be_written_is_cached_at_home(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache.os, "access", lambda path, mode: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert folder("upper").parent == tmp_path / "home" / "odefinder" / "numba"
