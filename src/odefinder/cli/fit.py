"""`odefinder fit`: from a file to equations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from odefinder.cli.driving import input_options
from odefinder.cli.exits import plain_errors, say
from odefinder.cli.known import known_options, operator_options, pair
from odefinder.errors import SettingsError

Names = Annotated[
    str | None, typer.Option(help="The columns to use, such as hare,lynx; by default all but the time.")
]


def fit(
    file: Annotated[
        list[Path],
        typer.Argument(help="CSV, XLSX, Parquet, NPZ or JSON, a row per point; several are trajectories."),
    ],
    time: Annotated[
        str | None, typer.Option(help="The column of the times; by default found by its name.")
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(help="Count times in this unit, such as hours; by default that of the data.")
    ] = None,
    variables: Names = None,
    trajectory: Annotated[
        str | None, typer.Option(help="The column that tells trajectories apart; found by its name, too.")
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(help="2 if positions were measured and velocities were not; also theta=2, repeatedly."),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(help="A column with a known signal that drives the system; repeatable."),
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(help="An input that keeps each value until the next, as of a controller; repeatable."),
    ] = None,
    input_table: Annotated[
        Path | None, typer.Option(help="A file with inputs on times of their own, a column for each.")
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="A column that is known and constant within a trajectory; repeatable."),
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option(help="Standard errors, a column or a number: x=x_sd, x=0.1; repeatable."),
    ] = None,
    hidden: Annotated[
        int, typer.Option(help="States that nobody measured but that the equations have: 1, or 2.")
    ] = 0,
    explicit_time: Annotated[
        bool, typer.Option("--explicit-time", help="The equations may contain the time t itself.")
    ] = False,
    known: Annotated[
        str | None,
        typer.Option(help="Known equations, ? for what is to be found: \"S' = -b*S*I; I' = b*S*I - ?\"."),
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(help='A constant of --known that stays, or a start: g=9.81, "x(0)=1"; repeatable.'),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(help='Bounds of a constant or a start, as in b=0: or b=0:2 or "x(0)=0:"; repeatable.'),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Variables that no term makes negative at zero: S,I; or all.")
    ] = None,
    conserve: Annotated[
        list[str] | None, typer.Option(help='A sum that is conserved exactly: "S + I + R"; repeatable.')
    ] = None,
    vary: Annotated[
        str | None, typer.Option(help="Constants of --known that differ between trajectories: k,r.")
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option(help='Terms that an equation may have, as in "x=x,x*y", or not, "x=!x^2"; repeatable.'),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="Seconds that the search may take.  Default: 10, and more from four variables on."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    operators: Annotated[
        list[str] | None,
        typer.Option(
            help="Allowed in addition to sums and products, such as sin,pow2,inv; by default all.  Of one "
            "equation: x=sin,pow2; repeatable."
        ),
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
    errors: Annotated[
        bool, typer.Option("--errors", help="Print the constants with standard errors and intervals.")
    ] = False,
    round: Annotated[
        bool, typer.Option(help="Whether constants become simple numbers where the data allow it.")
    ] = True,
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
        orders = _orders(order)
        given = None if error is None else dict(_error(one) for one in error)
        allowed = operator_options(operators)
        wishes = known_options(known, fixed, bounds, positive, conserve, vary, terms)
        dataset = read(
            file,
            time,
            trajectory,
            names,
            inputs=input_options(input, hold, input_table),
            conditions=condition,
            errors=given,
            time_unit=time_unit,
        )
        # After what may be wrong with the file: these take a second.
        from odefinder.cli.show import as_json, print_result
        from odefinder.estimator import ODEFormer

        model = ODEFormer(
            time_budget=budget, random_state=seed, operators=allowed, guess=guess,
            network=network, sparse=sparse, progress=sys.stderr.isatty(), order=orders,
            explicit_time=explicit_time, hidden=hidden, round_constants=round, **wishes,
        )  # fmt: skip
        model.fit(dataset)
        if save is not None:  # first: whatever becomes of the rest, the result is kept
            model.save(save)
        if json:
            typer.echo(as_json(model))
        else:
            print_result(model, every=all, errors=errors)
        if plot is not None:
            model.plot(plot)
        for path in (plot, save):
            if path is not None:
                say(f"Wrote {path}.")


def _error(text: str) -> tuple[str, str | float]:
    """The variable, and the column of its standard errors or one number for all."""
    name, value = pair(text, "--error x=x_sd, or --error x=0.1")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _orders(given: list[str] | None) -> int | dict[str, int]:
    """The orders of equations: one for all, or by variable."""
    if given is None:
        return 1
    try:
        if len(given) == 1 and "=" not in given[0]:
            return int(given[0])
        return {name: int(value) for name, value in (pair(one, "--order theta=2") for one in given)}
    except ValueError:
        raise SettingsError(f"--order is a number or NAME=NUMBER, not {' '.join(given)}") from None
