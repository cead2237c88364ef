"""The options of `odefinder fit` about what is known, as the estimator takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odefinder.errors import SettingsError


def known_options(
    known: str | None,
    fixed: Sequence[str] | None,
    bounds: Sequence[str] | None,
    positive: str | None,
    conserve: Sequence[str] | None,
    vary: str | None,
    terms: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The parameters of `ODEFormer` for these options."""
    return {
        "known": known,
        "fixed": None if fixed is None else dict(_number(one) for one in fixed),
        "bounds": None if bounds is None else dict(_bounds(one) for one in bounds),
        "positive": True if positive == "all" else _names(positive),
        "conserve": None if conserve is None else list(conserve),
        "vary": _names(vary),
        "terms": None if terms is None else _terms(terms),
    }


def pair(text: str, example: str) -> tuple[str, str]:
    """Name and value of `name=value`."""
    name, found, value = text.partition("=")
    if not (name.strip() and found and value.strip()):
        raise SettingsError(f"{text!r} is not a name and a value; write {example}")
    return name.strip(), value.strip()


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def operator_options(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """`sin,pow2` for all equations, or `x=sin,pow2` for one, repeatedly."""
    return None if given is None else _by_equation(given, "--operators", "x=sin,pow2")


def _terms(given: Sequence[str]) -> str | dict[str, str]:
    """`x=x,x*y` for one equation, repeatedly; without a name it is about all of them."""
    return _by_equation(given, "--terms", "x=x,x*y")


def _by_equation(given: Sequence[str], option: str, example: str) -> str | dict[str, str]:
    """One text about all equations, or a text for each equation that is named."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    pairs = [pair(one, f'{option} "{example}" for each equation') for one in given]
    if len(dict(pairs)) < len(pairs):
        raise SettingsError(f"{option} names an equation twice; write all of it at once, with commas")
    return dict(pairs)


def _number(text: str) -> tuple[str, float]:
    name, value = pair(text, "--fixed g=9.81")
    try:
        return name, float(value)
    except ValueError:
        raise SettingsError(f"{value!r} is not a number; write --fixed {name}=9.81") from None


def _bounds(text: str) -> tuple[str, tuple[float | None, float | None]]:
    """`b=0:2`; without a number before or after the colon there is no bound."""
    example = "--bounds b=0:2 (or b=0: without an upper bound)"
    name, value = pair(text, example)
    low, colon, high = value.partition(":")
    try:
        ends = [float(end) if end.strip() else None for end in (low, high)]
    except ValueError:
        colon = ""
    if not colon:
        raise SettingsError(f"{text!r} has no bounds; write {example}")
    return name, (ends[0], ends[1])
