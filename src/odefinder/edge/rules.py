"""What a value may be: a type, a range and a sentence, for parameters and JSON files alike.

A rule's `read` returns the value as plain Python, or raises `Refused`; its sentence completes "NAME is ...".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Protocol

MOST_TEXT = 100_000  # characters
MOST_DEPTH = 50  # levels of what may be anything
_SHOWN = 60  # characters of a wrong value in a message


class Refused(Exception):
    """A value that breaks a rule: where it is, what it should be, what it is."""

    def __init__(self, value: Any, sentence: str, where: str = "") -> None:
        super().__init__(where, sentence)
        self.value, self.sentence, self.where = value, sentence, where

    def message(self, name: str) -> str:
        """The whole sentence."""
        place = f"{name}{self.where}" if name else self.where.lstrip("/") or "it"
        return f"{place} is {self.sentence}, not {shown(self.value)}"

    def inside(self, place: object) -> Refused:
        """The same, seen from one level further out."""
        return Refused(self.value, self.sentence, f"/{place}{self.where}")


class Rule(Protocol):
    """What a value may be."""

    def read(self, value: Any) -> Any: ...


def shown(value: Any) -> str:
    """A value for a message: short, on one line, whatever its own text does."""
    try:
        text = repr(value)
    except Exception:  # an object's own method, or a number with too many digits
        text = f"something of the type {type(value).__name__}"
    text = "".join(one if one.isprintable() else "?" for one in text[: _SHOWN + 1])
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True)
class Number:
    """A real number that a float can hold; `above` leaves out the lower end itself."""

    sentence: str
    low: float = -math.inf
    high: float = math.inf
    above: bool = False

    def read(self, value: Any) -> float:
        number = math.nan
        if isinstance(value, Real) and not isinstance(value, bool):
            try:
                number = float(value)
            except (OverflowError, TypeError, ValueError):  # a whole number of 400 digits
                number = math.nan
        if not self.low <= number <= self.high or (self.above and number == self.low):
            raise Refused(value, self.sentence)
        return number


@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    sentence: str
    low: int
    high: int

    def read(self, value: Any) -> int:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise Refused(value, self.sentence)
        if not self.low <= int(value) <= self.high:
            raise Refused(value, self.sentence)
        return int(value)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    sentence: str = "True or False"

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool) and type(value).__name__ != "bool":  # the second: NumPy's
            raise Refused(value, self.sentence)
        return bool(value)


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    values: Collection[Any]

    def read(self, value: Any) -> Any:
        if not isinstance(value, (str, int)) or isinstance(value, bool) or value not in self.values:
            listed = ", ".join(map(str, self.values))
            raise Refused(value, listed if len(self.values) == 1 else f"one of {listed}")
        return value


@dataclass(frozen=True)
class Text:
    """Text that can be written to a file."""

    sentence: str = "text"
    most: int = MOST_TEXT

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > self.most or not is_writable(value):
            raise Refused(value, self.sentence)
        return str(value)


@dataclass(frozen=True)
class PathOf:
    """The path of a file or folder."""

    sentence: str = "the path of a file, as text or a Path"

    def read(self, value: Any) -> Path:
        if not isinstance(value, (str, Path)) or not str(value) or "\0" in str(value):
            raise Refused(value, self.sentence)
        return Path(value)


@dataclass(frozen=True)
class OrNone:
    """What another rule allows, or None."""

    rule: Any

    def read(self, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self.rule.read(value)
        except Refused as problem:
            if problem.where:
                raise
            raise Refused(value, f"{problem.sentence}, or None") from None


@dataclass(frozen=True)
class ListOf:
    """A list with the same rule for every entry."""

    rule: Any
    least: int = 0
    most: int = 1_000_000
    sentence: str = "a list"

    def read(self, value: Any) -> list[Any]:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise Refused(value, self.sentence)
        return [_inside(self.rule, one, place) for place, one in enumerate(value)]


@dataclass(frozen=True)
class MapOf:
    """A JSON object with any names, and the same rule for every value."""

    rule: Any
    most: int = 10_000
    sentence: str = 'an object of numbers, such as {"k": 0.5}'

    def read(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > self.most:
            raise Refused(value, self.sentence)
        return {name: _inside(self.rule, one, name) for name, one in value.items()}


@dataclass(frozen=True)
class PairOf:
    """Two values with the same rule."""

    rule: Any
    sentence: str = "a pair (lowest, highest) with None for no bound"

    def read(self, value: Any) -> tuple[Any, Any]:
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise Refused(value, self.sentence)
        return _inside(self.rule, value[0], 0), _inside(self.rule, value[1], 1)


@dataclass(frozen=True)
class Either:
    """What one of several rules allows."""

    sentence: str
    rules: tuple[Any, ...]

    def read(self, value: Any) -> Any:
        for rule in self.rules:
            try:
                return rule.read(value)
            except Refused:
                continue
        raise Refused(value, self.sentence)


@dataclass(frozen=True)
class Array:
    """Nested lists of numbers, all rows of the same length; null stands for a missing number."""

    axes: int
    missing: bool = False
    sentence: str = "a list of numbers"

    def read(self, value: Any) -> list[Any]:
        rows: list[Any] = [value]
        for _ in range(self.axes):
            if not all(isinstance(row, list) for row in rows) or len({len(row) for row in rows}) > 1:
                raise Refused(value, self.sentence)
            rows = [one for row in rows for one in row]
        for one in rows:
            if type(one) is float and math.isfinite(one):  # nearly all of them
                continue
            if not (one is None and self.missing) and not _is_finite_whole(one):
                raise Refused(one, f"{self.sentence}, each of them finite")
        return value


@dataclass(frozen=True)
class Object:
    """A JSON object with known entries; `more` says whether others are let be."""

    needed: Mapping[str, Any]
    optional: Mapping[str, Any] = field(default_factory=dict)
    more: bool = True
    keep: bool = False  # whether these others are kept, too
    sentence: str = "an object {...}"

    def read(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Refused(value, self.sentence)
        for name in self.needed:
            if name not in value:
                raise Refused(list(value)[:6], f"an object with the entry {name!r}")
        rules = {**self.needed, **self.optional}
        for name in value:
            if name not in rules and not self.more:
                raise Refused(name, f"an object with the entries {', '.join(rules)} only")
        others = {name: one for name, one in value.items() if name not in rules} if self.keep else {}
        known = {name: _inside(rules[name], value[name], name) for name in rules if name in value}
        return known | Anything("plain data").read(others)


@dataclass(frozen=True)
class Anything:
    """Any JSON of moderate depth, whose texts can be written."""

    sentence: str = "plain data"

    def read(self, value: Any) -> Any:
        level = [value]
        for _ in range(MOST_DEPTH):
            if any(isinstance(one, str) and not is_writable(one) for one in level):
                raise Refused(value, f"{self.sentence} without broken characters")
            nested = [one for one in level if isinstance(one, (list, dict))]
            if not nested:
                return value
            level = [
                one for inner in nested for one in (inner.values() if isinstance(inner, dict) else inner)
            ]
            level += [name for inner in nested if isinstance(inner, dict) for name in inner]
        raise Refused(value, f"{self.sentence} of at most {MOST_DEPTH} levels")


def is_writable(text: str) -> bool:
    """Whether UTF-8 has the characters: half a surrogate pair it has not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_finite_whole(value: Any) -> bool:
    return type(value) is int and -1.7e308 < value < 1.7e308


def _inside(rule: Any, value: Any, place: object) -> Any:
    try:
        return rule.read(value)
    except Refused as problem:
        raise problem.inside(place) from None


def items(value: Any) -> list[Any] | None:
    """The entries of a list or the like; None for text, and for what cannot be gone through after all."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        return list(value)
    except Exception:  # an array without dimensions, an iterator that fails
        return None
