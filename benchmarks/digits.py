"""Printed equations, read back: do they follow the trajectory of the fit they came from?

    python benchmarks/digits.py [--results docs/results] [--method odefinder]

Takes the exact equations of every committed fit (ODEBench, Strogatz, textbook), prints them with four digits
and with as many as `inference/fit/digits.py` counts, reads both texts back, and simulates all three from the
initial value and at the times of the task.  A text is right if R2 against the fit's own trajectory is above
0.9999, as far as that trajectory exists.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from odefinder import ODESystem
from odefinder.bench.sets import load_set
from odefinder.data.observations import Observations
from odefinder.inference.fit.digits import with_digits
from odefinder.numerics.r2 import variance_weighted_r2

SETS = {"odebench": "odebench", "strogatz": "strogatz", "textbook": "benchmarks/sets/textbook.json"}
RIGHT = 0.9999


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    parser.add_argument("--method", default="odefinder")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a solution that ends early is compared as far as it goes
    print("set        fits  right with 4 digits  right as printed  characters: 4, printed, exact   CPU ms")
    for name, source in SETS.items():
        systems = {one.id: one for one in load_set(source)}
        rows = [json.loads(line) for line in (options.results / name / "results.jsonl").open()]
        rows = [row for row in rows if row["method"] == options.method and row["status"] == "ok"]
        four, printed, lengths, seconds = [], [], [], []
        for row in rows:
            truth = systems[str(row["system"])]
            start, times = np.array(truth.starts[row["initial"] - 1]), truth.t
            fit = ODESystem.from_text(row["equations"])
            curve = fit.simulate(start, times)
            reached = np.isfinite(curve).all(axis=1)
            if reached.sum() < 2:
                continue
            begin = time.process_time()
            shown = with_digits(fit, start[None], Observations.joined([times], [curve]))
            seconds.append(time.process_time() - begin)
            texts = fit.to_text(4), str(shown), fit.to_text()
            for found, text in zip((four, printed), texts, strict=False):
                again = ODESystem.from_text(text).simulate(start, times)
                found.append(_r2(curve[reached], again[reached]) > RIGHT)
            lengths.append([len(text) for text in texts])
            if not printed[-1]:
                print(f"  {name} {row['system']} {row['initial']} {row['sigma']} {row['rho']}: {texts[1]!r}")
        average = "  ".join(f"{one:.0f}" for one in np.mean(lengths, axis=0))
        print(
            f"{name:9}  {len(printed):4}  {100 * np.mean(four):18.1f}%  {100 * np.mean(printed):15.1f}%  "
            f"{average:>29}  {1000 * np.median(seconds):4.0f}",
            flush=True,
        )


def _r2(curve: np.ndarray, again: np.ndarray) -> float:
    if (np.ptp(curve, axis=0) == 0.0).all():  # at rest
        return 1.0 if np.allclose(again, curve, rtol=1e-3) else 0.0
    return variance_weighted_r2(curve, again)


if __name__ == "__main__":
    main()
