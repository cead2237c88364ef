"""The numbers of the choice: other values of them on the same candidates.

    python benchmarks/calibration.py fit --sets benchmarks/sets/textbook.json --out runs/pool.jsonl
    python benchmarks/calibration.py show runs/pool.jsonl

`fit` runs fits as `objective.py` does (same sets, cells, noise and order; it goes on where it stopped) and
keeps what the choice knows about every candidate, and whether it predicts a trajectory from elsewhere.
`show` chooses again with other numbers of `choose/criterion.py`, and without the network's part in it.  For
those of the weights there is `weights.py --fit`.  Run both again when the network or its prior change.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from objective import Job, _systems, add_fit_options, corrupted, jobs_of, rows_of

KEPT = 40  # candidates of a fit


def fit(options: argparse.Namespace) -> None:
    """Fit what the file lacks."""
    import joblib

    out = Path(options.out)
    known = {row["key"] for row in rows_of(out)} if out.exists() else set()
    jobs = jobs_of(options.sets, options.cells, options.initials)[: options.limit]
    waiting = [job for job in jobs if job.key not in known]
    parallel = joblib.Parallel(n_jobs=options.processes, return_as="generator_unordered", batch_size=1)
    with out.open("a", encoding="utf-8") as file:
        for row in parallel(joblib.delayed(pool_of)(job, options.budget) for job in waiting):
            file.write(json.dumps(row) + "\n")
            file.flush()


def pool_of(job: Job, budget: float) -> dict[str, Any]:
    """What is known about the candidates of one fit."""
    from odefinder import ODEFormer
    from odefinder.bench.metrics import GOOD, trajectory_r2
    from odefinder.bench.protocol import same_structure
    from odefinder.data import from_arrays
    from odefinder.errors import OdefinderError
    from odefinder.expressions.program import INV, POW, SIN, WAVES
    from odefinder.inference import find as finding
    from odefinder.inference.choose.candidates import Candidate
    from odefinder.inference.choose.criterion import elsewhere
    from odefinder.inference.choose.search import Search
    from odefinder.limits.deadline import Deadline

    system = _systems(job.path)[job.system]
    paths = system.trajectories
    clean, other = paths[job.initial], paths[(job.initial + 1) % len(paths)]
    states = corrupted(clean, job.cell, job.seed)
    scaling = from_arrays(states, system.t).scaling()
    row: dict[str, Any] = {"key": job.key, **job._asdict(), "dimension": clean.shape[1], "pool": []}

    class Watched(Search):
        def rescored(self, judge: Deadline | None = None) -> list[Candidate]:
            best = self.ranked()[:KEPT]
            programs = [found.fit.program for found in best]
            chances = np.zeros(len(best)) if self.log_prior is None else self.log_prior(programs)
            row.update(left=self._left(), count=self.data.count)
            for found, chance in zip(best, chances, strict=True):
                ops = found.fit.program.ops
                route = elsewhere(found.fit.program, found.fit.starts, self.data)
                original = scaling.to_original(found.fit.program)
                row["pool"].append(
                    {
                        "error": found.fit.error,
                        "starts": found.starts,
                        "nodes": len(ops),
                        "constants": len(found.fit.program.constants),
                        "functions": int(np.count_nonzero((ops >= SIN) | (ops == POW) | (ops == INV))),
                        "wave": bool(np.isin(ops, WAVES).any()),
                        "outline": float(max(chance, -1e4)),
                        "away": bool(np.isnan(route).any()),
                        "good": bool(trajectory_r2(original, other[0], system.t, other) > GOOD),
                        "follows": bool(trajectory_r2(original, clean[0], system.t, clean) > GOOD),
                        "same": same_structure(original, system.program),
                    }
                )
            return super().rescored(judge)

    finding.Search = Watched
    try:
        ODEFormer(time_budget=budget).fit(states, system.t)
    except OdefinderError as problem:
        row["error"] = str(problem)
    finally:
        finding.Search = Search
    return row


# ---------------------------------------------------------------------------------------- other numbers


def log_posteriors(
    row: dict[str, Any], *, judged: bool = True, temperature: float = 0.5, network: float = 0.67,
    constant: float = 3.0, node: float = 0.3, wave: float = 2.0, away: float = 6.0, starts: float = 1.0,
) -> np.ndarray:  # fmt: skip
    """Of all candidates; judged: by the network, otherwise by a description length."""
    pool = {name: np.array([one[name] for one in row["pool"]], float) for name in row["pool"][0]}
    if judged:
        price = constant * pool["constants"] + node * pool["nodes"] + wave * pool["wave"]
        structure = network * np.maximum(pool["outline"], -4.0 * pool["nodes"]) - price
    else:
        structure = -1.5 * pool["nodes"] - 4.0 * (pool["constants"] + pool["functions"])
    likelihood = -0.5 * row["count"] * np.log(pool["error"] + 1e-9)
    return temperature * (likelihood + starts * pool["starts"]) + structure - away * pool["away"]


def chosen(rows: list[dict[str, Any]], **numbers: float) -> np.ndarray:
    """Whether the first system of each fit is good."""
    return np.array([row["pool"][int(np.argmax(log_posteriors(row, **numbers)))]["good"] for row in rows])


def show(options: argparse.Namespace) -> None:
    """Print how the choice depends on its numbers."""
    rows = [row for row in rows_of(Path(options.file)) if row["pool"]]
    some = np.mean([any(one["good"] for one in row["pool"]) for row in rows])
    usual = chosen(rows)
    error = np.sqrt(usual.mean() * (1.0 - usual.mean()) / len(rows))
    print(f"{len(rows)} fits; some candidate generalizes in {100 * some:.1f} %")
    print(f"{'as it is':18} {100 * usual.mean():5.1f} ± {100 * error:.1f}")
    others = {
        "temperature": (0.25, 0.75, 1.0), "network": (0.25, 0.5, 1.0), "constant": (1.0, 2.0, 4.0),
        "node": (0.0, 0.6), "wave": (0.0, 4.0), "away": (0.0, 12.0), "starts": (0.0, 0.5, 2.0),
    }  # fmt: skip
    for name, values in others.items():
        for value in values:
            now = chosen(rows, **{name: value})
            gained, lost = int((now & ~usual).sum()), int((usual & ~now).sum())
            print(f"{name:12} {value:5g} {100 * now.mean():5.1f}  +{gained}/-{lost}")
    _show_judge(rows)


def _show_judge(rows: list[dict[str, Any]]) -> None:
    """What the network is worth as a judge: the choice among the same candidates with and without it."""
    print("the choice generalizes      fits  without  with the network")
    for origin in ("synthetic", "textbook"):
        for label, clean in (("clean", True), ("noisy", False)):
            own = [
                row
                for row in rows
                if (row["set"] == "textbook") == (origin == "textbook") and (row["cell"] == "clean") == clean
            ]
            if own:
                without, judged = chosen(own, judged=False), chosen(own)
                gained, lost = int((judged & ~without).sum()), int((without & ~judged).sum())
                difference, error = gained - lost, np.sqrt(gained + lost)
                print(
                    f"{origin:10} {label:12} {len(own):9}  {100 * without.mean():6.1f}  "
                    f"{100 * judged.mean():6.1f} ({100 * difference / len(own):+.1f} ± "
                    f"{100 * error / len(own):.1f})"
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("fit")
    command.set_defaults(run=fit)
    add_fit_options(command, budget=30.0)
    command = commands.add_parser("show")
    command.set_defaults(run=show)
    command.add_argument("file")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
