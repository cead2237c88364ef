"""The files of the page: nothing comes from elsewhere, and nothing is missing."""

import re
from pathlib import Path

from odefinder.web.server import STATIC

OURS = [path for path in STATIC.rglob("*") if path.is_file() and "vendor" not in path.parts]
TEXTS = [path for path in STATIC.rglob("*") if path.suffix in (".html", ".js", ".css", ".svg")]
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
HOMEPAGE = "https://github.com/leeoniya/uPlot"  # in the comment at the head of the file


def test_no_file_names_another_host() -> None:
    for path in TEXTS:
        found = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[\w/.-]*", path.read_text(encoding="utf-8")))
        assert found <= NAMESPACES | {HOMEPAGE}, path


def test_what_the_page_names_is_there() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="static/([^"]+)"', page):
        assert (STATIC / name).is_file(), name
    for path in (STATIC / "js").glob("*.js"):
        for name in re.findall(r'from "\./([^"]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / name).is_file(), name


def test_names_from_data_never_become_markup() -> None:
    for path in OURS:
        if path.suffix in (".js", ".html"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"innerHTML\s*[+=]|insertAdjacentHTML|document\.write|eval\(", text), path
            assert not re.search(r"<[^>]+\son\w+=", text), path


def test_licences_are_with_what_is_vendored_and_it_is_small() -> None:
    folders = [folder for folder in (STATIC / "vendor").iterdir() if folder.is_dir()]
    assert all((folder / "LICENSE").is_file() for folder in folders)
    assert sum(path.stat().st_size for path in (STATIC / "vendor").rglob("*") if path.is_file()) < 1.5e6


def test_files_are_short_enough_to_read() -> None:
    assert [path.name for path in OURS if _lines(path) > 400] == []


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
