"""How good fits are under both kinds of noise, and what changes between two versions of the code.

    python benchmarks/objective.py draw --prior plain --cases 50 --out runs/plain.json
    python benchmarks/objective.py fit --sets runs/plain.json --out runs/new.jsonl
    python benchmarks/objective.py show runs/old.jsonl runs/new.jsonl

`draw` writes synthetic systems as a set of the benchmark.  `fit` fits every system in every cell of noise,
in random order, so that a run that is stopped anywhere is a fair sample; the same command goes on.  Which
version is measured is what PYTHONPATH says.  Additive noise is relative to each variable's standard
deviation, multiplicative noise to the values.  `show` prints the shares with R2 > 0.9 and, for two files,
what was gained and lost on the fits that both have.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CELLS = "clean,m.01,m.03,m.05,a.01,a.03,a.05"
SHOWN = 6  # systems of a result that are judged
SEED = 27_182_818


class Job(NamedTuple):
    """One trajectory to be fitted."""

    set: str
    system: str
    initial: int
    cell: str  # "clean", or m or a with sigma, such as a.03
    path: str  # of the set

    @property
    def key(self) -> str:
        return "|".join(map(str, self[:4]))

    @property
    def seed(self) -> int:
        """Of the noise, and of the order of the jobs."""
        return int.from_bytes(hashlib.sha256(f"{SEED}|{self.key}".encode()).digest()[:4], "big") >> 1


def corrupted(x: np.ndarray, cell: str, seed: int) -> np.ndarray:
    """The clean states (N, D) with the noise of a cell."""
    if cell == "clean":
        return x
    noise = float(cell[1:]) * np.random.default_rng(seed).normal(size=x.shape)
    return x * (1.0 + noise) if cell[0] == "m" else x + noise * x.std(axis=0)


# ---------------------------------------------------------------------------------------- sets


def draw(options: argparse.Namespace) -> None:
    """Write systems from a prior as a set: each with the observed start and another one."""
    from odefinder.bench.cases import synthetic_cases
    from odefinder.prior.presets import prior_preset
    from odefinder.system import ODESystem

    dimensions = {int(part) for part in options.dimensions.split(",")}
    entries = []
    for number, case in enumerate(
        synthetic_cases(options.cases, prior=prior_preset(options.prior), seed=options.seed)
    ):
        if case.dimension in dimensions:
            system = ODESystem(case.truth, tuple(f"x{j}" for j in range(case.dimension)))
            entries.append(
                {
                    "id": f"{options.prior}-{number}",
                    "equations": system.to_text().splitlines(),
                    "initial_values": [case.dense[0].tolist(), case.other[0].tolist()],
                    "t_end": float(case.dense_times[-1] - case.dense_times[0]),
                }
            )
    Path(options.out).write_text(json.dumps(entries, indent=1), encoding="utf-8")
    print(f"{len(entries)} systems")


def jobs_of(paths: str, cells: str, initials: str) -> list[Job]:
    """Everything to be fitted, in random order."""
    from odefinder.bench.sets import load_set, set_title

    jobs = []
    most = [int(part) for part in initials.split(",")]
    for k, path in enumerate(paths.split(",")):
        for system in load_set(path):
            starts = min(system.fitted, most[min(k, len(most) - 1)])
            jobs += [
                Job(set_title(path), system.id, k, cell, path)
                for k in range(starts)
                for cell in cells.split(",")
            ]
    return sorted(jobs, key=lambda job: job.seed)


# ---------------------------------------------------------------------------------------- fits


def fit(options: argparse.Namespace) -> None:
    """Fit what the file of results lacks."""
    import joblib

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # inherited by the processes
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    known = {row["key"] for row in rows_of(out)} if out.exists() else set()
    part, parts = map(int, options.share.split("/"))
    jobs = jobs_of(options.sets, options.cells, options.initials)[part - 1 :: parts][: options.limit]
    waiting = [job for job in jobs if job.key not in known]
    parallel = joblib.Parallel(n_jobs=options.processes, return_as="generator_unordered", batch_size=1)
    with out.open("a", encoding="utf-8") as file:
        for row in parallel(joblib.delayed(fitted)(job, options.budget) for job in waiting):
            file.write(json.dumps(row) + "\n")
            file.flush()


def fitted(job: Job, budget: float | None) -> dict[str, Any]:
    """The judgement of one fit."""
    from odefinder import ODEFormer
    from odefinder.bench.metrics import GOOD, trajectory_r2
    from odefinder.bench.protocol import same_structure
    from odefinder.errors import OdefinderError

    system = _systems(job.path)[job.system]
    paths = system.trajectories
    clean, other = paths[job.initial], paths[(job.initial + 1) % len(paths)]
    model = ODEFormer() if budget is None else ODEFormer(time_budget=budget)
    row: dict[str, Any] = {"key": job.key, **job._asdict(), "dimension": clean.shape[1]}
    begin, cpu = time.perf_counter(), time.process_time()
    try:
        with _evidence_kept() as evidence:
            model.fit(corrupted(clean, job.cell, job.seed), system.t)
    except OdefinderError as problem:
        return {**row, "error": str(problem)}
    if evidence:  # for `weights.py --fit`
        row["evidence"] = [round(float(value), 4) for value in evidence[0]]
    row |= {"wall_s": time.perf_counter() - begin, "cpu_s": time.process_time() - cpu}
    table = model.equations_
    programs = [one.program for one in table["system"][:SHOWN]]
    return row | {
        "reconstruction": trajectory_r2(programs[0], clean[0], system.t, clean) > GOOD,
        "generalizes": [bool(trajectory_r2(p, other[0], system.t, other) > GOOD) for p in programs],
        "same": [same_structure(program, system.program) for program in programs],
        "weights": [round(float(weight), 4) for weight in table["weight"][:SHOWN]],
        "r2": float(table["r2"][0]),
        "complexity": int(table["complexity"][0]),
        "notes": model.notes_,
        "equations": str(model.system_),
    }


@contextmanager
def _evidence_kept() -> Iterator[list[np.ndarray]]:
    """What the weights of the fits in this block depend on."""
    from odefinder.inference.choose import weights

    kept: list[np.ndarray] = []
    usual = weights.evidence

    def keeping(*known: float) -> np.ndarray:
        kept.append(usual(*known))
        return kept[-1]

    weights.evidence = keeping
    try:
        yield kept
    finally:
        weights.evidence = usual


_loaded: dict[str, dict[str, Any]] = {}


def _systems(path: str) -> dict[str, Any]:
    """The systems of a set, read once in a process; the first fit is one that nobody times."""
    if path not in _loaded:
        from odefinder import ODEFormer
        from odefinder.bench.sets import load_set

        if not _loaded:
            t = np.linspace(0.0, 1.0, 20)
            ODEFormer(samples=1).fit(np.exp(-t)[:, None], t)
        _loaded[path] = {one.id: one for one in load_set(path)}
    return _loaded[path]


# ---------------------------------------------------------------------------------------- tables


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The results in a file; the last line of a stopped run may be incomplete."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def show(options: argparse.Namespace) -> None:
    """Print the shares of one file, or of two and what changed between them."""
    files = [{row["key"]: row for row in rows_of(Path(path))} for path in options.files]
    common = [key for key in files[0] if all(key in rows for rows in files)]
    groups: dict[str, list[str]] = {}
    for key in common:
        row = files[0][key]
        origin = "textbook" if row["set"] == "textbook" else "synthetic"
        for label in (
            f"{origin} {row['cell']}", f"{origin} {row['dimension']}-D", f"{origin} noisy", f"{origin} all"
        ):  # fmt: skip
            if not (label.endswith("noisy") and row["cell"] == "clean"):
                groups.setdefault(label, []).append(key)
    print(f"{'':20} {'fits':>5}  " + "  ".join(f"{name:>34}" for name in options.files))
    titles = f"{'rec':>6} {'gen':>6} {'any':>4} {'w':>4} {'cpu':>5} {'95%':>5}"
    print(f"{'':20} {'':>5}  " + "  ".join(f"{titles:>34}" for _ in files) + "   gen gained/lost, rec")
    for label, keys in sorted(groups.items()):
        parts = [_shares([rows[key] for key in keys]) for rows in files]
        line = f"{label:20} {len(keys):5}  " + "  ".join(parts)
        if len(files) == 2:
            line += "   " + ", ".join(
                _changes(files, keys, good) for good in (_generalizes, lambda row: row.get("reconstruction"))
            )
        print(line)


def _generalizes(row: dict[str, Any]) -> bool:
    return bool(row.get("generalizes", [False])[0])


def _shares(rows: list[dict[str, Any]]) -> str:
    good = np.array([_generalizes(row) for row in rows])
    rec = np.mean([bool(row.get("reconstruction")) for row in rows])
    some = np.mean([any(row.get("generalizes", [])) for row in rows])
    weight = np.mean([row.get("weights", [0.0])[0] for row in rows])
    cpu = np.quantile([row.get("cpu_s", 0.0) for row in rows], [0.5, 0.95])
    error = 100 * np.sqrt(good.mean() * (1 - good.mean()) / len(good))
    return (
        f"{100 * rec:6.1f} {100 * good.mean():5.1f}±{error:1.0f} {100 * some:4.0f} {weight:4.2f} "
        f"{cpu[0]:5.2f} {cpu[1]:5.2f}"
    )


def _changes(
    files: list[dict[str, dict[str, Any]]], keys: list[str], good: Callable[[dict[str, Any]], Any]
) -> str:
    old, new = (np.array([bool(good(rows[key])) for key in keys]) for rows in files)
    gained, lost = int((new & ~old).sum()), int((old & ~new).sum())
    difference = 100 * (gained - lost) / len(keys)
    return f"+{gained}/-{lost} ({difference:+.1f}±{100 * np.sqrt(gained + lost) / len(keys):.1f})"


def add_fit_options(command: argparse.ArgumentParser, budget: float | None) -> None:
    """What is fitted, where to, and how."""
    command.add_argument("--sets", required=True, help="files, or odebench and the like")
    command.add_argument("--cells", default=CELLS)
    command.add_argument("--initials", default="1", help="starts of each system that are fitted, by set")
    command.add_argument("--out", required=True)
    command.add_argument("--processes", type=int, default=1)
    command.add_argument("--limit", type=int, default=None, help="of jobs")
    command.add_argument("--budget", type=float, default=budget, help="seconds per fit")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.set_defaults(run=draw)
    command.add_argument("--prior", default="plain")
    command.add_argument("--cases", type=int, default=50, help="systems of each dimension")
    command.add_argument("--dimensions", default="1,2,3,4")
    command.add_argument("--seed", type=int, default=SEED)
    command.add_argument("--out", required=True)
    command = commands.add_parser("fit")
    command.set_defaults(run=fit)
    add_fit_options(command, budget=None)
    command.add_argument("--share", default="1/1", help="k/n: only every n-th job, from the k-th")
    command = commands.add_parser("show")
    command.set_defaults(run=show)
    command.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
