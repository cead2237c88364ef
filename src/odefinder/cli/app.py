"""The command `odefinder`.  What is slow to import is imported by the command that needs it."""

from __future__ import annotations

from odefinder.cli import starting  # isort: skip  (before what is slow)

from typing import Annotated, Any

import typer

from odefinder.cli.bench import bench
from odefinder.cli.demo import demo
from odefinder.cli.doctor import doctor
from odefinder.cli.exits import INTERRUPTED, keep_interrupts, leave_at_once, open_streams
from odefinder.cli.export import export
from odefinder.cli.fit import fit
from odefinder.cli.generate import generate
from odefinder.cli.page import page
from odefinder.cli.simulate import simulate
from odefinder.cli.train import train

starting.imported()
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="From observed trajectories to the ordinary differential equations behind them, as formulas.",
)
for _command in (fit, simulate, export, demo, doctor, generate, train):
    app.command()(_command)
app.command("app")(page)
app.add_typer(bench, name="bench")


def __getattr__(name: str) -> Any:
    """In version 0.1 `odefinder.cli.app` was the application itself: this module answers for it."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(app, name)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"odefinder {version('odefinder')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the console script."""
    open_streams()
    keep_interrupts()
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            leave_at_once(INTERRUPTED)
        raise
    except KeyboardInterrupt:  # before the command itself began
        leave_at_once(INTERRUPTED)
