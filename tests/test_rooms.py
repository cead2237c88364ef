"""The order of the rooms: what comes early in the flow of data never imports what comes later."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import odefinder

PACKAGE = Path(odefinder.__file__).parent

# In the order in which data pass through them.  A room may import itself and the rooms above it.
ROOMS = (
    "errors",
    "limits",
    "edge",
    "compiling",
    "expressions",
    "numerics",
    "data",
    "simulation",
    "output.export",  # reads programs and signals; ODESystem.export calls it
    "system",
    "language",
    "prior",
    "network",
    "inference.fit",
    "inference.propose",
    "inference.choose",
    "inference",
    "output",
    "estimator",
    "training",
    "bench",
    "web",
    "cli",
)
DOORS = {"odefinder", "odefinder.__main__", "odefinder.moved"}  # they name what is elsewhere, and lead there


def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(("odefinder", *(part for part in parts if part != "__init__")))] = path
    return {name: path for name, path in found.items() if name not in DOORS and ".moved." not in name}


def room_of(module: str) -> str:
    """The longest name in ROOMS that the module lies in."""
    inner = module.removeprefix("odefinder.")
    return max((room for room in ROOMS if inner == room or inner.startswith(f"{room}.")), key=len, default="")


def imported(path: Path, known: set[str]) -> set[str]:
    """The modules of the package that a file imports, at its head or inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.add(inside if inside in known else node.module)
    return {name for name in found if name.startswith("odefinder.")}


def test_every_module_has_a_room() -> None:
    assert [name for name in modules() if not room_of(name)] == []


def test_a_room_imports_only_rooms_above_it() -> None:
    known = modules()
    upwards = [
        f"{name} ({room_of(name)}) imports {other} ({room_of(other)})"
        for name, path in known.items()
        for other in imported(path, set(known))
        if ROOMS.index(room_of(other)) > ROOMS.index(room_of(name))
    ]
    assert upwards == []


def test_no_module_imports_itself_in_a_circle() -> None:
    known = modules()
    graph = {name: imported(path, set(known)) & set(known) for name, path in known.items()}
    left = dict(graph)
    while free := [name for name, others in left.items() if not (others - {name}) & set(left)]:
        for name in free:
            del left[name]
    assert left == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("canonical", "expressions.canonical"),
        ("corruption", "data.corruption"),
        ("integrate", "numerics.integrate"),
        ("operators", "expressions.operators"),
        ("plot", "output.plot"),
        ("program", "expressions.program"),
        ("tokens", "language.tokens"),
    ],
)
def test_old_paths_still_work_and_say_where_to_look(old: str, new: str) -> None:
    sys.modules.pop(f"odefinder.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"odefinder.{old} has moved to odefinder.{new}"):
        found = importlib.import_module(f"odefinder.{old}")
    assert found is importlib.import_module(f"odefinder.{new}")
