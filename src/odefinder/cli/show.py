"""What commands print of a result: a coloured table in a terminal, plain text or JSON in a pipe."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from odefinder.cli.exits import say

if TYPE_CHECKING:
    from odefinder.estimator import ODEFormer


SCHEMA = 1  # of what --json prints; it grows when an entry changes its meaning or goes


def print_result(model: ODEFormer, every: bool = False, errors: bool = False) -> None:
    """The chosen system, the others, and the notes; errors: and the table of its constants."""
    from rich.console import Console

    from odefinder.output.table import SHOWN, as_text

    console = Console(highlight=False)
    limit = None if every else SHOWN
    if console.is_terminal:
        _print_pretty(console, model, limit)
    else:
        typer.echo(as_text(model.dataset_, model._fitted(), model.chosen_, limit=limit))
        for note in model.notes_:
            say(f"note: {note}")
    if errors:
        typer.echo(f"\n{model.summary()}")


def _print_pretty(console: Any, model: ODEFormer, limit: int | None) -> None:
    from rich import box
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from odefinder.output.higher_order import equations_text
    from odefinder.output.table import header, named, rows, share

    chosen = model._fitted()[model.chosen_]
    console.print(Text(str(model.dataset_), style="dim"))
    facts = f"R2 {share(chosen.r2)}, complexity {chosen.system.complexity}, weight {chosen.weight:.2f}"
    lines = [equations_text(chosen.system, model.dataset_), named(chosen)]
    equations = Text("\n".join(filter(None, lines)), style="bold")
    console.print(Panel(equations, subtitle=facts, box=box.ROUNDED, expand=False))
    grid = Table(box=box.SIMPLE, pad_edge=False, header_style="dim")
    for name in header(model._fitted()):
        words = name in ("", "source", "system")
        grid.add_column(name, justify="left" if words else "right", no_wrap=name != "system")
    cells = rows(model.dataset_, model._fitted(), model.chosen_, limit)
    for row in cells:
        grid.add_row(*map(Text, row), style="green" if row[0] else "")
    console.print(grid)
    hidden = len(model._fitted()) - len(cells)
    if hidden:
        console.print(Text(f"and {hidden} more: --all shows them", style="dim"))
    for note in model.notes_:
        console.print(Text(f"- {note}", style="yellow"))


def as_json(model: ODEFormer) -> str:
    """The result for other programs."""
    from odefinder.inference.outcome import Outcome
    from odefinder.output.higher_order import equations_text
    from odefinder.output.model_file import Saved, as_dict

    outcome = Outcome(model._fitted(), model.noise_, model.notes_)
    content = as_dict(Saved({}, model.dataset_, outcome, model.chosen_))
    chosen = content["systems"][model.chosen_]
    data = model.dataset_
    result = {
        "schema": SCHEMA,
        "odefinder": content["odefinder"],
        "time": asdict(data.clock),  # name, unit, and the date at time 0
        "points": sum(map(len, data.times)),
        "trajectories": len(data),
        "variables": list(model.dataset_.variables),
        "equations": equations_text(model.system_, model.dataset_, exact=True).splitlines(),
        "latex": model.latex(),
        **({"constants": chosen["constants"]} if "constants" in chosen else {}),
        **{name: chosen[name] for name in ("complexity", "r2", "weight", "starts")},
        **model.summary().as_dict(),
        **{name: content[name] for name in ("noise", "notes", "chosen", "systems")},
    }
    return json.dumps(result, ensure_ascii=False, allow_nan=False, indent=1)
