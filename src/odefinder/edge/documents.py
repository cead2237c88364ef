"""JSON from files and texts that nobody vouches for: sizes, numbers and nesting are checked while reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Refused, shown
from odefinder.errors import DataError

MOST_BYTES = 1 << 30  # of a JSON file


def read_document(path: Path, rule: Any, what: str) -> Any:
    """The content of a JSON file, if it keeps the rule."""
    return checked_document(parsed(read_bytes(path, MOST_BYTES)), rule, what)


def checked_document(content: Any, rule: Any, what: str) -> Any:
    """The entries that the rule knows; the error names the first place that breaks it."""
    try:
        return rule.read(content)
    except Refused as problem:
        raise DataError(f"{what} is damaged: {problem.message('')}") from None


def check_version(content: Any, newest: int) -> None:
    """Raise if a document says that a newer odefinder wrote it."""
    version = content.get("version") if isinstance(content, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DataError(f"it is damaged: its version is {shown(version)}")
    if version > newest:
        raise DataError(
            f"it was saved in version {shown(version)} of the format, and this odefinder reads up to version "
            f"{newest}: update odefinder"
        )


def parsed(text: str | bytes) -> Any:
    """JSON as Python has it; NaN and Infinity are no JSON."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise DataError(f"JSON is text, not {shown(text)}")
    try:
        decoded = text if isinstance(text, str) else bytes(text).decode("utf-8-sig")
        return json.loads(decoded, parse_constant=_refuse)
    except RecursionError:
        raise DataError("this is not JSON of ours: it is nested too deeply") from None
    except ValueError as error:  # also what is not UTF-8, and numbers of more digits than Python reads
        raise DataError(f"this is not JSON, or it is damaged: {error}") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")
