"""Lyapunov exponents of the chaotic set, next to those of its source.

    python benchmarks/exponents.py [--systems lorenz,rossler] [--periods 1000] [--out FILE.csv]

The source (dysts) estimated its exponents once for all, from shorter runs; +- is the standard error of ours.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from odefinder.bench.chaotic.flows import read_flows
from odefinder.numerics.chaos.lyapunov import kaplan_yorke, lyapunov_spectrum

SET = Path(__file__).parent / "sets" / "chaotic.json"
COLUMNS = ("system", "largest", "error", "dimension", "chaotic", "source_largest", "source_dimension")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", help="ids, with commas; default: all")
    parser.add_argument("--periods", type=float, default=1000.0)
    parser.add_argument("--out", type=Path, help="a CSV file")
    options = parser.parse_args()
    wanted = set(options.systems.split(",")) if options.systems else None
    rows = []
    print(f"{'':22} {'largest':>9} {'+-':>8} {'source':>9} {'ratio':>6} {'KY':>6} {'source':>7}  chaotic")
    for flow in read_flows(SET):
        if wanted is not None and flow.id not in wanted:
            continue
        found = lyapunov_spectrum(flow.program, flow.start, flow.period, periods=options.periods)
        source, dimension = max(flow.lyapunov), kaplan_yorke(flow.lyapunov)
        print(
            f"{flow.id:22} {found.largest:9.4g} {found.errors[0]:8.2g} {source:9.4g} "
            f"{found.largest / source:6.2f} {found.dimension:6.3f} {dimension:7.3f}  {found.chaotic}",
            flush=True,
        )
        rows.append(
            (flow.id, f"{found.largest:.4g}", f"{found.errors[0]:.2g}", f"{found.dimension:.4g}",
             found.chaotic, source, f"{dimension:.4g}")
        )  # fmt: skip
    ratios = np.array([float(row[1]) / row[5] for row in rows])
    print(
        f"{len(rows)} systems: {sum(row[4] for row in rows)} chaotic; within 20 % of the source "
        f"{np.count_nonzero(np.abs(ratios - 1.0) < 0.2)}, within a factor of 2 "
        f"{np.count_nonzero((ratios > 0.5) & (ratios < 2.0))}"
    )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
