"""`odefinder train`: a network of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from odefinder.cli.exits import plain_errors
from odefinder.errors import MissingExtraError


def train(
    out: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, log.jsonl, TensorBoard.")],
    preset: Annotated[
        str, typer.Option(help="Network, data and schedule: default, paper, or tiny to try it out.")
    ] = "default",
    minutes: Annotated[float | None, typer.Option(help="Train for this many (more) minutes.")] = None,
    steps: Annotated[int | None, typer.Option(help="Or for this many (more) steps.")] = None,
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
    learning_rate: Annotated[
        float | None, typer.Option(help="Highest learning rate, in place of the preset's.")
    ] = None,
    decay: Annotated[
        float | None, typer.Option(help="Share of the plan, at its end, over which the learning rate falls.")
    ] = None,
    constants: Annotated[
        float | None,
        typer.Option(
            help="How much it counts which number a constant is, from 0 to 1: less than 1 trains structures "
            "more than constants, which a fit determines anyway."
        ),
    ] = None,
    outlines: Annotated[
        float | None,
        typer.Option(
            help="Share of the examples, from 0 to 1, of which the network writes the outline, the equations "
            "without their constants, in place of the system."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the examples: another seed, other examples.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="That draw examples; by default all cores but two.")
    ] = None,
    snapshots: Annotated[
        float | None, typer.Option(help="Keep the weights at this interval in minutes, as small files.")
    ] = None,
    portable: Annotated[
        bool, typer.Option("--portable", help="Write portable.safetensors, too: a small checkpoint to carry.")
    ] = False,
) -> None:
    """Train a network on examples drawn from the prior while it learns; --resume goes on where it stopped.

    Several GPUs: torchrun --nproc-per-node 4 -m odefinder train ...
    """
    with plain_errors():
        try:
            from odefinder.training.loop import Run
            from odefinder.training.progress import Report
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] not in ("torch", "safetensors"):
                raise
            raise MissingExtraError("training", "train") from missing
        from odefinder.training.reports import ProgressLine, Scalars
        from odefinder.training.settings import training_preset

        settings = training_preset(preset)
        asked: dict[str, Any] = {
            "learning_rate": learning_rate,
            "decay": decay,
            "constants": constants,
            "outlines": outlines,
            "seed": seed,
            "threads": threads,
        }
        settings = replace(settings, **{name: value for name, value in asked.items() if value is not None})
        run = Run(out, settings, resume=resume, device=device, weights=weights)
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
