"""What docstrings here look like -> what mkdocstrings expects.

Docstrings describe a parameter on one line, `name : text`, as TabICL and others do, where numpydoc has a type
in that place; and they show code as `>>>` lines in the middle of the text.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=\n\n\S|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\w+) : ", re.MULTILINE)
_CODE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)  # with what it prints, up to an empty line


class OneLineEntries(griffe.Extension):
    """Rewrite docstrings before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object of the package."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """The docstring with parameters as numpydoc writes them, and code in fences."""
    text = _SECTION.sub(lambda found: f"{found[1]}\n{'-' * len(found[1])}\n{_entries(found[2])}", text)
    return _CODE.sub(_fenced, text)


def _entries(body: str) -> str:
    return _ENTRY.sub(r"\1\n    ", body)


def _fenced(found: re.Match[str]) -> str:
    lines = found[0].replace("  # doctest: +SKIP", "").splitlines()
    if any(not line.startswith(">>> ") for line in lines):
        return "\n".join(("```pycon", *lines, "```"))
    return "\n".join(("```python", *(line.removeprefix(">>> ") for line in lines), "```"))
