"""Many examples on disk, in shards: in parallel, resumable, and the same for a seed whoever computes them.

Shard k of a folder holds examples k * shard_size, ... of the seed (`shards.py` describes the files); the
folder's `manifest.json` holds everything that decides what they are.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from odefinder.edge.documents import checked_document, parsed
from odefinder.edge.parameters import checked
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Object, Whole, shown
from odefinder.edge.rules import Text as TextRule
from odefinder.edge.writing import write_text
from odefinder.errors import DataError, MissingExtraError, OdefinderError, SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_POINTS, MAX_TRAJECTORIES
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill
from odefinder.prior.shards import arrow, read_shard, shard_statistics, to_table, write_table
from odefinder.prior.statistics import Statistics, describe, no_statistics

FORMAT = 2  # of the folder; raise it when an older reader would misread a newer folder
MANIFEST = "manifest.json"
LONGEST_MANIFEST = 1 << 24  # bytes
MANIFEST_RULE = Object(
    {
        "seed": Whole("a whole number, 0 or more", 0, 2**63),
        "count": Whole("a whole number, 1 or more", 1, 2**62),
        "shard_size": Whole("a whole number, 1 or more", 1, 2**62),
        "points": Whole("a whole number, 0 or more", 0, 2**31),
        "preset": TextRule(),
        "prior": Object({}, keep=True),
        "vocabulary": Object({}, keep=True),
    },
    keep=True,
)
CHUNK = 256  # examples drawn at once: how often progress is reported and Ctrl-C heard


@dataclass(frozen=True)
class Summary:
    """What a folder holds after `generate`."""

    folder: Path
    shards: int
    new_shards: int  # those that were not there before
    seconds: float
    statistics: Statistics  # of all shards, also of those that were there before


@dataclass(frozen=True)
class _Job:
    """What all shards have in common; travels to the workers.

    It holds no arrays: those that arrive in another process are read-only, another type to compile for.
    """

    folder: Path
    count: int
    shard_size: int
    seed: int
    preset: str
    vocabulary: dict[str, Any]
    points: int

    @property
    def shards(self) -> int:
        return math.ceil(self.count / self.shard_size)

    def rows(self, shard: int) -> int:
        return min(self.shard_size, self.count - shard * self.shard_size)

    def path(self, shard: int) -> Path:
        return _shard_path(self.folder, shard)

    def manifest(self) -> dict[str, Any]:
        """Everything that decides what the examples are, as JSON knows it."""
        return {
            "format": FORMAT,
            "odefinder": version("odefinder"),
            "seed": self.seed,
            "count": self.count,
            "shard_size": self.shard_size,
            "points": self.points,
            "preset": self.preset,
            "prior": _plain(prior_preset(self.preset)),
            "vocabulary": self.vocabulary,
        }


def generate(
    out: str | os.PathLike[str],
    *,
    count: int,
    seed: int = 0,
    preset: str = "default",
    vocabulary: str | Vocabulary = "coarse",
    points: int = 0,
    jobs: int | None = None,
    shard_size: int = 4096,
    backend: str | None = None,
    progress: bool = True,
) -> Summary:
    """Write examples 0 .. count - 1 of a seed as Parquet shards into the folder `out`.

    Shards that are already there are kept: the same call goes on after a kill, and a larger `count`
    extends the folder.  `points`: observed points of each example; 0 leaves the number to the prior.
    `jobs`: shards worked on at once, by default one per core.  `backend`: a joblib back-end by name in place
    of threads, such as "dask" (the cluster of the present `distributed.Client`, else the one that Dask's
    settings name, else a local one); its workers write into the folder, which all of them must see.
    """
    began = time.perf_counter()
    arrow()
    job = _checked_job(out, count, seed, preset, vocabulary, points, jobs, shard_size)
    with ExitStack() as stack:
        parallel = _backend(backend, jobs, stack)
        _prepare_folder(job)
        total, todo = no_statistics(), []
        for shard in range(job.shards):
            present = shard_statistics(job.path(shard), shard * job.shard_size, job.rows(shard))
            if present is None:
                todo.append(shard)
            else:
                total += present
        done, stop = job.shards - len(todo), threading.Event()
        advance = stack.enter_context(_progress_bar(count, total.examples, progress and todo != []))
        # Threads report as they go; from another process only finished shards are heard of.
        report = _reporter(advance, stop) if backend in (None, "threading") else None
        try:
            for shard, part in parallel(joblib.delayed(_write_shard)(job, shard, report) for shard in todo):
                done, total = done + 1, total + part
                if report is None:
                    advance(job.rows(shard))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Stopped: {done} of {job.shards} shards are complete in {job.folder}. "
                f"The same command goes on from there."
            ) from None
        finally:
            stop.set()
    return Summary(job.folder, job.shards, len(todo), time.perf_counter() - began, total)


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a folder of shards."""
    path = Path(folder) / MANIFEST
    if not os.path.exists(path):
        raise DataError(f"{folder} has no {MANIFEST}: `odefinder generate` did not write it")
    try:
        manifest = parsed(read_bytes(path, LONGEST_MANIFEST))
        known = manifest.get("format") if isinstance(manifest, dict) else None
        if known == FORMAT:
            return dict(checked_document(manifest, MANIFEST_RULE, "it"))
    except DataError as problem:
        raise DataError(f"cannot read {path}: {problem}") from None
    raise DataError(
        f"{folder} has format {shown(known)}, this version reads format {FORMAT}; generate the data again"
    )


def read_examples(folder: str | os.PathLike[str]) -> Iterator[Examples]:
    """The examples of a folder in order, one shard after the other."""
    manifest = read_manifest(folder)
    paths = [
        _shard_path(Path(folder), k) for k in range(math.ceil(manifest["count"] / manifest["shard_size"]))
    ]
    missing = sum(not path.exists() for path in paths)
    if missing:
        raise DataError(
            f"{missing} of {len(paths)} shards are missing in {folder}; "
            f"run the same `odefinder generate` again, it goes on where it stopped"
        )
    return map(read_shard, paths)


# ---------------------------------------------------------------- one shard


def _write_shard(job: _Job, shard: int, report: Callable[[int], None] | None) -> tuple[int, Statistics]:
    """Draw and write one shard; what happened, for the summary.  Runs on the workers."""
    prior, layout = prior_preset(job.preset), Vocabulary.from_dict(job.vocabulary).layout
    rows = job.rows(shard)
    examples = np.zeros(min(CHUNK, rows), EXAMPLE)
    total, tables = no_statistics(), []
    for start in range(0, rows, CHUNK):
        chunk = examples[: min(CHUNK, rows - start)]
        drawn = new_counts()
        first = shard * job.shard_size + start
        fill(chunk, drawn, seed=job.seed, first=first, prior=prior, layout=layout, points=job.points)
        total += describe(chunk, drawn)
        tables.append(to_table(chunk))
        if report is not None:
            report(len(chunk))
    pa, _ = arrow()
    try:
        write_table(job.path(shard), pa.concat_tables(tables), total)
    except DataError as problem:
        raise DataError(
            f"{problem}. Every worker must see the folder. Once it can be written, the same command goes on"
        ) from None
    return shard, total


# ---------------------------------------------------------------- the folder


def _shard_path(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard:05d}.parquet"


def _plain(value: Any) -> Any:
    """Settings as JSON knows them."""
    if hasattr(value, "_asdict"):
        return {name: _plain(entry) for name, entry in value._asdict().items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _checked_job(
    out: str | os.PathLike[str], count: int, seed: int, preset: str, vocabulary: str | Vocabulary,
    points: int, jobs: int | None, shard_size: int,
) -> _Job:  # fmt: skip
    checked("count", count)
    if not 0 <= seed < 2**63:
        raise SettingsError(f"a seed is a whole number from 0 to 2**63 - 1, got {seed}")
    if points != 0 and not 2 * MAX_TRAJECTORIES <= points <= MAX_POINTS:
        raise SettingsError(f"points is {2 * MAX_TRAJECTORIES} to {MAX_POINTS}, or 0 for any, got {points}")
    if jobs is not None:
        checked("jobs", jobs)
    checked("shard_size", shard_size)
    words = Vocabulary.preset(vocabulary) if isinstance(vocabulary, str) else vocabulary
    prior_preset(preset)  # there is one
    return _Job(Path(out).absolute(), count, shard_size, seed, preset, words.to_dict(), points)


def _prepare_folder(job: _Job) -> None:
    """Make the folder, compare its manifest with ours, write ours; remove what a kill left unfinished."""
    folder, ours = job.folder, job.manifest()
    if os.path.exists(folder) and not os.path.isdir(folder):  # which also take names that are too long
        raise DataError(f"{folder} is a file; name a folder for the shards")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / MANIFEST).exists():
            theirs = read_manifest(folder)
            if theirs["count"] > job.count:
                raise SettingsError(
                    f"{folder} is a folder of {theirs['count']} examples, {job.count} are asked for; "
                    f"ask for at least as many, or name another folder"
                )
            ours["count"] = theirs["count"]
            if differences := list(_differences(theirs, ours)):
                raise SettingsError(
                    f"{folder} holds examples of other settings: {'; '.join(differences)}. "
                    f"Name another folder, or repeat the settings it was begun with"
                )
            ours["count"] = job.count
        elif next(folder.glob("shard-*.parquet"), None) is not None:
            raise DataError(f"{folder} holds shards without a {MANIFEST}; name another folder")
        for leftover in folder.glob(".*.tmp"):
            leftover.unlink(missing_ok=True)
        write_text(folder / MANIFEST, json.dumps(ours, indent=1) + "\n")
    except OdefinderError:
        raise
    except OSError as problem:
        raise DataError(f"cannot write into {folder}: {problem.strerror}; name another folder") from None


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Where two manifests differ, in words."""
    for name in sorted({*theirs, *ours}):
        old, new = theirs.get(name), ours.get(name)
        if name == "prior" and theirs["preset"] != ours["preset"]:
            continue  # the preset's name says it
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            yield f"{prefix}{name} is {old} there, {new} here"


# ---------------------------------------------------------------- parallel work and its progress


def _backend(name: str | None, jobs: int | None, stack: ExitStack) -> joblib.Parallel:
    """joblib with threads, or with the named back-end; without the GIL threads are as good as processes."""
    if name == "dask":
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("The back-end 'dask'", "dask") from None
        try:
            distributed.get_client()
        except ValueError:
            stack.enter_context(distributed.Client())
    cores = -1 if name == "dask" else joblib.cpu_count()
    try:
        stack.enter_context(joblib.parallel_config(backend=name or "threading", n_jobs=jobs or cores))
        return joblib.Parallel(return_as="generator")
    except ValueError as problem:
        raise SettingsError(f"joblib does not know the back-end {name!r}: {problem}") from None


def _reporter(advance: Callable[[int], None], stop: threading.Event) -> Callable[[int], None]:
    """Reports progress from threads, and ends them once the caller is gone."""

    def report(examples: int) -> None:
        if stop.is_set():
            raise InterruptedError("the generation was stopped")
        advance(examples)

    return report


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f} examples/s" if task.speed else "")


@contextmanager
def _progress_bar(total: int, done: int, show: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error; yields the function that moves it."""
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn(),
        console=Console(stderr=True), disable=not show,
    )  # fmt: skip
    with bar:
        task = bar.add_task("starting (the first run compiles)", total=total, completed=done)

        def advance(examples: int) -> None:
            bar.update(task, advance=examples, description="generating")

        yield advance
