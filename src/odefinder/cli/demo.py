"""`odefinder demo`: a fit of data that come with the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from odefinder.cli.exits import plain_errors


def demo(
    sample: Annotated[
        str, typer.Option(help="hare_lynx: pelts, 1900-1920; pendulum: damped, simulated with noise.")
    ] = "hare_lynx",
    out: Annotated[Path, typer.Option(help="The figure.")] = Path("demo.png"),
) -> None:
    """Fit data that come with odefinder, print the equations and draw a figure."""
    with plain_errors():
        from odefinder.cli.show import print_result
        from odefinder.data import sample as read_sample
        from odefinder.data import sample_path
        from odefinder.estimator import ODEFormer

        data = read_sample(sample)
        typer.echo(f"$ odefinder fit {sample_path(sample)} --plot {out}\n")
        model = ODEFormer(progress=sys.stderr.isatty()).fit(data)
        print_result(model)
        model.plot(out)
        typer.echo(f"\nThe data, the fitted trajectories and all candidates are drawn in {out}.")
