"""`odefinder export`: a saved result for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from odefinder.cli.exits import plain_errors


def export(
    model: Annotated[Path, typer.Argument(help="What odefinder fit --save or ODESystem.save wrote.")],
    to: Annotated[
        str,
        typer.Option(help="text, latex, python, sympy, julia, matlab, r, stan, sbml or modelica."),
    ],
    out: Annotated[Path | None, typer.Option(help="A file; by default it is printed.")] = None,
    row: Annotated[int | None, typer.Option(help="Another row of the table than the chosen one.")] = None,
    trajectory: Annotated[
        int, typer.Option(help="The trajectory, counted from 1, that gives initial values, times and inputs.")
    ] = 1,
) -> None:
    """Write a saved result as source for another program: Python, Julia, MATLAB, R, Stan, SBML and others."""
    with plain_errors():
        from odefinder.edge.writing import write_text
        from odefinder.output.export import target

        target(to)  # before the file is read
        text = _text(model, to, row, trajectory)
        if out is None:
            typer.echo(text, nl=False)
            return
        write_text(out, text)
        typer.echo(f"Wrote {out}.", err=True)


def _text(path: Path, to: str, row: int | None, trajectory: int) -> str:
    """The export of a model file, or of a file that holds just a system."""
    if _is_system(path):
        from odefinder.errors import SettingsError
        from odefinder.system import ODESystem

        if row is not None or trajectory != 1:
            raise SettingsError(f"{path} holds one system without data; leave out --row and --trajectory")
        return ODESystem.load(path).export(to)
    from odefinder.estimator import ODEFormer

    fitted = ODEFormer.load(path)
    if row is not None:
        fitted.choose(row)
    fitted.dataset_.check_trajectory(trajectory, first=1)
    return fitted.export(to, trajectory - 1)


def _is_system(path: Path) -> bool:
    """Whether it is the file of a system; what is wrong with others, their reader says."""
    from odefinder.edge.documents import MOST_BYTES, parsed
    from odefinder.edge.reading import read_bytes
    from odefinder.errors import DataError
    from odefinder.expressions.saved import FORMAT

    try:
        content = parsed(read_bytes(path, MOST_BYTES))
    except DataError:
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT
