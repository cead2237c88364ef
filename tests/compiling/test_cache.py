"""The cache of compiled functions: fresh when any imported module changes."""

import functools
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
    monkeypatch.setattr(cache, "_root", functools.cache(cache._root.__wrapped__))
    monkeypatch.delenv("ODEFINDER_CACHE", raising=False)
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
    (package / "__pycache__").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert folder("upper").parent == tmp_path / "home" / "odefinder" / "numba"


def test_the_environment_names_another_folder(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ODEFINDER_CACHE", str(tmp_path / "mine"))
    assert folder("upper").parent == tmp_path / "mine"
    assert cache.child_environment()["ODEFINDER_CACHE"] == str(tmp_path / "mine")


def test_a_cache_that_cannot_be_written_lasts_as_long_as_the_process(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ODEFINDER_CACHE", str(tmp_path / "file" / "below"))
    with pytest.warns(UserWarning, match=r"below cannot be written.*ODEFINDER_CACHE") as said:
        first, second = folder("upper"), folder("middle")
    assert len(said) == 1  # one message, however many functions there are
    assert first.parent == second.parent
    assert first.parent.is_dir()


@pytest.mark.parametrize("given", ["", "relative/folder", "."])
def test_the_cache_is_never_in_the_current_folder(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
):
    (package / "__pycache__").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folder("upper").parent == tmp_path / "home" / ".cache" / "odefinder" / "numba"


def test_without_a_home(package: Path, monkeypatch: pytest.MonkeyPatch):
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    (package / "__pycache__").write_text("no folder")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.warns(UserWarning, match="cannot be written"):
        assert folder("upper").parent.is_dir()
