"""The names of operators that users may allow, and what they mean in programs."""

from __future__ import annotations

from collections.abc import Iterable

from odefinder.edge.rules import shown
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
    """The program operators behind the names a user gave, always with sums and products; None: all."""
    if names is None:
        return None
    if isinstance(names, str):
        names = [name for name in names.replace(",", " ").split() if name]
    elif not isinstance(names, Iterable):
        raise SettingsError(f"operators is a list of names, or None for all, not {shown(names)}")
    allowed = set(ALWAYS_ALLOWED)
    for name in names:
        if isinstance(name, str) and name in OPCODE_BY_NAME:
            allowed.add(name)
        elif isinstance(name, str) and name in ALIASES:
            allowed.update(ALIASES[name])
        else:
            raise SettingsError(
                f"there is no operator {shown(name)}; choose from {', '.join(OPCODE_BY_NAME)}, or write "
                "/ for inv and ^ for all powers"
            )
    return frozenset(allowed)
