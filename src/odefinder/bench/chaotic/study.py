"""The noise study: methods on the polynomial flows of the set, judged by their coefficients; resumable.

A line of the results is written as soon as its fit is done.  A fit that fails is a result, too.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.chaotic import stlsq
from odefinder.bench.chaotic.coefficients import FOUND, coefficient_error
from odefinder.bench.chaotic.data import NOISES, StudyData, study_data
from odefinder.bench.chaotic.flows import Flow, read_flows
from odefinder.bench.chaotic.scores import ChaosScores, Truth, chaos_scores
from odefinder.bench.lines import read_lines, run_rest
from odefinder.bench.protocol import same_structure
from odefinder.edge.writing import make_folder, replacing
from odefinder.errors import SettingsError
from odefinder.expressions.program import Program
from odefinder.system import ODESystem

Floats = NDArray[np.float64]
Key = tuple[str, str, float, int, float]

# Systems of 70 with an error below 0.1, by noise in per cent, computed from the result files of the study
# (dynamicslab/pysindy, examples/16_noise_robustness/data).
PUBLISHED: dict[str, tuple[int | None, ...]] = {
    "weak-form STLSQ": (65, 64, 50, None),
    "STLSQ with AIC": (62, 46, 33, 9),
    "MIOSR": (61, 53, 47, None),
    "SR3": (51, 19, 6, None),
    "Lasso": (26, 26, 22, None),
}


@dataclass(frozen=True)
class StudyResult:
    """One fit."""

    method: str
    system: str
    noise: float  # per cent
    seed: int
    time_budget: float  # seconds
    status: str  # ok, or what went wrong
    error: float | None  # of the coefficients; None: infinite, or there is no system
    same_structure: bool
    equations: str
    wall_s: float
    scores: dict[str, Any] | None  # as in ChaosScores

    @property
    def key(self) -> Key:
        return self.method, self.system, self.noise, self.seed, self.time_budget

    @property
    def found(self) -> bool:
        return self.error is not None and self.error < FOUND


@dataclass(frozen=True)
class StudyTask:
    """One fit to be done."""

    path: Path  # of the set
    method: str
    system: str
    noise: float
    seed: int
    time_budget: float
    scores: bool = True  # else only the coefficients are judged, in half the time

    @property
    def key(self) -> Key:
        return self.method, self.system, self.noise, self.seed, self.time_budget


Fit = Callable[[StudyData, float, float], Sequence[Program]]  # data, noise in per cent, seconds -> systems


def fit_odefinder(data: StudyData, noise: float, seconds: float) -> Sequence[Program]:
    """Our estimator on the noisy trajectories; it never sees those for testing."""
    from odefinder.estimator import ODEFormer

    observed = data.observed(noise)
    model = ODEFormer(time_budget=seconds, random_state=data.seed).fit(observed, [data.t] * len(observed))
    if model.system_.inputs:
        raise ValueError("constants were found to differ between trajectories")
    return [model.system_.program]


def fit_stlsq(data: StudyData, noise: float, seconds: float) -> Sequence[Program]:
    """The study's method; the budget does not matter to it."""
    return stlsq.fit(data.t, data.observed(noise), data.test, data.seed)


METHODS: dict[str, Fit] = {"odefinder": fit_odefinder, "stlsq": fit_stlsq}


@cache
def _data(path: Path, system: str, seed: int) -> StudyData:
    return study_data(next(flow for flow in read_flows(path) if flow.id == system), seed)


@cache
def _truth(path: Path, system: str, seed: int) -> Truth:
    return Truth.of(_data(path, system, seed).flow)


def execute(task: StudyTask) -> StudyResult:
    """One fit, judged.  Of several systems (an ensemble) the errors are averaged, as in the study."""
    data = _data(task.path, task.system, task.seed)
    begin = time.perf_counter()
    try:
        programs = METHODS[task.method](data, task.noise, task.time_budget)
    except Exception as problem:  # whatever a method does, the run goes on
        wall = round(time.perf_counter() - begin, 2)
        status = f"{type(problem).__name__}: {problem}"[:300]
        return StudyResult(*task.key, status, None, False, "", wall, None)
    wall = round(time.perf_counter() - begin, 2)
    error = float(np.mean([coefficient_error(program, data.flow.program) for program in programs]))
    first = programs[0]
    scores = None
    if task.scores:
        scores = _rounded(chaos_scores(first, data, _truth(task.path, task.system, task.seed)))
    return StudyResult(
        *task.key,
        "ok",
        error if np.isfinite(error) else None,
        same_structure(first, data.flow.program),
        "; ".join(ODESystem(first, data.flow.system.variables).to_text().splitlines()),
        wall,
        scores,
    )


def _rounded(scores: ChaosScores) -> dict[str, Any]:
    return {name: value if value is None else float(f"{value:.5g}") for name, value in asdict(scores).items()}


def run(tasks: Sequence[StudyTask], out: Path, jobs: int = 1) -> Iterator[StudyResult]:
    """Do what the file `out` does not hold yet, and yield each new result."""
    return run_rest(tasks, execute, StudyResult, out, jobs)


def read_results(path: Path) -> list[StudyResult]:
    """The results in a file; none if there is no file."""
    return read_lines(path, StudyResult)


def write_table(results: Iterable[StudyResult], path: Path) -> None:
    """A CSV file with one row for each fit: the error, then the scores."""
    first = ("method", "system", "noise", "seed", "time_budget", "status", "error", "same_structure")
    names = [field.name for field in fields(ChaosScores)]
    make_folder(path.parent)
    with replacing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*first, *names])
        for result in results:
            error = "inf" if result.error is None else f"{result.error:.4g}"
            kept = [getattr(result, name) for name in first[:6]]
            scores = result.scores or {}
            writer.writerow([*kept, error, result.same_structure, *(scores.get(name) for name in names)])


def study_flows(path: Path, wanted: str | None = None) -> list[Flow]:
    """The flows of the study, or those with the given ids among the polynomial ones."""
    flows = [flow for flow in read_flows(path) if flow.polynomial]
    if wanted is None:
        return [flow for flow in flows if flow.study]
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    known = {flow.id: flow for flow in flows}
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no polynomial flow {name!r}; they are {', '.join(known)}")
    return [known[name] for name in names]


def summary(results: Iterable[StudyResult]) -> list[str]:
    """Lines for people: how many systems were found at each noise, with the published figures."""
    rows: dict[str, dict[float, list[StudyResult]]] = {}
    for result in results:
        rows.setdefault(result.method, {}).setdefault(result.noise, []).append(result)
    noises = sorted({noise for cells in rows.values() for noise in cells} | set(NOISES))
    lines = [f"{'error below 0.1, noise in %':32}" + "".join(f"{noise:>12g}" for noise in noises)]
    for method, cells in rows.items():
        counts = [cells.get(noise, []) for noise in noises]
        shown = [f"{sum(r.found for r in some)} of {len(some)}" if some else "-" for some in counts]
        lines.append(f"{method:32}" + "".join(f"{text:>12}" for text in shown))
    for method, figures in PUBLISHED.items():
        published = dict(zip(NOISES, figures, strict=True))
        shown = [f"{count} of 70" if (count := published.get(noise)) is not None else "-" for noise in noises]
        lines.append(f"{method + ' (published)':32}" + "".join(f"{text:>12}" for text in shown))
    return lines
