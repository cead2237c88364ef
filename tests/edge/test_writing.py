"""Folders: made, or an error that says why not.  How files are written is in test_files.py."""

from pathlib import Path

import pytest

from odefinder.edge.writing import make_folder
from odefinder.errors import DataError


def test_folders_that_cannot_be_made(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("x")
    for name in ("file", "file/below", "a" * 300, "nul\0"):
        with pytest.raises(DataError):
            make_folder(tmp_path / name)
