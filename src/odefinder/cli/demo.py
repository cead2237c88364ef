"""`odefinder demo`: a fit of data that come with the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from odefinder.cli.exits import plain_errors

LIST = "list"


def demo(
    name: Annotated[
        str | None,
        typer.Argument(help="Which data; `odefinder demo list` names them."),
    ] = None,
    sample: Annotated[str, typer.Option(help="The same, as an option.")] = "hare_lynx",
    out: Annotated[Path, typer.Option(help="The figure.")] = Path("demo.png"),
) -> None:
    """Fit data that come with odefinder, print the equations and draw a figure."""
    with plain_errors():
        from odefinder.data.bundled import BUNDLED, bundled, sample_path

        chosen = sample if name is None else name
        if chosen == LIST:
            width = max(map(len, BUNDLED))
            for one, what in BUNDLED.items():
                typer.echo(f"{one:{width}}  {what.about}")
            return
        known = bundled(chosen)

        from odefinder.cli.show import print_result
        from odefinder.data import sample as read_sample
        from odefinder.estimator import ODEFormer

        data = read_sample(chosen)
        options = " ".join([*known.options(), "--plot", str(out)])
        typer.echo(f"$ odefinder fit {sample_path(chosen)} {options}\n")
        model = ODEFormer(progress=sys.stderr.isatty(), **known.parameters).fit(data)
        print_result(model)
        model.plot(out)
        typer.echo(f"\nThe data, the fitted trajectories and all candidates are drawn in {out}.")
