"""A system as plain data: the prefix program with `$0` for the first variable, ready for JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from odefinder.edge.rules import shown
from odefinder.errors import DataError
from odefinder.expressions.digits import MOST
from odefinder.expressions.program import (
    CONST,
    MAX_NODES,
    OPCODE_BY_NAME,
    VAR,
    Program,
    make_program,
    operator,
)

FORMAT, VERSION = "odefinder system", 2  # version 1, without inputs, is read and written as well


class SavedSystem(NamedTuple):
    """What a file says about a system."""

    program: Program
    variables: tuple[str, ...]
    inputs: tuple[str, ...]
    digits: Mapping[float, int] = {}  # of constants in text, by their absolute values


def as_dict(system: SavedSystem, equations: Sequence[str]) -> dict[str, Any]:
    """Plain data; `equations` is for the reader."""
    nodes = zip(system.program.ops.tolist(), system.program.values.tolist(), strict=True)
    return {
        "format": FORMAT,
        "version": 2 if system.inputs else 1,
        "variables": list(system.variables),
        **({"inputs": list(system.inputs)} if system.inputs else {}),
        "equations": list(equations),
        "program": [
            value if op == CONST else f"${value:.0f}" if op == VAR else operator(op).name
            for op, value in nodes
        ],
        **({"digits": [[value, number] for value, number in system.digits.items()]} if system.digits else {}),
    }


def read_dict(data: Any) -> SavedSystem:
    """What `as_dict` wrote, or an error that says what is wrong with it."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise DataError(f'this is not a saved system: it lacks the entry "format": "{FORMAT}"')
    version = data.get("version")
    if isinstance(version, int) and version > VERSION:
        raise DataError(
            f"the system was saved in version {shown(version)} of the format, and this odefinder reads up to "
            f"version {VERSION}: update odefinder"
        )
    if not isinstance(version, int) or version not in (1, 2) or isinstance(version, bool):
        raise DataError(f"the saved system is damaged: its version is {shown(version)}")
    for key in ("variables", "program", *(("inputs",) if version == 2 else ())):
        if not isinstance(data.get(key), list):
            raise DataError(f"the saved system is damaged: its {key!r} is not a list")
    if len(data["program"]) > MAX_NODES:
        raise DataError(f"the saved system has {len(data['program'])} nodes; the limit is {MAX_NODES}")
    ops, values = zip(*map(_read_node, data["program"]), strict=True) if data["program"] else ((), ())
    inputs = tuple(data["inputs"]) if version == 2 else ()
    return SavedSystem(make_program(ops, values), tuple(data["variables"]), inputs, _read_digits(data))


def _read_digits(data: Mapping[str, Any]) -> dict[float, int]:
    """How many digits constants are printed with; files from before have none."""
    try:
        digits = {float(value): int(number) for value, number in data.get("digits", ())}
    except (TypeError, ValueError, OverflowError):
        digits = {0.0: 0}
    if not all(1 <= number <= MOST for number in digits.values()):
        raise DataError(f"the saved system is damaged: its digits are {shown(data['digits'])}")
    return digits


def _read_node(node: Any) -> tuple[int, float]:
    """Opcode and value of one entry of a saved program."""
    if isinstance(node, (int, float)) and not isinstance(node, bool) and abs(node) <= sys.float_info.max:
        return CONST, float(node)
    if isinstance(node, str) and node in OPCODE_BY_NAME:
        return OPCODE_BY_NAME[node], 0.0
    if isinstance(node, str) and re.fullmatch(r"\$[0-9]{1,4}", node):
        return VAR, float(node[1:])
    raise DataError(f"the saved system is damaged: {shown(node)} is not part of a program")
