"""The documentation: its Python code runs, its parameters are the real ones, its links lead somewhere."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from odefinder import ODEFormer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"(?:<!-- (?P<mark>[\w ]+) -->\n)?```python\n(?P<code>.*?)```", re.DOTALL)
WITH_CODE = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "chaos",
            "getting_started",
            "guide",
            "known",
            "odebench",
            "running_benchmarks",
            "scaling",
        )
    ),
]


def blocks(page: str) -> list[re.Match[str]]:
    return list(BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", WITH_CODE)
def test_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program; those with a mark, such as `<!-- not run -->`, are left out."""
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names: dict[str, object] = {}
    for block in blocks(page):
        if block["mark"] is None:
            exec(compile(block["code"], page, "exec"), names)


def test_no_page_with_code_is_forgotten() -> None:
    pages = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    assert [
        path.relative_to(ROOT).as_posix() for path in pages if "```python" in path.read_text("utf-8")
    ] == (WITH_CODE)


def test_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ((code, output),) = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", text, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == output


def test_the_guide_lists_every_parameter_with_its_default() -> None:
    (block,) = [block["code"] for block in blocks("docs/guide.md") if block["mark"] == "signature"]
    listed = dict(re.findall(r"^    (\w+)=(.*?),  +# ", block, re.MULTILINE))
    signature = inspect.signature(ODEFormer).parameters.values()
    assert {name: ast.literal_eval(value) for name, value in listed.items()} == {
        parameter.name: parameter.default for parameter in signature
    }


def test_the_readme_is_short_and_opens_with_what_it_is() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < 1000
    picture, commands = text.index("![The data"), text.index("make demo ")
    assert text.index("odefinder takes observed trajectories") < picture < commands < text.index("\n## ")


def test_files_that_the_architecture_names_are_there() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_0-9]+\.py)?)`", text)
    assert len(named) > 50
    places = (ROOT / "src" / "odefinder", ROOT)
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_the_map_of_the_rooms_has_every_file() -> None:
    """A new module gets a line in docs/architecture.md, in its room."""
    tree = re.search(
        r"```\nsrc/odefinder/\n(.*?)^benchmarks/", (DOCS / "architecture.md").read_text(), re.S | re.M
    )
    assert tree is not None
    listed, folders = set(), [(0, "")]  # indentation and path of the folders that a line lies in
    for line in tree[1].splitlines():
        indent = len(line) - len(line.lstrip())
        while folders[-1][0] >= indent:
            folders.pop()
        if folder := re.match(r"\s+(\w+/)(?:\s|$)", line):
            folders.append((indent, folders[-1][1] + folder[1]))
        listed |= {folders[-1][1] + name for name in re.findall(r"\w+\.py", line)}
    package = ROOT / "src" / "odefinder"
    files = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    files = {
        name for name in files if not name.endswith(("/__init__.py", "__main__.py")) and "moved/" not in name
    }
    assert not files - listed, f"docs/architecture.md has no line for {sorted(files - listed)}"
    assert not listed - files, f"docs/architecture.md names files that are gone: {sorted(listed - files)}"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Every link and every name of the reference; the tutorials are run by test_examples.py."""
    for module in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip("the site needs pip install 'odefinder[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"ODEFINDER_TUTORIALS": "off"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for page in ("index", "getting_started", "architecture", "reference/api", "reference/commands"):
        assert (tmp_path / "site" / f"{page}.html").is_file()
    commands = (tmp_path / "site" / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "odefinder bench figures" in commands
    assert "--budget" in commands
