"""What the cache lacks is counted and compiled, here or in other processes; otherwise nothing is said."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

from odefinder.compiling import ready
from odefinder.compiling.ready import Group, compile_missing


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, for this process and for those that it starts."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def fresh() -> ModuleType:
    """The functions of `tiny`, as a new process has them."""
    sys.modules.pop("tests.compiling.tiny", None)
    return importlib.import_module("tests.compiling.tiny")


def groups(tiny: ModuleType) -> list[Group]:
    return [Group(tiny.call_doubled_often, (tiny.doubled_often,)), Group(tiny.call_halved, (tiny.halved,))]


def test_what_is_missing_is_counted_with_all_that_it_needs(folder: Path):
    tiny = fresh()
    assert {one.py_func.__name__ for one in tiny.doubled_often.needed()} == {"doubled", "doubled_often"}
    assert groups(tiny)[0].missing() == [tiny.doubled_often]
    tiny.call_doubled_often()
    assert groups(tiny)[0].missing() == []
    assert groups(fresh())[0].missing() == []
    assert len(groups(fresh())[1].missing()) == 1


@pytest.mark.parametrize("cores", [1, 2])
def test_the_message_counts_and_comes_only_where_something_is_compiled(
    folder: Path, cores: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ready, "cores", lambda: cores)
    said: list[str] = []
    tiny = fresh()
    compile_missing(groups(tiny), said.append)
    assert [text[:16] for text in said] == [f"compiling {n} of 3" for n in (1, 2, 3)]
    compiled_here = len(tiny.halved.stats.cache_misses)
    assert compiled_here == (1 if cores == 1 else 0)
    said.clear()
    compile_missing(groups(fresh()), said.append)
    assert said == []


def test_a_process_that_cannot_start_is_done_without(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ready, "cores", lambda: 2)
    monkeypatch.setattr(ready.sys, "executable", "/nowhere/python")
    tiny = fresh()
    compile_missing(groups(tiny))
    assert all(not group.missing() for group in groups(tiny))
