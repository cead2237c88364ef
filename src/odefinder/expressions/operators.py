"""The names of operators that users may allow, and what they mean in programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odefinder.edge.rules import items, shown
from odefinder.errors import SettingsError
from odefinder.expressions.program import OPCODE_BY_NAME

ALWAYS_ALLOWED = frozenset({"add", "mul"})
POWERS = ("pow", "pow2", "pow3", "pow4", "pow5")
ALIASES: dict[str, tuple[str, ...]] = {
    "+": ("add",), "-": ("add", "mul"), "*": ("mul",), "/": ("inv",), "^": POWERS, "**": POWERS,
    **{f"{sign}{power}": (f"pow{power}",) for sign in ("^", "**") for power in range(2, 6)},
    "div": ("inv",), "sub": ("add", "mul"), "square": ("pow2",), "cube": ("pow3",), "ln": ("log",),
}  # fmt: skip


def allowed_operators(names: Iterable[str] | None) -> frozenset[str] | None:
    """The program operators behind the names a user gave, always with sums and products; None: all.

    A name after an exclamation mark is forbidden, and all others are allowed.
    """
    if names is None:
        return None
    if isinstance(names, str):
        names = [name for name in names.replace(",", " ").split() if name]
    if (wished := items(names)) is None:
        raise SettingsError(f"operators is a list of names, or None for all, not {shown(names)}")
    refused = [name for name in wished if isinstance(name, str) and name.startswith("!")]
    if refused and len(refused) < len(wished):
        raise SettingsError(
            f"operators has {refused[0]!r}, which forbids one, next to some that are allowed; give only one "
            "of the two kinds"
        )
    if refused:
        forbidden = {one for name in refused for one in _operators_of(name[1:])} - ALWAYS_ALLOWED
        return frozenset(OPCODE_BY_NAME) - forbidden
    return ALWAYS_ALLOWED.union(*(_operators_of(name) for name in wished))


def _operators_of(name: Any) -> tuple[str, ...]:
    """The program operators behind one name."""
    if isinstance(name, str) and name in OPCODE_BY_NAME:
        return (name,)
    if isinstance(name, str) and name in ALIASES:
        return ALIASES[name]
    raise SettingsError(
        f"there is no operator {shown(name)}; choose from {', '.join(OPCODE_BY_NAME)}, or write "
        "/ for inv and ^ for all powers"
    )
