"""Numbers as people write them into tables: 1,000 and 12 % are numbers, too."""

from __future__ import annotations

import re

_BLANKS = " \u00a0\u2009\u202f"  # that group digits: 12 000
_THOUSANDS = {
    ".": re.compile(rf"[+-]?\d{{1,3}}(?:,\d{{3}}|[{_BLANKS}]\d{{3}})+(?:\.\d*)?(?:[eE][+-]?\d+)?"),
    # 1.000 may be one: only with a decimal comma is it clear what the dots are.
    ",": re.compile(rf"[+-]?\d{{1,3}}(?:(?:\.\d{{3}})+,\d*|(?:[{_BLANKS}]\d{{3}})+(?:,\d*)?)"),
}


def plain_number(text: str, decimal: str = ".") -> float | None:
    """The number that Python reads; None for anything else."""
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".", 1)
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number, also with groups of three digits or a percent sign, which is a unit: 12 % is 12."""
    text = text.strip()
    if text.endswith("%"):
        text = text[:-1].rstrip()
    if (found := plain_number(text, decimal)) is not None:
        return found
    if not _THOUSANDS[decimal].fullmatch(text):
        return None
    grouping = "," if decimal == "." else "."
    return plain_number(re.sub(rf"[{grouping}{_BLANKS}]", "", text), decimal)
