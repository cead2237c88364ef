"""A page of examples from both priors: docs/images/prior.png.

    python benchmarks/figures/prior_page.py

These are the first examples of a seed, not a selection.  Lines are the systems' clean trajectories, dots the
observed points, colours the variables; times and values are scaled as the network sees them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from odefinder.expressions.program import Program
from odefinder.language.tokens import Vocabulary
from odefinder.numerics.integrate import integrate
from odefinder.prior.examples import EXAMPLE, Example, Examples, new_counts
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.presets import Prior, prior_preset
from odefinder.prior.sampler import fill
from odefinder.prior.statistics import MEASURED, MONOTONE, OSCILLATING, STATIONARY, describe

OUT = Path(__file__).parents[2] / "docs" / "images" / "prior.png"
SEED, ROWS, COLUMNS = 2026, 4, 6
STATISTICS_OF = 4000  # examples from which the shares in the headings come
TITLES = {"paper": "Preset paper: random trees", "default": "Preset default: trees and structured families"}


def draw(preset: str, count: int) -> Examples:
    """The first example of each of the first systems of the seed."""
    prior = prior_preset(preset)
    examples = np.zeros(count, EXAMPLE)
    indices = prior.siblings * np.arange(count)
    fill(examples, new_counts(), seed=SEED, indices=indices, prior=prior, layout=Vocabulary().layout)
    return examples


def clean(example: Example, trajectory: int, t: np.ndarray, prior: Prior) -> np.ndarray:
    """The trajectory without noise (points, dimension), at the prior's own tolerance."""
    n = example["n_nodes"]
    program = Program(example["ops"][:n].copy(), example["values"][:n].copy())
    start = example["starts"][trajectory, : example["dimension"]]
    return integrate(program, start, t, rtol=prior.rtol, atol=prior.atol, max_steps=prior.max_steps)[0]


def panel(ax: Any, example: Example, prior: Prior) -> None:
    """One example."""
    n, dimension = example["n_points"], example["dimension"]
    observed, times, which = (
        example["states"][:n, :dimension],
        example["times"][:n],
        example["trajectory"][:n],
    )
    scale = np.nanmax(np.abs(observed), axis=0)  # 1 already in canonical units
    for trajectory in range(example["n_trajectories"]):
        mine = which == trajectory
        t = np.linspace(times[mine][0], times[mine][-1], 400)
        x = clean(example, trajectory, t, prior) / scale
        for j in range(dimension):
            ax.plot(t, x[:, j], color=f"C{j}", linewidth=0.9)
            ax.plot(times[mine], observed[mine, j] / scale[j], ".", color=f"C{j}", markersize=1.5, alpha=0.55)
    several = f", {example['n_trajectories']} runs" if example["n_trajectories"] > 1 else ""
    ax.set_title(f"{dimension}-D {FAMILY_NAMES[example['family']]}{several}", fontsize=7, pad=2)
    ax.set(xlim=(0.8, 10.2), ylim=(-1.15, 1.15), xticks=[], yticks=[])
    ax.axhline(0.0, color="0.85", linewidth=0.5, zorder=0)
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set(color="0.7", linewidth=0.5)


def main() -> None:
    page = plt.figure(figsize=(11, 13), layout="constrained")
    halves: Any = page.subfigures(2, 1)
    for part, (preset, title) in zip(halves, TITLES.items(), strict=True):
        examples = draw(preset, STATISTICS_OF)
        motion = describe(examples).motion
        stationary, oscillating, monotone = motion[[STATIONARY, OSCILLATING, MONOTONE]] / motion[MEASURED]
        part.suptitle(
            f"{title}  ({oscillating:.0%} oscillate, {monotone:.0%} monotone, {stationary:.0%} stationary)",
            fontsize=10,
        )
        for ax, example in zip(part.subplots(ROWS, COLUMNS).flat, examples, strict=False):
            panel(ax, example, prior_preset(preset))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    page.savefig(OUT, dpi=110, pil_kwargs={"optimize": True})
    print(f"{OUT}: {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
