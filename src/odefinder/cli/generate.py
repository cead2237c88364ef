"""`odefinder generate`: training data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from odefinder.cli.exits import plain_errors

if TYPE_CHECKING:
    from odefinder.prior.generation import Summary


def generate(
    out: Annotated[Path, typer.Option(help="Folder for the shards; the same command resumes in it.")],
    count: Annotated[int, typer.Option(help="Number of examples.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    preset: Annotated[
        str, typer.Option(help="The prior: default, plain (that of version 0.1) or paper.")
    ] = "default",
    vocabulary: Annotated[
        str, typer.Option(help="How targets spell constants: coarse, fine or paper.")
    ] = "coarse",
    points: Annotated[
        int, typer.Option(help="Observed points of each example; 0 leaves it to the prior.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Shards worked on at once; by default one per core.")
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(help="A joblib back-end in place of threads, such as dask (DASK_SCHEDULER_ADDRESS)."),
    ] = None,
    shard_size: Annotated[int, typer.Option(help="Examples of a shard.")] = 4096,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Draw training examples from a prior over ODE systems and write them as Parquet shards."""
    with plain_errors():
        from odefinder.prior.generation import generate as run

        summary = run(
            out, count=count, seed=seed, preset=preset, vocabulary=vocabulary, points=points, jobs=jobs,
            backend=backend, shard_size=shard_size, progress=progress,
        )  # fmt: skip
        _print_summary(summary)


def _print_summary(summary: Summary) -> None:
    console = Console()
    statistics = summary.statistics
    style: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE, "pad_edge": False}
    header, *rows = statistics.drawn_table()
    drawn = Table(*header, title="Systems drawn, by what became of them", **style)
    for column in drawn.columns:
        column.no_wrap = True
        column.justify = "left" if column is drawn.columns[0] else "right"
    for row in rows:
        drawn.add_row(*row)
    accepted = Table("", "", title="What was accepted", show_header=False, **style)
    for entry in statistics.summary():
        accepted.add_row(*entry)
    console.print(drawn, accepted)
    console.print(
        f"{statistics.examples:,} examples in {summary.shards} shards in {summary.folder}; "
        f"{summary.new_shards} written now, in {summary.seconds:.1f} s.",
        soft_wrap=True,
    )
