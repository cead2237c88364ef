"""The options of a fit: which of them the page may set, and how what was typed becomes a parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from odefinder.errors import SettingsError
from odefinder.estimator import ODEFormer

# Those that the estimator of this version lacks are not shown.
OPTIONS = (
    "time_budget",
    "order",
    "hidden",
    "operators",
    "known",
    "fixed",
    "bounds",
    "guess",
    "explicit_time",
    "positive",
    "conserve",
    "vary",
    "terms",
    "round_constants",
    "random_state",
    "samples",
    "network",
    "sparse",
)
BOUNDS = "b=0:2, or b=0: without an upper bound"
ALL = "all"
EXAMPLES = {"terms": "x = x, x*y; y = !y^2", "operators": "x = sin, pow2; y = inv"}  # for each equation
LISTS = ("positive", "conserve", "vary")  # names or equations, with commas between them


class OptionError(SettingsError):
    """What was typed into the field of an option cannot be read."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option


def available() -> dict[str, Any]:
    """The options of this version with their defaults."""
    known = inspect.signature(ODEFormer).parameters
    return {name: known[name].default for name in OPTIONS if name in known}


def parameters(given: Any) -> dict[str, Any]:
    """Parameters of ODEFormer; the estimator itself checks the values."""
    names = available()
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        raise SettingsError(f"the options are {', '.join(names)}")
    return {name: _checked(name, value) for name, value in given.items()}


def _checked(name: str, value: Any) -> Any:
    try:
        return _value(name, value)
    except SettingsError as error:
        raise OptionError(str(error), name) from None


def option_in(message: str) -> str | None:
    """The option that a sentence about a fit is about: it names it, or there is no equation as in `guess`."""
    words = re.findall(r"\w+", message.replace("operator ", "operators "))
    return next((word for word in words if word in OPTIONS), "guess" if "equation" in words else None)


def _value(name: str, value: Any) -> Any:
    if name == "order" and isinstance(value, str):
        return _order(value)
    if name == "fixed" and isinstance(value, str):
        return {one: number_of(text) for one, text in pairs(value, "g=9.81")}
    if name == "bounds" and isinstance(value, str):
        return {one: _bounds(text) for one, text in pairs(value, BOUNDS)}
    if name == "positive" and value == ALL:
        return True
    if name in EXAMPLES and isinstance(value, str):
        return _by_equation(value, EXAMPLES[name])
    if name in LISTS and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of ODEFormer as somebody would type them into the fields."""
    return {name: _text(name, value) for name, value in given.items() if name in available()}


def _text(name: str, value: Any) -> Any:
    if name == "bounds":
        ends = {one: ["" if end is None else f"{end:g}" for end in pair] for one, pair in value.items()}
        return ", ".join(f"{one}={':'.join(pair)}" for one, pair in ends.items())
    if isinstance(value, Mapping):
        return typed_pairs(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def typed_pairs(numbers: Mapping[str, float]) -> str:
    """`a=1, b=2`."""
    return ", ".join(f"{name}={number:g}" for name, number in numbers.items())


def pairs(text: str, example: str) -> list[tuple[str, str]]:
    """Names and values of `a=1, b=2`."""
    return [_pair(part, example) for part in filter(str.strip, text.split(","))]


def _pair(text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise SettingsError(f"{text.strip()[:80]!r} is not a name and a value; write {example}")
    return name.strip(), value.strip()


def _bounds(text: str) -> tuple[float | None, float | None]:
    low, colon, high = text.partition(":")
    if not colon:
        raise SettingsError(f"{text[:80]!r} has no bounds; write {BOUNDS}")
    return tuple(number_of(end) if end.strip() else None for end in (low, high))  # type: ignore[return-value]


def _by_equation(text: str, example: str) -> str | dict[str, str]:
    """`x, x*y` for all equations, or `x = x, x*y; y = !y^2` for each."""
    if "=" not in text:
        return text
    return dict(_pair(part, example) for part in text.split(";") if part.strip())


def number_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{text[:80]!r} is not a number") from None


def _order(text: str) -> int | dict[str, int]:
    """2, or theta=2 with commas between several."""
    try:
        if "=" not in text:
            return int(text)
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        return {name.strip(): int(value) for name, _, value in pairs}
    except ValueError:
        raise SettingsError(f"the order is a number such as 2, or theta=2, not {text[:80]!r}") from None
