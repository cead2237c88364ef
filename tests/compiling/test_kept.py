"""Compiled functions on disk: damaged files are made again, and what cannot be kept is only said."""

import warnings
from pathlib import Path

import numba
import pytest

from odefinder.compiling import kept
from odefinder.compiling.jit import compiled


def thrice(x: float) -> float:
    return 3.0 * x


@pytest.mark.parametrize("ending", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 5000])
def test_damaged_files_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, damage: bytes
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert compiled(thrice)(1.5) == 4.5
    (file,) = tmp_path.rglob(ending)
    whole = file.read_bytes()
    file.write_bytes(damage or whole[:-1] + bytes([whole[-1] ^ 1]))
    again = compiled(thrice)
    assert again(1.5) == 4.5
    assert compiled(thrice)(2.0) == 6.0
    assert file.stat().st_size == pytest.approx(len(whole), abs=100)  # it holds times, whose length varies


def test_what_cannot_be_kept_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kept.CheckedFiles, "_write", full)
    kept.say_once.cache_clear()
    with pytest.warns(UserWarning, match="No space left.*ODEFINDER_CACHE") as said:
        values = [compiled(thrice)(1.5) for _ in range(2)]
    assert values == [4.5, 4.5]
    assert len(said) == 1


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "below"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compiled(thrice)(1.5) == 4.5
