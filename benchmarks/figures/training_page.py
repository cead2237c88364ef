"""How the shipped network learned: docs/images/training.png, from the logs in docs/training.

    python benchmarks/figures/training_page.py

docs/training/log.jsonl is the log of the run, the other files are what `benchmarks/validate.py` wrote for
its snapshots.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parents[2] / "docs"
CLEAN, NOISY, SYNTHETIC = "odebench clean", "odebench sigma .05 rho .5", "synthetic"
FIGURES = {
    "true skeleton among the samples": ("skeleton", "#009E73"),
    "reconstruction, decoded": ("decoded reconstruction", "#56B4E9"),
    "reconstruction, fitted": ("fitted reconstruction", "#0072B2"),
    "generalization, decoded": ("decoded generalization", "#E69F00"),
    "generalization, fitted": ("fitted generalization", "#D55E00"),
}


def main() -> None:
    log = [json.loads(line) for line in (DOCS / "training" / "log.jsonl").read_text().splitlines()]
    results = [json.loads(path.read_text()) for path in sorted((DOCS / "training").glob("*.json"))]
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained", sharex=True)
    draw_loss(axes[0, 0], log)
    for axis, name, title in (
        (axes[0, 1], CLEAN, "ODEBench, clean"),
        (axes[1, 0], NOISY, "ODEBench, σ = 0.05, ρ = 0.5"),
    ):
        for label, (key, colour) in FIGURES.items():
            draw_metric(axis, results, name, "all", key, label, colour)
        axis.set_title(title)
    for dimension, colour in zip(range(1, 7), plt.get_cmap("viridis")(np.linspace(0, 0.9, 6)), strict=True):
        part = f"{dimension}-D"
        draw_metric(axes[1, 1], results, SYNTHETIC, part, "fitted generalization", part, colour)
    axes[1, 1].set_title("Synthetic validation: generalization, fitted, by dimension")
    axes[0, 1].legend(fontsize=8, ncols=2, loc="lower right")
    axes[1, 1].set_ylim(0, 112)  # room for the legend
    axes[1, 1].legend(fontsize=8, ncols=6, loc="upper center", frameon=False)
    for axis in axes[1]:
        axis.set_xlabel("million examples seen")
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "images" / "training.png", dpi=130)


def draw_loss(axis: plt.Axes, log: list[dict[str, Any]]) -> None:
    """The cross-entropy per token, and the minutes at the upper edge."""
    examples = np.array([entry["progress"]["examples"] for entry in log]) / 1e6
    axis.plot(examples, [entry["loss"] for entry in log], color="0.2", linewidth=1)
    axis.set_yscale("log")
    ticks = (0.7, 0.8, 1, 1.5, 2, 3, 5)
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    minutes = log[-1]["progress"]["minutes"]
    axis.set_title(f"Cross-entropy per token ({minutes:.0f} minutes of one H200)")


def draw_metric(
    axis: plt.Axes, results: list[dict[str, Any]], name: str, part: str, key: str, label: str, colour: Any
) -> None:
    """A percentage against the examples seen."""
    judged = [result for result in results if name in result]
    examples = [result["progress"]["examples"] / 1e6 for result in judged]
    values = [result[name][part][key] for result in judged]
    axis.plot(examples, values, "o-", markersize=4, color=colour, label=label)
    axis.set_ylim(0, 100)
    axis.set_ylabel("% of cases (R² > 0.9)")


if __name__ == "__main__":
    main()
