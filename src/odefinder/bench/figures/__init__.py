"""The figures of a run, drawn from its folder: those of the paper's section on results and its appendix.

accuracy: shares of good fits by noise.  cost: complexity and time.  r2: histograms.  by_dimension: shares by
dimension.  ablations (synthetic systems only): shares by what makes a task hard.  predictions: the
trajectories of one method over the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from odefinder.bench.figures.contestants import contestants
from odefinder.bench.figures.predictions import prediction_cell, prediction_pages
from odefinder.bench.figures.shares import ablations, accuracy, by_dimension
from odefinder.bench.figures.spreads import cost, r2
from odefinder.bench.protocol import Status
from odefinder.bench.results import read_results, read_run
from odefinder.bench.sets import NAMES, SYNTHETIC, TrueSystem, load_set, set_title, systems_digest
from odefinder.edge.writing import make_folder
from odefinder.errors import DataError, SettingsError
from odefinder.output.style import save

FORMATS = ("png", "pdf", "svg")


def draw_figures(
    folder: Path,
    out: Path | None = None,
    *,
    ending: str = "png",
    method: str | None = None,
    set_file: str | None = None,
) -> list[Path]:
    """Draw what the results of a folder allow; returns the files.

    out: where they go (default: the folder's "figures").  method: whose predictions are drawn (default: the
    best of our variants, else the best).  set_file: the systems of the run if they are a JSON file.
    """
    if ending not in FORMATS:
        raise SettingsError(f"figures are written as {', '.join(FORMATS)}, not {ending!r}")
    run = read_run(folder)
    results = [result for result in read_results(folder) if result.status != Status.NOT_RUN]
    if not results:
        raise DataError(f"{folder} has no results yet; run `odefinder bench` with this --out first")
    ranked = contestants(results)
    chosen, sigma, rho = prediction_cell(results, ranked, method)
    systems = true_systems(run, set_file)
    out = out or folder / "figures"
    make_folder(out)

    figures: dict[str, Callable[[], Any]] = {
        "accuracy": lambda: accuracy(results, ranked),
        "cost": lambda: cost(results, ranked, systems),
        "r2": lambda: r2(results, ranked),
        "by_dimension": lambda: by_dimension(results, ranked),
    }
    if run["set"] in SYNTHETIC:
        figures["ablations"] = lambda: ablations(results, ranked, systems, run["methods"])
    written = []
    for name, draw in figures.items():
        written.append(out / f"{name}.{ending}")
        save(draw(), written[-1])
    if systems:
        cell = [
            result for result in results if (result.method, result.sigma, result.rho) == (chosen, sigma, rho)
        ]
        stem = f"predictions-{chosen}-s{sigma:g}-r{rho:g}"
        pages = list(prediction_pages(cell, systems, run))
        for number, page in enumerate(pages, start=1):
            name = stem if len(pages) == 1 else f"{stem}-{number}"
            written.append(out / f"{name}.{ending}")
            save(page, written[-1], dpi=110)
    return written


def true_systems(run: dict[str, Any], set_file: str | None) -> list[TrueSystem]:
    """The systems of a run; none, with a warning, if they are not available."""
    name = run["set"] if set_file is None else set_file
    if set_title(name) != run["set"]:
        raise SettingsError(f"the run was on the set {run['set']!r}, not on {name!r} (--set)")
    if name == run["set"] and name not in NAMES:
        return _without_systems(f"give the file of the set {name!r} (--set)")
    systems = load_set(name, cases=run["cases"]) if "cases" in run else load_set(name)
    if systems_digest(systems) != run["systems_sha256"]:
        return _without_systems(f"the systems of {name!r} are no longer those of the run")
    return systems


def _without_systems(why: str) -> list[TrueSystem]:
    warnings.warn(f"{why}; figures are drawn without the true systems, and no predictions", stacklevel=3)
    return []
