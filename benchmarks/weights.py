"""What a weight means: how often systems of this weight are right, on synthetic noisy data.

    python benchmarks/weights.py [--cases 30] [--sigma .05] [--rho .5] [--dimensions 1,2,3]

Fits trajectories of systems that nothing was trained on, and prints, by the weight of the first system, how
often it predicts a trajectory from another initial value (R2 > 0.9) and how often its structure is true.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

from odefinder.bench.cases import synthetic_cases
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.data import from_arrays
from odefinder.data.corruption import corrupt
from odefinder.expressions.canonical import skeleton
from odefinder.inference.find import FindSettings, find

SEED = 5_772_156
BOUNDS = (0.0, 0.4, 0.7, 0.9, 1.0 + 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=30, help="systems of each dimension")
    parser.add_argument("--sigma", type=float, default=0.05)
    parser.add_argument("--rho", type=float, default=0.5)
    parser.add_argument("--dimensions", default="1,2,3")
    options = parser.parse_args()
    dimensions = {int(part) for part in options.dimensions.split(",")}
    rows = []  # weight, generalizes, true structure
    for number, case in enumerate(synthetic_cases(options.cases, seed=SEED)):
        if case.dimension in dimensions:
            t, x = corrupt(case.dense_times, case.dense, sigma=options.sigma, rho=options.rho, seed=number)
            first = find(from_arrays(x, t), FindSettings(time_budget=20.0)).explanations[0]
            program = first.system.program
            r2 = trajectory_r2(program, case.other[0], case.dense_times, case.other)
            rows.append((first.weight, r2 > GOOD, skeleton(program) == skeleton(case.truth)))
    weight, generalizes, same = np.array(rows, dtype=float).T
    print(f"{'weight':>10} {'fits':>5} {'generalize':>11} {'true structure':>15}")
    parts = {f"{low:.1f} to {high:.1f}": (weight >= low) & (weight < high) for low, high in pairwise(BOUNDS)}
    parts[f"mean {weight.mean():.2f}"] = np.ones(len(weight), bool)
    for label, own in parts.items():
        if own.any():
            shares = f"{100 * generalizes[own].mean():10.0f}% {100 * same[own].mean():14.0f}%"
            print(f"{label:>10} {own.sum():5d} {shares}")


if __name__ == "__main__":
    main()
