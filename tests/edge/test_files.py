"""Files are read only if they end, and written without losing what was there."""

import contextlib
import os
import resource
import signal
import stat
from pathlib import Path

import pytest

from odefinder.edge.reading import read_bytes
from odefinder.edge.writing import check_place, replacing, write_text
from odefinder.errors import DataError


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/full", "/dev/null", "/", "no/such", "a" * 5000, "a\0b"])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(DataError):
        read_bytes(Path(path), 100)


def test_files_and_pipes_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345")
    assert read_bytes(file, 5) == b"12345"
    with pytest.raises(DataError, match="limit is 4"):
        read_bytes(file, 4)
    os.mkfifo(tmp_path / "pipe")
    if os.fork() == 0:
        (tmp_path / "pipe").write_bytes(b"abc")
        os._exit(0)
    assert read_bytes(tmp_path / "pipe", 5) == b"abc"
    os.wait()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    with contextlib.suppress(RuntimeError), replacing(path) as place:
        place.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_limit_of_size_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(DataError, match="ulimit"):
            write_text(path, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_links_modes_and_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    with pytest.raises(DataError, match="make room"):
        write_text(Path("/dev/full"), "x")
    with pytest.raises(DataError, match="folder"):
        write_text(tmp_path, "x")
    with pytest.raises(DataError):
        write_text(tmp_path / ("a" * 300), "x")


@pytest.mark.parametrize("name", ["no/x.json", "", "a/" * 3000 + "x"])
def test_places_are_checked_before_the_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError):
        check_place(tmp_path / name)
    check_place(tmp_path / "x.json")
