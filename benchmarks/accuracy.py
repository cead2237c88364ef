"""What a fit finds on ODEBench, Strogatz and synthetic systems: default settings, choice on the data.

    python benchmarks/accuracy.py [--set odebench strogatz synthetic] [--cells 0,0 .05,.5] [--without network]
                                  [--jobs 2] [--budget 20] [--out FILE]

A cell is sigma,rho: noise first, then dropping (the paper's protocol).  Every trajectory is fitted alone, in
its own units; the figures are the share of fits with R2 > 0.9 on the clean dense trajectory from its clean
initial value (reconstruction) and on the one from the other initial value (generalization), how often the
chosen system has the true structure, the median complexity, and CPU seconds.  By source and dimension, too.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np

from odefinder.bench import odebench, strogatz
from odefinder.bench.cases import synthetic_cases
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.bench.sets import HELD_OUT_SEED
from odefinder.canonical import skeleton
from odefinder.corruption import corrupt
from odefinder.data import from_arrays
from odefinder.errors import OdefinderError
from odefinder.inference.find import Finding, find
from odefinder.program import Program


@dataclass(frozen=True)
class Task:
    """A true system, and one of its trajectories to be fitted."""

    name: str
    truth: Program
    t: np.ndarray
    clean: np.ndarray  # (points, D)
    other: np.ndarray  # from another initial value
    seed: int


@dataclass(frozen=True)
class Result:
    """What came of a task."""

    name: str
    dimension: int
    reconstruction: float
    generalization: float
    same_structure: bool
    complexity: int
    source: str
    seconds: float
    equations: str


def bench_tasks(name: str) -> list[Task]:
    """Every initial value of a benchmark; it generalizes to the next one."""
    systems, points = (odebench(), 150) if name == "odebench" else (strogatz(), 100)
    t = np.linspace(0.0, 10.0, points)
    tasks = []
    for number, system in enumerate(systems):
        program = system.system().program
        paths = system.trajectories(t)
        for k, path in enumerate(paths):
            label = f"{system.id} from {k + 1}"
            tasks.append(Task(label, program, t, path, paths[(k + 1) % len(paths)], 1000 * (number + 1) + k))
    return tasks


def synthetic_tasks(count: int) -> list[Task]:
    """Systems drawn from the prior with a seed of their own, as many of each dimension."""
    cases = synthetic_cases(count, seed=HELD_OUT_SEED)
    return [Task(str(k), c.truth, c.dense_times, c.dense, c.other, k) for k, c in enumerate(cases)]


def run(task: Task, sigma: float, rho: float, how: Finding) -> Result:
    """Fit one trajectory and compare the choice with the truth."""
    t, x = corrupt(task.t, task.clean, sigma=sigma, rho=rho, seed=task.seed)
    begin = time.process_time()
    try:
        chosen = find(from_arrays(x, t), how).explanations[0]
    except OdefinderError as error:
        spent = time.process_time() - begin
        return Result(task.name, x.shape[1], -np.inf, -np.inf, False, 0, "none", spent, str(error))
    seconds = time.process_time() - begin
    program = chosen.system.program
    return Result(
        task.name,
        x.shape[1],
        trajectory_r2(program, task.clean[0], task.t, task.clean),
        trajectory_r2(program, task.other[0], task.t, task.other),
        skeleton(program) == skeleton(task.truth),
        program.complexity,
        chosen.source,
        seconds,
        "; ".join(str(chosen.system).splitlines()),
    )


def figures(results: list[Result]) -> dict[str, float]:
    """Shares in %, and medians."""

    def share(values: list[bool]) -> float:
        return round(100.0 * float(np.mean(values)), 1)

    return {
        "fits": len(results),
        "reconstruction": share([r.reconstruction > GOOD for r in results]),
        "generalization": share([r.generalization > GOOD for r in results]),
        "true structure": share([r.same_structure for r in results]),
        "complexity": float(np.median([r.complexity for r in results])),
        "median s": round(float(np.median([r.seconds for r in results])), 2),
        "95 % s": round(float(np.percentile([r.seconds for r in results], 95)), 2),
    }


def show(title: str, results: list[Result]) -> dict[str, dict[str, float]]:
    """Print the figures of all results, and by dimension."""
    parts = {"all": results}
    for dimension in sorted({r.dimension for r in results}):
        parts[f"{dimension}-D"] = [r for r in results if r.dimension == dimension]
    report = {part: figures(chosen) for part, chosen in parts.items()}
    for part, content in report.items():
        print(f"{title:22} {part:4}", "  ".join(f"{key} {value:g}" for key, value in content.items()))
    sources = [r.source for r in results]
    counts = ", ".join(f"{name} {sources.count(name)}" for name in sorted(set(sources)))
    print(f"{title:22} chosen from: {counts}", flush=True)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--set", nargs="+", default=["odebench"], choices=["odebench", "strogatz", "synthetic"]
    )
    parser.add_argument("--cells", nargs="+", default=["0,0", "0,.5", ".05,0", ".05,.5"], help="sigma,rho")
    parser.add_argument("--without", nargs="*", default=[], choices=["network", "sparse"])
    parser.add_argument("--cases", type=int, default=20, help="synthetic systems per dimension")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds a fit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a JSON file with the figures and every fit")
    options = parser.parse_args()
    how = Finding(
        time_budget=options.budget,
        network="network" not in options.without,
        sparse="sparse" not in options.without,
    )
    content = {}
    for name in options.set:
        tasks = synthetic_tasks(options.cases) if name == "synthetic" else bench_tasks(name)
        for cell in options.cells:
            sigma, rho = map(float, cell.split(","))
            parallel = joblib.Parallel(n_jobs=options.jobs)
            results = parallel(joblib.delayed(run)(task, sigma, rho, how) for task in tasks)
            report = show(f"{name} {sigma:g},{rho:g}", results)
            content[f"{name} {cell}"] = {"figures": report, "fits": [vars(r) for r in results]}
            if options.out:
                options.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
