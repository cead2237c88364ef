"""`odefinder simulate`: the trajectory of a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from odefinder.cli.driving import condition_options, dose_options, table_options
from odefinder.cli.exits import plain_errors, say
from odefinder.errors import SettingsError

if TYPE_CHECKING:
    from odefinder.data.dataset import Clock
    from odefinder.system import ODESystem


def simulate(
    model: Annotated[Path, typer.Argument(help="What odefinder fit --save wrote.")],
    x0: Annotated[
        str | None,
        typer.Option(help="Initial values, such as 30,4 or hare=30,lynx=4; by default the fitted ones."),
    ] = None,
    t_start: Annotated[
        str | None, typer.Option(help="The time or date of the initial values; by default that of the data.")
    ] = None,
    t_end: Annotated[
        str | None, typer.Option(help="The last time or date; by default that of the data.")
    ] = None,
    points: Annotated[int, typer.Option(help="Number of points.", min=2)] = 200,
    row: Annotated[int | None, typer.Option(help="Another row of the table than the chosen one.")] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(help="A file with inputs and their times, a column for each; by default the observed."),
    ] = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(help="An input of --inputs that keeps each value until the next; repeatable."),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="A condition, or a constant that varies, such as T=300; by default the observed."),
    ] = None,
    dose: Annotated[
        list[str] | None,
        typer.Option(help="A dose as NAME=TIME:AMOUNT, such as c=12:100, or none; by default the observed."),
    ] = None,
    trajectory: Annotated[
        int, typer.Option(help="The observed trajectory, counted from 1, whose start and inputs are taken.")
    ] = 1,
    bands: Annotated[
        bool, typer.Option("--bands", help="Also write both ends of a 90 % band, x_lower and x_upper.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A CSV file; by default it is printed.")] = None,
) -> None:
    """Simulate a saved result and write the trajectory as CSV."""
    with plain_errors():
        import numpy as np
        import pandas as pd

        from odefinder.data import dates
        from odefinder.edge.parameters import checked
        from odefinder.edge.writing import write_text
        from odefinder.estimator import ODEFormer

        checked("points", points)
        fitted = ODEFormer.load(model)
        if row is not None:
            fitted.choose(row)
        fitted.dataset_.check_trajectory(trajectory, first=1)
        observed = fitted.dataset_.times[trajectory - 1]
        clock = fitted.dataset_.clock
        begin = float(observed[0]) if t_start is None else _time(t_start, clock, "t_start")
        end = float(observed[-1]) if t_end is None else _time(t_end, clock, "t_end")
        if not end > begin:
            raise SettingsError(f"the last time, {end:g}, must be after the first, {begin:g}: change --t-end")
        times = np.linspace(begin, end, points)
        start = None if x0 is None else _initial_values(x0, fitted.system_)
        driven: dict[str, Any] = {
            "inputs": table_options(inputs, hold),
            "conditions": condition_options(condition),
            "doses": dose_options(dose),
            "trajectory": trajectory - 1,
        }
        if bands:
            frame = fitted.simulate(start, times, bands=True, **driven).frame().iloc[:, 1:]
        else:
            states = fitted.simulate(start, times, **driven)
            frame = pd.DataFrame(states, columns=list(fitted.system_.variables))
        shown = dates(clock, times) if clock.origin else times
        frame.insert(0, clock.name if clock.name not in frame else "time", shown)
        text = frame.to_csv(index=False, float_format="%.10g")
        if out is None:
            typer.echo(text, nl=False)
            return
        write_text(checked("path", out), text)
        say(f"Wrote {points} points to {out}.")


def _time(text: str, clock: Clock, option: str) -> float:
    """A time as a number of the clock: numbers as they are, and dates where the data have dates."""
    from odefinder.data.clock import read_times_on
    from odefinder.edge.parameters import checked

    try:
        return float(checked(option, float(text)))
    except ValueError as error:  # our own are among them
        if not clock.origin:
            name = option.replace("_", "-")
            raise SettingsError(f"--{name} {text} is not a number, as the times of the data are") from error
    return float(read_times_on(clock, [text], option, f"--{option.replace('_', '-')}")[0])


def _initial_values(text: str, system: ODESystem) -> list[float] | dict[str, float]:
    """`30,4` in the order of the variables, or `lynx=4,hare=30`."""
    names = system.variables
    values: list[float] | dict[str, float]
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        if not any(equals for _, equals, _ in pairs):
            values = [float(number) for number, _, _ in pairs]
        else:
            by_name = {name.strip(): float(number) for name, _, number in pairs}
            values = by_name if set(by_name) == set(names) else {}
    except ValueError:
        values = []
    if len(values) != len(names):
        example = ",".join(f"{name}=1" for name in names)
        raise SettingsError(f"--x0 {text} is not understood; give a number for every variable: {example}")
    return values
