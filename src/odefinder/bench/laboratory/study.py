"""The laboratory study: methods on all tasks, resumable, and the table of shares.

A line of the results is written as soon as its fit is done.  A fit that fails is a result, too, and counts as
a miss; so does a task that a method does not support, and the table says how many there are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median, stdev

from odefinder.bench.laboratory import ours, sindy
from odefinder.bench.laboratory.entries import GROUPS, LabSystem, read_laboratory
from odefinder.bench.laboratory.judging import GOOD, Fit, NotSupported, judge
from odefinder.bench.laboratory.tasks import make_task
from odefinder.bench.lines import read_lines, run_rest
from odefinder.errors import SettingsError

Key = tuple[str, str, int, float, int]

METHODS: dict[str, Fit] = {"odefinder": ours.fit, "sindy": sindy.fit}
OK, NOT_SUPPORTED = "ok", "not supported"


@dataclass(frozen=True)
class LabJob:
    """One fit to be done."""

    path: Path  # of the set
    method: str
    system: str
    split: int
    noise: float
    seed: int

    @property
    def key(self) -> Key:
        return self.method, self.system, self.split, self.noise, self.seed


@dataclass(frozen=True)
class LabResult:
    """One fit."""

    method: str
    system: str
    split: int
    noise: float
    seed: int
    group: str
    status: str  # ok, not supported, or what went wrong
    forecast: float | None  # R2; None where there is none
    other: float | None
    equations: str
    wall_s: float

    @property
    def scores(self) -> tuple[float | None, float | None]:
        return self.forecast, self.other

    @property
    def key(self) -> Key:
        return self.method, self.system, self.split, self.noise, self.seed


@cache
def _systems(path: Path) -> dict[str, LabSystem]:
    return {lab.id: lab for lab in read_laboratory(path)}


def jobs_of(
    path: Path, labs: Sequence[LabSystem], methods: Sequence[str], noises: Sequence[float], seed: int = 0
) -> list[LabJob]:
    """All fits of a study."""
    for method in methods:
        if method not in METHODS:
            raise SettingsError(f"there is no method {method!r}; they are {', '.join(METHODS)}")
    return [
        LabJob(path, method, lab.id, split, noise, seed)
        for method in methods
        for noise in noises
        for lab in labs
        for split in range(len(lab.splits))
    ]


def execute(job: LabJob) -> LabResult:
    """One fit, judged."""
    lab = _systems(job.path)[job.system]
    task = make_task(lab, job.split, job.noise, job.seed)
    begin = time.perf_counter()
    try:
        model = METHODS[job.method](task)
        wall = _since(begin)
        scores = judge(model, lab, lab.splits[job.split])  # it may read what the other record does not know
    except NotSupported:
        return LabResult(*job.key, lab.group, NOT_SUPPORTED, None, None, "", 0.0)
    except Exception as problem:  # whatever a method does, the run goes on
        status = f"{type(problem).__name__}: {problem}"[:300]
        return LabResult(*job.key, lab.group, status, None, None, "", _since(begin))
    forecast, other = _rounded(scores.forecast), _rounded(scores.other)
    equations = "; ".join(model.system.to_text(6).splitlines())
    return LabResult(*job.key, lab.group, OK, forecast, other, equations, wall)


def _since(begin: float) -> float:
    return round(time.perf_counter() - begin, 2)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def run(jobs: Sequence[LabJob], out: Path, processes: int = 1) -> Iterator[LabResult]:
    """Do what the file `out` does not hold yet, and yield each new result."""
    return run_rest(jobs, execute, LabResult, out, processes)


def read_results(path: Path) -> list[LabResult]:
    """The results in a file; none if there is no file."""
    return read_lines(path, LabResult)


# ---------------------------------------------------------------------------------------- the table


def line(result: LabResult) -> str:
    """A result for people who watch."""
    scores = " ".join("    -" if score is None else f"{max(score, -9.0):5.2f}" for score in result.scores)
    what = f"{result.method:10} {result.system:22} {result.split + 1} noise {result.noise:<5g}"
    return f"{what} R2 {scores} {result.wall_s:6.1f} s  {result.status}"


def table(results: Iterable[LabResult]) -> list[str]:
    """Markdown: the share of fits with R2 > 0.9 in %, with standard errors, by group, method and noise."""
    cells: dict[tuple[str, str, float], list[LabResult]] = {}
    for result in results:
        cells.setdefault((result.group, result.method, result.noise), []).append(result)
    lines = [
        "| | method | noise | fits | forecast | other start, input or condition | median s | remarks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for group, method, noise in sorted(cells, key=lambda key: (GROUPS.index(key[0]), key[1], key[2])):
        some = cells[group, method, noise]
        systems = [result.system for result in some]
        tried = [result.wall_s for result in some if result.status != NOT_SUPPORTED]
        row = [
            group,
            method,
            f"{noise:.0%}" if noise else "clean",
            str(len(some)),
            _share(systems, [result.forecast for result in some]),
            _share(systems, [result.other for result in some]),
            f"{median(tried):.2f}" if tried else "-",
            _remarks(some),
        ]
        lines.append(f"| {' | '.join(row)} |")
    return lines


def _share(systems: Sequence[str], scores: Sequence[float | None]) -> str:
    """In %, with its standard error: fits of the same system are not independent, systems are."""
    by_system: dict[str, list[bool]] = {}
    for system, score in zip(systems, scores, strict=True):
        by_system.setdefault(system, []).append(score is not None and score > GOOD)
    good = [fit for fits in by_system.values() for fit in fits]
    means = [sum(fits) / len(fits) for fits in by_system.values()]
    error = stdev(means) / len(means) ** 0.5 if len(means) > 1 else 0.0
    return f"{100 * sum(good) / len(good):.0f} ± {100 * error:.0f}"


def _remarks(results: Sequence[LabResult]) -> str:
    missing = sum(result.status == NOT_SUPPORTED for result in results)
    failed = sum(result.status not in (OK, NOT_SUPPORTED) for result in results)
    parts = [(missing, NOT_SUPPORTED), (failed, "failed")]
    return ", ".join(f"{count} {what}" for count, what in parts if count)
