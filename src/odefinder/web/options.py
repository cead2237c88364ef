"""The options of a fit: which of them the page may set, and how what was typed becomes a parameter."""

from __future__ import annotations

import inspect
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
    "guess",
    "explicit_time",
    "positive",
    "conserve",
    "random_state",
    "samples",
    "network",
    "sparse",
)
LISTS = ("positive", "conserve")  # names or equations, with commas between them


def available() -> dict[str, Any]:
    """The options of this version with their defaults."""
    known = inspect.signature(ODEFormer).parameters
    return {name: known[name].default for name in OPTIONS if name in known}


def parameters(given: Any) -> dict[str, Any]:
    """Parameters of ODEFormer; the estimator itself checks the values."""
    names = available()
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        raise SettingsError(f"the options are {', '.join(names)}")
    return {name: _value(name, value) for name, value in given.items()}


def _value(name: str, value: Any) -> Any:
    if name == "order" and isinstance(value, str):
        return _order(value)
    if name in LISTS and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _order(text: str) -> int | dict[str, int]:
    """2, or theta=2 with commas between several."""
    try:
        if "=" not in text:
            return int(text)
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        return {name.strip(): int(value) for name, _, value in pairs}
    except ValueError:
        raise SettingsError(f"the order is a number such as 2, or theta=2, not {text[:80]!r}") from None
