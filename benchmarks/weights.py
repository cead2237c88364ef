"""What a weight means: how often first systems of this weight predict a trajectory from elsewhere.

    python benchmarks/objective.py fit --sets benchmarks/sets/textbook.json --out runs/new.jsonl
    python benchmarks/weights.py runs/new.jsonl [--figure docs/images/weights.png]

Reads results of `objective.py` and prints the reliability curve, for synthetic and textbook systems and each
kind of noise: of the first systems with a weight near w, the share with R2 > 0.9 from another initial value
should be w.  The expected calibration error is the mean distance between the two over all fits, by bins of
the weight.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from objective import rows_of

BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0 + 1e-9)
NOISES = {"c": "clean", "m": "multiplicative", "a": "additive"}


def groups_of(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Weights and whether they were deserved (fits, 2), by where the systems come from and by noise."""
    groups: dict[str, list[tuple[float, bool]]] = {}
    for row in rows:
        if "weights" in row:
            origin = "textbook" if row["set"] == "textbook" else "synthetic"
            one = row["weights"][0], row["generalizes"][0]
            for label in ("all", origin, f"{origin}, {NOISES[row['cell'][0]]}"):
                groups.setdefault(label, []).append(one)
    return {label: np.array(pairs, dtype=float) for label, pairs in sorted(groups.items())}


def curve(pairs: np.ndarray) -> list[tuple[float, float, int]]:
    """Mean weight, share that was right and number of fits in each bin that is not empty."""
    weight, right = pairs.T
    bins = [(weight >= low) & (weight < high) for low, high in pairwise(BOUNDS)]
    return [(weight[own].mean(), right[own].mean(), int(own.sum())) for own in bins if own.any()]


def calibration_error(pairs: np.ndarray) -> float:
    """The expected calibration error."""
    return sum(abs(weight - right) * count for weight, right, count in curve(pairs)) / len(pairs)


def draw(groups: dict[str, np.ndarray], path: Path) -> None:
    """The reliability curves of synthetic and textbook systems."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.2, 4.0), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for label in ("synthetic", "textbook"):
        if label in groups:
            weight, right, count = (np.array(values) for values in zip(*curve(groups[label]), strict=True))
            error = np.sqrt(np.maximum(right * (1 - right), 0.25 / count) / count)
            axes.errorbar(
                weight, right, error, marker="o", capsize=2, label=f"{label}, {len(groups[label])} fits"
            )
    axes.set(
        xlabel="weight of the first system", ylabel="share that generalizes", xlim=(0, 1), ylim=(0, 1.02)
    )
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="a file that objective.py wrote")
    parser.add_argument("--figure", type=Path, default=None)
    options = parser.parse_args()
    groups = groups_of(list(rows_of(options.results)))
    for label, pairs in groups.items():
        parts = " ".join(f"{weight:.2f}:{right:.2f}({count})" for weight, right, count in curve(pairs))
        print(f"{label:26} {len(pairs):5} fits, error {100 * calibration_error(pairs):4.1f} points  {parts}")
    if options.figure is not None:
        draw(groups, options.figure)


if __name__ == "__main__":
    main()
