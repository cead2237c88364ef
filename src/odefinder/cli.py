"""The command `odefinder`.  What is slow to import is imported by the command that needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from odefinder.errors import MissingExtraError, OdefinderError

if TYPE_CHECKING:
    from odefinder.prior.generation import Summary

WRONG_USE, INTERRUPTED = 2, 130  # exit codes

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="From observed trajectories to the ordinary differential equations behind them, as formulas.",
)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Our own errors as one message instead of a traceback."""
    try:
        yield
    except OdefinderError as problem:
        typer.echo(f"odefinder: {problem}", err=True)
        raise typer.Exit(WRONG_USE) from None
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "Stopped.", err=True)
        raise typer.Exit(INTERRUPTED) from None


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


@app.command()
def generate(
    out: Annotated[Path, typer.Option(help="Folder for the shards; the same command resumes in it.")],
    count: Annotated[int, typer.Option(help="Number of examples.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    preset: Annotated[str, typer.Option(help="The prior: default, or paper.")] = "default",
    vocabulary: Annotated[
        str, typer.Option(help="How targets spell constants: coarse, fine or paper.")
    ] = "coarse",
    points: Annotated[
        int, typer.Option(help="Observed points of each example; 0 leaves it to the prior.")
    ] = 0,
    jobs: Annotated[int | None, typer.Option(help="Shards worked on at once; one a core by default.")] = None,
    backend: Annotated[
        str | None,
        typer.Option(help="A joblib back-end in place of threads, such as dask (DASK_SCHEDULER_ADDRESS)."),
    ] = None,
    shard_size: Annotated[int, typer.Option(help="Examples of a shard.")] = 4096,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Draw training examples from a prior over ODE systems and write them as Parquet shards."""
    with _plain_errors():
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


@app.command()
def train(
    out: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, log.jsonl, TensorBoard.")],
    preset: Annotated[
        str, typer.Option(help="Network, data and schedule: default, paper, or tiny to try it out.")
    ] = "default",
    minutes: Annotated[float | None, typer.Option(help="Train so many minutes (more).")] = None,
    steps: Annotated[int | None, typer.Option(help="Or so many steps (more).")] = None,
    plan: Annotated[
        float | None,
        typer.Option(
            help="Minutes (or steps) of all slices together, which the learning rate follows; by default it "
            "falls to zero at the end of this slice."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    device: Annotated[
        str | None, typer.Option(help="Such as cpu or cuda:1; by default a GPU if there is one.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Begin a new run with the weights of this file, not with random ones.")
    ] = None,
    snapshots: Annotated[
        float | None, typer.Option(help="Keep the weights every so many minutes, as small files.")
    ] = None,
    portable: Annotated[
        bool, typer.Option("--portable", help="Write portable.safetensors, too: a small checkpoint to carry.")
    ] = False,
) -> None:
    """Train a network on examples drawn from the prior while it learns; --resume goes on where it stopped.

    Several GPUs: torchrun --nproc-per-node 4 -m odefinder train ...
    """
    with _plain_errors():
        try:
            from odefinder.training.loop import Run
            from odefinder.training.progress import Report
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] not in ("torch", "safetensors"):
                raise
            raise MissingExtraError("training", "train") from missing
        from odefinder.training.reports import ProgressLine, Scalars
        from odefinder.training.settings import training_preset

        run = Run(out, training_preset(preset), resume=resume, device=device, weights=weights)
        with ProgressLine(run.progress, minutes=minutes, steps=steps) as line, Scalars(out) as scalars:

            def report(news: Report) -> None:
                line(news)
                scalars(news)

            run.train(minutes=minutes, steps=steps, plan=plan, snapshots=snapshots, report=report)
        if not run.processes.first:
            return
        if portable:
            run.save_portable(out / "portable.safetensors")
        done = run.progress
        summary = (
            f"{done.step:,} steps on {done.examples:,} examples in {done.minutes:.1f} minutes in all; "
            f"the checkpoint is {run.path}"
        )
        if line.share(done) < 1.0:
            raise KeyboardInterrupt(f"Stopped after {summary}. Go on with --resume.")
        typer.echo(f"Trained {summary}.")


def main() -> None:
    """Entry point of the console script."""
    app()
