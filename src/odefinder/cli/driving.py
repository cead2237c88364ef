"""The options about what drives a system: inputs, conditions and doses, as the estimator takes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from odefinder.cli.known import pair
from odefinder.errors import SettingsError


def input_options(columns: Sequence[str] | None, hold: Sequence[str] | None, table: Path | None) -> Any:
    """The inputs of a fit: columns by name, those that keep each value until the next, a table of its own."""
    from odefinder.data import Hold

    held = list(dict.fromkeys(hold or ()))
    if table is None:
        return [*(one for one in columns or () if one not in held), *map(Hold, held)] or None
    if not columns:
        return table_options(table, held)
    raise SettingsError(
        f"inputs are columns of the data (--input) or all in a table of their own ({table}); put them into "
        "one of the two"
    )


def table_options(table: Path | None, hold: Sequence[str] | None) -> Any:
    """Inputs in a file with times of its own; hold: those that keep each value until the next."""
    from odefinder.data import Hold
    from odefinder.data.files import input_table
    from odefinder.data.inputs import sources

    if table is None:
        if hold:
            raise SettingsError(f"--hold {hold[0]} is about an input of --inputs; give its file, too")
        return None
    own = input_table(table)
    if not hold:
        return own
    found = {name: source for (name,), source in sources(own, 0.0).items()}
    for name in hold:
        if name not in found:
            raise SettingsError(f"--hold {name}: {table} has no such column; it has {', '.join(found)}")
    return {name: Hold(source) if name in hold else source for name, source in found.items()}


def condition_options(given: Sequence[str] | None) -> dict[str, float] | None:
    """`--condition T=300`, repeatedly."""
    if given is None:
        return None
    found = {}
    for text in given:
        name, value = pair(text, "--condition T=300")
        found[name] = _number(value, text, "--condition T=300")
    return found


def dose_options(given: Sequence[str] | None) -> dict[str, list[tuple[float, float]]] | None:
    """`--dose c=12:100`, the time and the amount, repeatedly; `--dose none`: none at all."""
    if given is None:
        return None
    found: dict[str, list[tuple[float, float]]] = {}
    for text in given if list(given) != ["none"] else ():
        example = "--dose c=12:100, for an amount of 100 at time 12"
        name, value = pair(text, example)
        time, _, amount = value.partition(":")
        found.setdefault(name, []).append((_number(time, text, example), _number(amount, text, example)))
    return found


def _number(value: str, text: str, example: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise SettingsError(f"{text!r} is not understood; write {example}") from None
