"""Names of variables as other languages allow them: ASCII, no reserved word, none twice.

Only letters, digits and underscores ever leave this file, whatever came in.  So a name cannot end a string,
a comment or a statement of what is exported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 40  # MATLAB tells names apart by their first 63 characters


class Names:
    """The names of one exported text."""

    def __init__(self, reserved: Iterable[str]):
        self._taken = set(reserved)
        self._renamed = dict[str, str]()

    def take(self, wanted: str) -> str:
        """A free name that is as near to the wanted one as the language allows."""
        base = name = ascii_name(wanted)
        number = 1
        while name in self._taken:
            name = f"{base}_" if number == 1 else f"{base}_{number}"
            number += 1
        self._taken.add(name)
        if name != wanted:
            self._renamed[wanted] = name
        return name

    def remarks(self) -> list[str]:
        """Sentences about the names that had to change."""
        return [f"{new} stands for {printable(old)}." for old, new in self._renamed.items()]


def ascii_name(name: str) -> str:
    """A letter, then letters, digits and underscores: β1 -> beta1, größe -> grosse, 温度 -> u6e29u5ea6."""
    text = "".join(map(_ascii_letter, name))
    text = re.sub(r"__+", "_", re.sub(r"[^A-Za-z0-9_]", "_", text)).rstrip("_")
    return (text if re.match(r"[A-Za-z]", text) else f"v{text}")[:LONGEST]


def _ascii_letter(character: str) -> str:
    if character.isascii():
        return character
    words = unicodedata.name(character, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        letter = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        return letter.capitalize() if "CAPITAL" in words else letter
    if character == "ß":
        return "ss"
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or f"u{ord(character):x}"


def printable(text: str) -> str:
    """The text on one line, without characters that do not show: fit for a comment."""
    return "".join(character if character.isprintable() else "?" for character in text)
