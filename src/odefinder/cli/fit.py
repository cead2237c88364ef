"""`odefinder fit`: from a file to equations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from odefinder.cli.exits import plain_errors, say

Names = Annotated[
    str | None, typer.Option(help="The columns to use, such as hare,lynx; by default all but the time.")
]


def fit(
    file: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, Parquet, NPZ, NPY or JSON, a row per point; - for CSV on stdin."),
    ],
    time: Annotated[
        str | None, typer.Option(help="The column of the times; by default found by its name.")
    ] = None,
    variables: Names = None,
    trajectory: Annotated[
        str | None, typer.Option(help="The column that tells trajectories apart; found by its name, too.")
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds that the search may take.")] = 10.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    operators: Annotated[
        str | None,
        typer.Option(help="Allowed in addition to sums and products, such as sin,pow2,inv; by default all."),
    ] = None,
    guess: Annotated[
        str | None, typer.Option(help="Equations to start from, such as \"x' = -x; y' = x*y\".")
    ] = None,
    network: Annotated[bool, typer.Option(help="Whether the network proposes systems.")] = True,
    sparse: Annotated[bool, typer.Option(help="Whether sparse regression proposes equations.")] = True,
    plot: Annotated[
        Path | None, typer.Option(help="Write a figure: .png, .pdf, .svg, .jpg or .webp.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the result as JSON, for odefinder simulate.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Print all systems that were found.")] = False,
) -> None:
    """Find the differential equations behind the trajectories in a file."""
    with plain_errors():
        from odefinder.data import read
        from odefinder.edge.parameters import checked
        from odefinder.edge.writing import check_place
        from odefinder.output.style import check_path

        if plot is not None:
            check_path(plot)  # before the work, not after it
        if save is not None:
            check_place(checked("path", save))
        checked("budget", budget), checked("seed", seed)
        names = None if variables is None else [name.strip() for name in variables.split(",")]
        dataset = read(file, time, trajectory, names)
        # After what may be wrong with the file: these take a second.
        from odefinder.cli.show import as_json, print_result
        from odefinder.estimator import ODEFormer

        model = ODEFormer(
            time_budget=budget, random_state=seed, operators=operators, guess=guess,
            network=network, sparse=sparse, progress=sys.stderr.isatty(),
        )  # fmt: skip
        model.fit(dataset)
        if save is not None:  # first: whatever becomes of the rest, the result is kept
            model.save(save)
        if json:
            typer.echo(as_json(model))
        else:
            print_result(model, every=all)
        if plot is not None:
            model.plot(plot)
        for path in (plot, save):
            if path is not None:
                say(f"Wrote {path}.")
