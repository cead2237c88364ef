"""What a weight means: how often first systems of this weight predict a trajectory from elsewhere.

    python benchmarks/objective.py fit --sets benchmarks/sets/textbook.json --out runs/new.jsonl
    python benchmarks/weights.py runs/new.jsonl [--figure docs/images/weights.png] [--fit]

Reads results of `objective.py` and prints the reliability curve, for synthetic and other systems and each
kind of noise: of the first systems with a weight near w, the share with R2 > 0.9 from another initial value
should be w.  The expected calibration error is the mean distance between the two over all fits, by bins of
the weight.  `--fit` prints other numbers for `choose/weights.py`, by logistic regression on the same fits.
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
            origin = row["set"] if row["set"] in ("odebench", "textbook") else "synthetic"
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


# ---------------------------------------------------------------------------------------- other numbers

FEATURES = ("agreement", "excess", "exactness", "one path")


def fit(rows: list[dict[str, Any]]) -> None:
    """Print the numbers of the weights, and what each of them is worth.

    Chances are those of tenfold cross-validation in which no system is in two folds.  Searches that time
    ended are left out: their weights are limited.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    rows = [row for row in rows if "evidence" in row and not any("time" in note for note in row["notes"])]
    known = np.array([row["evidence"] for row in rows])
    right = np.array([row["generalizes"][0] for row in rows])
    systems = [f"{row['set']} {row['system']}" for row in rows]
    model = LogisticRegression(C=10.0)

    def nats(columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
        chance = cross_val_predict(
            model, known[:, columns], right, cv=GroupKFold(10), groups=systems, method="predict_proba"
        )[:, 1]
        return chance, np.log(np.where(right, chance, 1.0 - chance))

    every = list(range(len(FEATURES)))
    chance, gained = nats(every)
    model.fit(known, right)
    print(f"{len(rows)} fits: base {model.intercept_[0]:.2f}; nats {-gained.mean():.3f} per fit; without")
    for k, (name, factor) in enumerate(zip(FEATURES, model.coef_[0], strict=True)):
        lost = gained - nats([other for other in every if other != k])[1]
        error = lost.std() / np.sqrt(len(lost))
        print(f"  {name:12} {factor:6.2f}   {lost.mean():+.3f} ± {error:.3f} nats")
    textbook, clean = (np.array([row[name] == what for row in rows])
                       for name, what in (("set", "textbook"), ("cell", "clean")))  # fmt: skip
    for label, own in (
        ("all", np.ones(len(rows), bool)), ("synthetic", ~textbook), ("textbook", textbook),
        ("clean", clean), ("noisy", ~clean),
    ):  # fmt: skip
        pairs = np.stack([chance[own], right[own]], axis=1)
        sure = chance[own] > 0.9
        print(
            f"{label:10} {own.sum():4} fits, weight {chance[own].mean():.2f}, right {right[own].mean():.2f}, "
            f"error {100 * calibration_error(pairs):.1f} points; above 0.9 {sure.sum()}, "
            f"right {100 * right[own][sure].mean() if sure.any() else 0:.0f} %"
        )
    _show_present(known, right, clean)


def _show_present(known: np.ndarray, right: np.ndarray, clean: np.ndarray) -> None:
    """What exactness does with the numbers as they are."""
    from odefinder.inference.choose.weights import BASE, FACTORS

    place = FEATURES.index("exactness")
    factors = np.array(FACTORS)
    with_it = 1.0 / (1.0 + np.exp(-BASE - known @ factors))
    without = 1.0 / (1.0 + np.exp(-BASE - np.delete(known, place, 1) @ np.delete(factors, place)))
    gain = np.log(np.where(right, with_it / without, (1.0 - with_it) / (1.0 - without)))
    for label, own in (("each fit", np.ones(len(gain), bool)), ("each clean fit", clean)):
        print(f"present numbers: exactness gains {gain[own].mean():.3f} ± "
              f"{gain[own].std() / np.sqrt(own.sum()):.3f} nats for {label}")  # fmt: skip
    print("exactness, clean data   fits  right  weight with it, without")
    for low, high in ((0.0, 1e-9), (1e-9, 0.5), (0.5, 1.0), (1.0, 2.0)):
        own = clean & (known[:, place] >= low) & (known[:, place] < high)
        if own.any():
            print(
                f"{low:4.2f} to {min(high, 1.0):4.2f}            {own.sum():4}  {right[own].mean():5.2f}  "
                f"{with_it[own].mean():14.3f}, {without[own].mean():.3f}"
            )


def draw(groups: dict[str, np.ndarray], path: Path) -> None:
    """The reliability curves of synthetic and other systems."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.2, 4.0), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for label in ("synthetic", "textbook", "odebench"):
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
    parser.add_argument("--fit", action="store_true", help="other numbers for the weights")
    options = parser.parse_args()
    rows = list(rows_of(options.results))
    groups = groups_of(rows)
    for label, pairs in groups.items():
        parts = " ".join(f"{weight:.2f}:{right:.2f}({count})" for weight, right, count in curve(pairs))
        print(f"{label:26} {len(pairs):5} fits, error {100 * calibration_error(pairs):4.1f} points  {parts}")
    if options.fit:
        fit(rows)
    if options.figure is not None:
        draw(groups, options.figure)


if __name__ == "__main__":
    main()
