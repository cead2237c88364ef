"""What a run found: `results.csv`, `results.parquet` and the tables of `report.md`.

The same seed gives the same tables, apart from the section "Times" and the columns `wall_s`, `cpu_s`,
`memory_mb`.
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odefinder.bench.methods import METHODS
from odefinder.bench.metrics import GOOD
from odefinder.bench.protocol import COLUMNS, FAILURES, Result, Status
from odefinder.bench.results import read_results, read_run
from odefinder.edge.writing import replacing, write_text
from odefinder.errors import DataError

BETTER = 0.99
CSV, PARQUET, REPORT = "results.csv", "results.parquet", "report.md"
PACKAGES = ("odefinder", "numpy", "scipy", "numba", "scikit-learn", "onnxruntime")
NONE = "-"


def write_report(folder: Path) -> list[Path]:
    """Write the table and the report of a folder; returns the files."""
    run, results = read_run(folder), read_results(folder)
    if not results:
        raise DataError(f"{folder} has no results yet; run `odefinder bench` with this --out first")
    table = as_frame(results)
    paths = [folder / CSV, folder / PARQUET, folder / REPORT]
    write_text(paths[0], table.to_csv(index=False))
    try:
        with replacing(paths[1]) as place:
            table.to_parquet(place, index=False)
    except ImportError:  # without pyarrow, CSV has to be enough
        paths.remove(folder / PARQUET)
    write_text(paths[-1], as_markdown(run, results))
    return paths


def as_frame(results: Sequence[Result]) -> pd.DataFrame:
    """One row per fit; R2 is missing where there is none."""
    frame = pd.DataFrame([[getattr(result, name) for name in COLUMNS] for result in results], columns=COLUMNS)
    frame[["reconstruction", "generalization"]] = frame[["reconstruction", "generalization"]].astype(float)
    frame["complexity"] = frame["complexity"].astype("Int64")
    return frame


def environment(needs: Iterable[str] = ()) -> dict[str, Any]:
    """Versions, and the number of processors; nothing that reveals whose machine it is."""
    found = {"python": platform.python_version()}
    for name in (*PACKAGES, *sorted(set(needs))):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"versions": found, "processors": os.cpu_count()}


def as_markdown(run: dict[str, Any], results: Sequence[Result]) -> str:
    """The whole report."""
    ran = [result for result in results if result.status != Status.NOT_RUN]
    parts = [f"# Benchmark: {run['set']}", _settings(run)]
    if ran:
        parts += [
            "## Accuracy",
            f"Share of fits in %: R2 above {GOOD:g} and above {BETTER:g} on the clean trajectory "
            "(reconstruction) and on the one from the other initial value (generalization), and the true "
            "structure up to constants. A failed fit counts as none of these. Complexity: the median.",
            _table(ACCURACY, _cells(ran)),
            "## By dimension",
            _table(BY_DIMENSION, _cells(ran, by_dimension=True)),
        ]
    failed = [result for result in ran if result.status != Status.OK]
    if failed:
        parts += ["## Failures", _failures(failed)]
    absent = _not_run(results)
    if absent:
        parts += ["## Not run", absent]
    if ran:
        parts += [
            "## Times",
            "Seconds per fit, failed ones included, with one thread each. Imports and compilation are not "
            "counted.",
            _table(TIMES, _cells(ran)),
        ]
    return "\n\n".join(parts) + "\n"


def accuracy_lines(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A narrow table for a terminal: the header and a row for each method and cell."""
    rows = _cells([result for result in results if result.status != Status.NOT_RUN])
    return [tuple(NARROW), *(tuple(show(group) for show in NARROW.values()) for group in rows)]


# ---------------------------------------------------------------------------------------- tables

Group = list[Result]
Columns = dict[str, Callable[[Group], str]]


def _cells(results: Iterable[Result], by_dimension: bool = False) -> list[Group]:
    """Results by method (in the order of the list) and cell, and by dimension."""
    places = {name: place for place, name in enumerate(METHODS)}

    def key(result: Result) -> tuple[Any, ...]:
        dimension = result.dimension if by_dimension else 0
        return places.get(result.method, len(places)), result.method, result.sigma, result.rho, dimension

    return [list(group) for _, group in groupby(sorted(results, key=key), key)]


def _share(good: Callable[[Result], bool]) -> Callable[[Group], str]:
    return lambda group: f"{100.0 * float(np.mean([good(result) for result in group])):.1f}"


def _above(name: str, bound: float) -> Callable[[Group], str]:
    def good(result: Result) -> bool:
        value = getattr(result, name)
        return value is not None and value > bound

    return _share(good)


def _quantile(name: str, share: float, digits: int = 2) -> Callable[[Group], str]:
    def show(group: Group) -> str:
        values = [getattr(result, name) for result in group if getattr(result, name) is not None]
        return f"{float(np.quantile(values, share)):.{digits}f}" if values else NONE

    return show


def _failed(group: Group) -> str:
    counts = Counter(result.status for result in group)
    return ", ".join(f"{counts[kind]} {kind}" for kind in FAILURES if counts[kind]) or "0"


_CELL: Columns = {
    "method": lambda group: group[0].method,
    "sigma": lambda group: f"{group[0].sigma:g}",
    "rho": lambda group: f"{group[0].rho:g}",
}
_FITS: Columns = {"fits": lambda group: str(len(group))}
_GOOD: Columns = {
    f"reconstruction > {GOOD:g}": _above("reconstruction", GOOD),
    f"generalization > {GOOD:g}": _above("generalization", GOOD),
}
_REST: Columns = {
    "true structure": _share(lambda result: result.same_structure),
    "complexity": _quantile("complexity", 0.5, 1),
    "failed": _failed,
}
ACCURACY: Columns = {
    **_CELL,
    **_FITS,
    **_GOOD,
    f"reconstruction > {BETTER:g}": _above("reconstruction", BETTER),
    f"generalization > {BETTER:g}": _above("generalization", BETTER),
    **_REST,
}
NARROW: Columns = {
    **_CELL,
    **_FITS,
    "reconstruction": _above("reconstruction", GOOD),
    "generalization": _above("generalization", GOOD),
    "structure": _REST["true structure"],
    "failed": _failed,
}
BY_DIMENSION: Columns = {
    **_CELL,
    "dimension": lambda group: str(group[0].dimension),
    **_FITS,
    **_GOOD,
    **_REST,
}
TIMES: Columns = {
    **_CELL,
    "CPU, median": _quantile("cpu_s", 0.5),
    "CPU, 95 %": _quantile("cpu_s", 0.95),
    "wall, median": _quantile("wall_s", 0.5),
    "wall, 95 %": _quantile("wall_s", 0.95),
    "memory in MB, largest": _quantile("memory_mb", 1.0, 0),
}


def _table(columns: Columns, groups: Sequence[Group]) -> str:
    rows = [[show(group) for show in columns.values()] for group in groups]
    return _markdown(list(columns), rows, numbers=True)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    lines = [header, ["--:" if numbers and k > 0 else "---" for k in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _failures(failed: Sequence[Result]) -> str:
    """How often each method failed in which way, with a message as an example."""
    first: dict[tuple[str, str], Result] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for result in failed:
        kind = result.method, result.status
        first.setdefault(kind, result)
        counts[kind] += 1
    rows = [
        [*kind, str(counts[kind]), f"{result.system} from {result.initial}: {_plain(result.message)}"]
        for kind, result in sorted(first.items())
    ]
    return _markdown(["method", "kind", "fits", "the first of them"], rows)


def _not_run(results: Sequence[Result]) -> str:
    reasons = {result.method: result.message for result in results if result.status == Status.NOT_RUN}
    rows = [[name, f"not run: {_plain(why)}"] for name, why in sorted(reasons.items())]
    return _markdown(["method", "why"], rows) if rows else ""


def _plain(text: str) -> str:
    """Text that fits into a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")[:200]


def _settings(run: dict[str, Any]) -> str:
    commands = "\n".join(run.get("commands", []))
    methods = "\n".join(
        f"- {name}: " + ", ".join(f"{key} {value}" for key, value in settings.items())
        for name, settings in run["methods"].items()
        if settings
    )
    facts = (
        f"Seed {run['seed']}; at most {run.get('time_limit', np.nan):g} s and "
        f"{run.get('memory_limit', np.nan):g} GB per fit; "
    )
    if parts := run.get("parts"):
        facts += "several runs, of which later ones count where they have the same fit:\n\n" + "\n".join(
            f"- {part['fits']} fits of {', '.join(part['methods'])}: {_machine(part)}" for part in parts
        )
    else:
        facts += _machine(run)
    return "\n\n".join(filter(None, [f"```\n{commands}\n```", facts, methods]))


def _machine(run: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in run.get("versions", {}).items())
    return f"{run.get('processors', '?')} processors; {versions}."
