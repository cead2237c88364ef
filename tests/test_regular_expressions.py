"""Regular expressions are linear: each in the package is fed with 100,000 characters, in the ways it is used.

One that backtracks would take hours for some of these texts; one that looks ahead from every place, minutes.
"""

import ast
import importlib
import re
import time
from pathlib import Path
from typing import Any

import pytest

import odefinder

LENGTH = 100_000
SECONDS = 3.0  # of processor time: a linear one takes milliseconds
UNITS = (
    "_", " ", "a", "1", "(", ")", "a_", "_ ", "()", "/", "a1", "'", "x'=", ",", "a,", "(,", "?", "?(", "? ",
    ".", "1.", "1,", ":", "1:", "-", "e", "1e", "/a", "/a ", "\n", "\\left(", "\\right)", "^{", "$", "x+",
)  # fmt: skip
METHODS = {"match", "fullmatch", "search", "split", "sub", "findall", "finditer"}
PACKAGE = Path(odefinder.__file__).parent


def patterns_of(path: Path) -> list[tuple[str, str]]:
    """Ways of use and patterns of a module: those in calls of `re`, and the compiled ones that it keeps."""
    found, ways = [], set[tuple[str, str]]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            way, owner = node.func.attr, node.func.value
            name = owner.id if isinstance(owner, ast.Name) else ""  # "": in a dictionary
            if name == "re" and isinstance(node.args[0], ast.Constant):
                found.append((way, str(node.args[0].value)))
            ways.add((name, way))
    module = ".".join(("odefinder", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for name, value in vars(importlib.import_module(module)).items():
        own, kept = ("", value.values()) if isinstance(value, dict) else (name, [value])
        patterns = [one.pattern for one in kept if isinstance(one, re.Pattern)]
        found += [(way, pattern) for user, way in sorted(ways) if user == own for pattern in patterns]
    return found


def users() -> list[Path]:
    """The modules that use regular expressions; not those of methods to compare with, which read no text."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [
        path
        for path in paths
        if "\nimport re\n" in path.read_text(encoding="utf-8") and path.name != "pysr.py"
    ]


def apply(way: str, pattern: str, text: str) -> Any:
    if way == "sub":
        return re.sub(pattern, "", text)
    found = getattr(re, way)(pattern, text)
    return list(found) if way == "finditer" else found


@pytest.mark.parametrize("path", users(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_long_text_takes_no_time(path: Path) -> None:
    for way, pattern in patterns_of(path):
        for unit in UNITS:
            body = unit * (LENGTH // len(unit))
            for text in (body, "x" + body + "!", "x(" + body, body[:-1] + " y"):
                begin = time.process_time()
                apply(way, pattern, text)
                assert time.process_time() - begin < SECONDS, (way, pattern, unit)


def test_there_are_some() -> None:
    assert len([one for path in users() for one in patterns_of(path)]) > 30
