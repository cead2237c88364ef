"""A soak: thousands of fits in one process.  Is memory flat, and is the last fit as fast as the first?

    python benchmarks/soak.py --fits 3000 --out docs/results/soak.csv --figure docs/images/soak.svg

Sizes, roles and noise are mixed.  Memory after the first 300 fits must stay within 50 MB.  In the end the
first fits are done once more, each in this process and in a new one, by turns: whatever else the machine does
slows both.
"""

from __future__ import annotations

import argparse
import csv
import gc
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

WARM = 300  # fits after which memory counts
ALLOWED = 50.0  # MB by which it may grow from there
PART = 100  # fits of which a median is taken
WARMING = 20  # fits of a new process that do not count


def task(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the estimator, and what `fit` gets."""
    rng = np.random.default_rng(number)
    points, kind = int(rng.choice([8, 20, 60, 150])), number % 8
    t = np.sort(rng.uniform(0.0, 6.0, points)) if kind == 1 else np.linspace(0.0, 6.0, points)
    rate = rng.uniform(0.3, 1.5)
    states = np.column_stack([np.exp(-rate * t), np.cos(rate * t), np.sin(rate * t)])[:, : 1 + number % 3]
    states = states + rng.choice([0.0, 0.0, 0.03]) * rng.normal(size=states.shape)
    parameters: dict[str, Any] = {"network": kind == 0, "time_budget": 0.2, "samples": 10}
    given: dict[str, Any] = {"X": states, "t": t}
    if kind == 2:
        states[::5, 0] = np.nan
    elif kind == 3:
        given = {"X": [states, 1.1 * states], "t": [t, t]}
    elif kind == 4:
        parameters["order"] = 2
    elif kind == 5:
        given["inputs"] = {"u": np.sin(t)}
    elif kind == 6:
        given["conditions"] = {"temperature": 300.0 + number % 5}
    elif kind == 7:
        parameters["guess"] = "; ".join(f"x{j}' = -x{j}" for j in range(states.shape[1]))
    return parameters, given


def memory() -> float:
    """What this process holds, MB."""
    text = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024.0 for line in text.splitlines() if line.startswith("VmRSS"))


def fit(number: int) -> float:
    """CPU seconds of a fit."""
    from odefinder import ODEFormer
    from odefinder.errors import OdefinderError

    parameters, given = task(number)
    begin = time.process_time()
    try:
        model = ODEFormer(**parameters).fit(**given)
        str(model)
    except OdefinderError as problem:
        print(f"fit {number}: {problem}", file=sys.stderr)
    return time.process_time() - begin


def answer() -> None:
    """Fit what is asked for on the standard input."""
    for line in sys.stdin:
        print(fit(int(line)), flush=True)


def old_and_new() -> tuple[float, float]:
    """Median CPU seconds of the first fits in this process and in a new one."""
    command = [sys.executable, __file__, "--answer"]
    times = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None
        for number in range(WARMING + PART):
            print(number, file=asked, flush=True)
            times.append((float(answered.readline()), fit(number)))
        asked.close()
    new, old = np.median(times[WARMING:], axis=0)
    return float(old), float(new)


def soak(count: int, out: Path | None) -> list[tuple[int, float, float]]:
    """Number, memory and CPU seconds of each fit."""
    rows: list[tuple[int, float, float]] = []
    for number in range(count):
        used = fit(number)
        if number % 10 == 0:
            gc.collect()
        rows.append((number, memory(), used))
        if number % PART == PART - 1:
            seconds = float(np.median([row[2] for row in rows[-PART:]]))
            print(f"{number + 1} fits: {rows[-1][1]:.0f} MB, {seconds:.3f} s CPU", flush=True)
            if out is not None:
                write(rows, out)
    return rows


def write(rows: list[tuple[int, float, float]], out: Path) -> None:
    """A row for every tenth fit."""
    with out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["fit", "memory_mb", "cpu_s"])
        table.writerows((number, f"{mb:.1f}", f"{cpu:.3f}") for number, mb, cpu in rows[::10])


def draw(rows: list[tuple[int, float, float]], path: Path) -> None:
    """Memory over fits."""
    from matplotlib.figure import Figure

    from odefinder.output.style import save

    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.plot([row[0] for row in rows], [row[1] for row in rows], linewidth=1.0)
    axes.axvline(WARM, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="fits in one process", ylabel="memory (MB)", ylim=(0.0, None))
    save(figure, path)


def main() -> None:
    """Soak, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=3000)
    parser.add_argument("--out", type=Path, help="a CSV file")
    parser.add_argument("--figure", type=Path, help="an image")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer()
        return
    rows = soak(options.fits, options.out)
    if options.out is not None:
        write(rows, options.out)
    if options.figure is not None:
        draw(rows, options.figure)
    later = [row[1] for row in rows[WARM:]] or [rows[-1][1]]
    grown = max(later) - later[0]
    old, new = old_and_new()
    print(f"{len(rows)} fits; from fit {WARM} on memory grew by {grown:.1f} MB (allowed: {ALLOWED:g})")
    print(f"median CPU seconds of a fit: {old:.3f} now, {new:.3f} in a new process")
    sys.exit(grown > ALLOWED)


if __name__ == "__main__":
    main()
