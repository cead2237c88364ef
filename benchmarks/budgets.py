"""Does a fit keep to its time and to reasonable memory?  A grid of sizes, budgets and threads.

    python benchmarks/budgets.py                    # the whole grid, about a quarter of an hour
    python benchmarks/budgets.py --quick            # a dozen of its cases
    python benchmarks/budgets.py --out budgets.csv  # and a row for each

A fit must end within 1.5 times its budget and a second, with one system.  Cases run one after the other in
one process, which is replaced where it does not answer; memory is the peak of that process.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HANG = 120.0  # seconds beyond the budget after which a case is given up
STARTING = 1200.0  # seconds that imports and compilation may take


class Case(NamedTuple):
    """One fit."""

    points: int
    variables: int
    budget: float  # seconds
    noise: float = 0.0
    threads: int = 1
    trajectories: int = 1
    sparse: bool = False  # whether the last variable has four values only

    @property
    def limit(self) -> float:
        """Seconds that the fit may take."""
        return 1.5 * self.budget + 1.0


def grid() -> Iterator[Case]:
    """From 2 to 300 variables, 5 to 1,000,000 points, budgets of 0.1 to 60 s, 1 to 64 threads."""
    sizes = (
        (5, 2), (100, 2), (600, 4), (5000, 3), (100_000, 6), (1_000_000, 2), (200, 20), (5000, 10),
        (50, 60), (200, 100), (20, 300), (5000, 300),
    )  # fmt: skip
    for points, variables in sizes:
        for budget in (0.1, 2.0):
            for noise in (0.0, 0.1):
                yield Case(points, variables, budget, noise)
    for count, points in ((300, 10), (3000, 4), (10_000, 4)):
        yield Case(points, 2, 2.0, 0.1, trajectories=count)
    yield Case(100_000, 2, 2.0, 0.05, sparse=True)
    yield Case(1_000_000, 2, 2.0, 0.05, sparse=True)
    for threads in (2, 8, 64):
        yield Case(200, 3, 1.0, 0.05, threads)
    for points, variables in ((200, 3), (5000, 10), (20, 300)):
        yield Case(points, variables, 10.0, 0.1)
    yield Case(5000, 20, 60.0, 0.1)


def quick() -> Iterator[Case]:
    """A dozen cases, among them those that once took minutes."""
    yield Case(5, 2, 0.1)
    yield Case(5000, 3, 0.1, 0.05)
    yield Case(200, 20, 2.0, 0.1)
    yield Case(5000, 10, 2.0, 0.1)
    yield Case(20, 300, 2.0)
    yield Case(200, 100, 0.1, 0.1)
    yield Case(5000, 300, 2.0, 0.1)
    yield Case(100_000, 6, 2.0, 0.1)
    yield Case(1_000_000, 2, 2.0, 0.05, sparse=True)
    yield Case(10, 2, 2.0, 0.1, trajectories=300)
    yield Case(4, 2, 2.0, 0.1, trajectories=10_000)
    yield Case(200, 3, 1.0, 0.05, threads=64)


def data_of(case: Case) -> tuple[Any, Any]:
    """Waves of different frequencies."""
    rng = np.random.default_rng(0)

    def waves(number: int) -> tuple[Any, Any]:
        t = np.linspace(0.0, 20.0 if case.trajectories == 1 else 3.0, case.points)
        speed = 1.0 + 0.1 * np.arange(case.variables)
        states = np.sin(t[:, None] * speed + np.arange(case.variables)) + 0.001 * number
        return states + case.noise * rng.normal(size=states.shape), t

    runs = [waves(number) for number in range(case.trajectories)]
    if case.sparse:
        states = runs[0][0]
        seen = 1 + np.arange(4) * (case.points // 4)
        kept = states[seen, -1]
        states[:, -1] = np.nan
        states[seen, -1] = kept
    return runs[0] if len(runs) == 1 else ([x for x, _ in runs], [t for _, t in runs])


def peak() -> float:
    """The most memory that this process had since the last call, MB."""
    text = Path("/proc/self/status").read_text()
    highest = next(int(line.split()[1]) / 1024.0 for line in text.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return highest


def work() -> None:
    """Answer cases, a line of JSON each."""
    from odefinder import ODEFormer

    ODEFormer(time_budget=1.0).fit(np.exp(-np.arange(5.0)), np.arange(5.0))  # compiles and loads everything
    print("ready", flush=True)
    for line in sys.stdin:
        case = Case(**json.loads(line))
        X, t = data_of(case)
        peak()
        begin, cpu = time.perf_counter(), time.process_time()
        try:
            model = ODEFormer(time_budget=case.budget, threads=case.threads).fit(X, t)
            what = f"R2 {model.equations_['r2'][0]:.3g}, {len(model.equations_)} systems"
        except Exception as problem:
            what = f"{type(problem).__name__}: {problem}"
        seconds, used = time.perf_counter() - begin, time.process_time() - cpu
        print(json.dumps({"seconds": seconds, "cpu": used, "mb": peak(), "what": what[:120]}), flush=True)


class Worker:
    """The process that fits."""

    def __init__(self) -> None:
        command = [sys.executable, __file__, "--worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.line(STARTING)

    def line(self, seconds: float) -> str:
        """The next line; empty if there is none in time."""
        import select

        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else ""

    def ask(self, case: Case) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(case._asdict()) + "\n")
        self.process.stdin.flush()
        if answer := self.line(case.limit + HANG):
            return dict(json.loads(answer))
        self.process.kill()
        self.process.wait()
        return {"seconds": np.inf, "cpu": np.nan, "mb": np.nan, "what": "no answer"}


def main() -> None:
    """Run the cases and print the worst."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a dozen cases")
    parser.add_argument("--out", type=Path, help="a CSV file with a row for each case")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    rows, worker = [], Worker()
    for case in quick() if options.quick else grid():
        if worker.process.poll() is not None:
            worker = Worker()
        answer = worker.ask(case)
        rows.append({**case._asdict(), **answer, "over": answer["seconds"] - case.limit})
        late = "LATE " if rows[-1]["over"] > 0.0 else ""
        print(
            f"{late}{case.trajectories} x {case.points} points, {case.variables} variables, "
            f"noise {case.noise:g}, {case.threads} threads, budget {case.budget:g} s"
            f"{', sparse' if case.sparse else ''}: "
            f"{answer['seconds']:.2f} s ({answer['cpu']:.2f} s CPU), {answer['mb']:.0f} MB, {answer['what']}",
            flush=True,
        )
        if options.out:
            with options.out.open("w", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
    worker.process.kill()
    late = sum(row["over"] > 0.0 for row in rows)
    worst, largest = max(rows, key=lambda row: row["over"]), max(rows, key=lambda row: row["mb"])
    print(
        f"{len(rows)} cases, {late} late; worst {worst['over']:+.2f} s from its limit; {largest['mb']:.0f} MB"
    )
    for what, row in (("worst", worst), ("largest", largest)):
        print(f"  {what}: {row['points']} points, {row['variables']} variables, budget {row['budget']:g} s")
    sys.exit(late > 0)


if __name__ == "__main__":
    main()
