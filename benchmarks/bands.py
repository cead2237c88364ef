"""Whether bands hold what they promise: the share of held-out trajectories that lies inside them.

    python benchmarks/objective.py draw --prior plain --cases 12 --dimensions 1,2,3 --out runs/bands.json
    python benchmarks/bands.py fit --sets runs/bands.json --out runs/bands
    python benchmarks/bands.py show runs/bands [--level 0.9] [--figure docs/images/bands.png]

`fit` fits every system in every cell of noise, in random order, and saves the models; the same command goes
on.  `show` compares the bands of each model with the true system over the data, and on two trajectories that
the fit has not seen: from another initial value, which is given, and the observed one for half as long again.
A value counts as inside if it is, or if it is off by less than a thousandth of the trajectory's spread: data
without noise have bands as narrow as the error of the integration.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from objective import Job, _systems, corrupted, jobs_of

CELLS = "clean,m.03,a.03,a.05"
LONGER = 0.5  # durations of the data that a forecast covers
CLOSE = 1e-3  # times the spread
GOOD = 0.9  # R2 of a first system that generalizes


def fit(options: argparse.Namespace) -> None:
    """Fit and save what the folder lacks."""
    from odefinder import ODEFormer
    from odefinder.errors import OdefinderError

    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for number, job in enumerate(jobs_of(options.sets, options.cells, "1")[: options.limit]):
        model, about = folder / f"{number:04}.json", folder / f"{number:04}.job"
        if about.exists():
            continue
        system = _systems(job.path)[job.system]
        try:
            fitted = ODEFormer(time_budget=options.budget).fit(
                corrupted(system.trajectories[0], job.cell, job.seed), system.t
            )
            fitted.save(model)
        except OdefinderError as problem:
            print(job.key, problem)
        about.write_text(json.dumps(job._asdict()), encoding="utf-8")


def inside(bands: Any, truth: np.ndarray) -> np.ndarray:
    """Which values (N, D) of the true trajectory lie in the band."""
    margin = CLOSE * truth.std(axis=0)
    return (truth >= bands.lower - margin) & (truth <= bands.upper + margin)


def measured(job: Job, path: Path, level: float) -> dict[str, Any] | None:
    """Coverage, width and R2 of one model."""
    from odefinder import ODEFormer
    from odefinder.bench.metrics import trajectory_r2
    from odefinder.numerics.integrate import Status, integrate

    system = _systems(job.path)[job.system]
    model, other = ODEFormer.load(path), system.trajectories[1]
    begin = time.process_time()
    bands = model.simulate(other[0], system.t, bands=True, level=level)
    seconds = time.process_time() - begin
    over = model.simulate(bands=True, level=level)
    row: dict[str, Any] = {
        "cell": job.cell,
        "seen": inside(over, system.trajectories[0]).mean(),
        "seen_width": np.median((over.upper - over.lower) / system.trajectories[0].std(axis=0)),
        "weight": float(model.equations_["weight"][0]),
        "generalizes": trajectory_r2(model.system_.program, other[0], system.t, other) > GOOD,
        "other": inside(bands, other)[1:].mean(),
        "width": np.median((bands.upper - bands.lower)[1:] / other.std(axis=0)),
        "seconds": seconds,
        "alike": any("are alike" in remark for remark in model.summary().remarks),
    }
    span = float(np.ptp(system.t))
    times = np.concatenate([[system.t[0]], np.linspace(system.t[-1], system.t[-1] + LONGER * span, 50)])
    truth, status = integrate(
        system.program, system.trajectories[0][0], times, rtol=1e-9, atol=1e-11, bound=100
    )
    if status == Status.OK:
        later = model.forecast(LONGER * span, points=50, level=level)
        row["forecast"] = inside(later, truth[1:]).mean()
    return row


def show(options: argparse.Namespace) -> None:
    """Print the coverage, by noise and by whether the first system generalizes."""
    rows = []
    for about in sorted(Path(options.folder).glob("*.job"))[: options.limit]:
        model = about.with_suffix(".json")
        if model.exists():
            job = Job(**json.loads(about.read_text(encoding="utf-8")))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = measured(job, model, options.level)
            rows.append(row)
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        right = "first system generalizes" if row["generalizes"] else "it does not"
        noisy = ["all with noise"] if row["cell"] != "clean" else []
        for label in ("all", row["cell"], right, *noisy):
            groups.setdefault(label, []).append(row)
    print(
        f"bands of {100 * options.level:g} %: share of true values inside, in %; width in standard deviations"
    )
    for label, own in sorted(groups.items()):
        print(
            f"{label:26} {len(own):4} fits  over the data {_mean(own, 'seen')}  "
            f"elsewhere {_mean(own, 'other')}  forecast {_mean(own, 'forecast')}  median width "
            f"{np.median([row['seen_width'] for row in own]):.3f}, "
            f"{np.median([row['width'] for row in own]):.3f} elsewhere  "
            f"CPU s {np.median([row['seconds'] for row in own]):.2f}"
        )
    for alike in (False, True):
        own = [row for row in rows if row["alike"] == alike and row["cell"] != "clean"]
        if own:
            weight, right = (np.mean([row[name] for row in own]) for name in ("weight", "generalizes"))
            what = "alike" if alike else "no more than noise"
            print(
                f"residuals are {what}: {len(own)} noisy fits, weight {weight:.2f}, right {100 * right:.0f} %"
            )
    if options.figure is not None:
        draw(rows, options.level, options.figure)


def _mean(rows: list[dict[str, Any]], name: str) -> str:
    values = 100 * np.array([row[name] for row in rows if name in row])
    if len(values) < 2:
        return "    -    "
    return f"{values.mean():5.1f}±{values.std(ddof=1) / np.sqrt(len(values)):3.1f}"


def draw(rows: list[dict[str, Any]], level: float, path: Path) -> None:
    """The distribution of coverage over the fits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.0, 3.2), layout="constrained")
    for name, label in (("other", "from another initial value"), ("forecast", "forecast")):
        values = np.sort([row[name] for row in rows if name in row])
        axes.plot(values, np.linspace(0.0, 1.0, len(values)), label=f"{label}, mean {values.mean():.2f}")
    axes.axvline(level, color="0.7", linewidth=1)
    axes.set(
        xlabel="share of the trajectory inside the band", ylabel="share of the fits", xlim=(0, 1), ylim=(0, 1)
    )
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("fit")
    command.set_defaults(run=fit)
    command.add_argument("--sets", required=True)
    command.add_argument("--cells", default=CELLS)
    command.add_argument("--out", required=True, help="a folder for the models")
    command.add_argument("--limit", type=int, default=None)
    command.add_argument("--budget", type=float, default=None, help="seconds per fit, for a busy machine")
    command = commands.add_parser("show")
    command.set_defaults(run=show)
    command.add_argument("folder")
    command.add_argument("--level", type=float, default=0.9)
    command.add_argument("--limit", type=int, default=None)
    command.add_argument("--figure", type=Path, default=None)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
