"""What each change of the prior brought: short runs on equal numbers of examples (docs/training.md).

    git show eff3708:src/odefinder/network/weights/default.safetensors > runs/six_slices.safetensors
    python benchmarks/prior_changes.py --weights runs/six_slices.safetensors --examples 600000 --jobs 5

Every run continues from the same weights, which have seen the preset `plain` only, on a prior with one more
change.  It is judged by the cross-entropy of the textbook systems (`crossentropy.py`), on which nothing is
trained.  A run that has its result is skipped.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from comparisons import BATCH, EqualBatches, in_processes
from crossentropy import NOISE, measured, summary, textbook

from odefinder.network.loading import load_runtime
from odefinder.prior import presets
from odefinder.prior.presets import DEFAULT, PLAIN, Prior

LABORATORY = PLAIN._replace(
    in_laboratory=DEFAULT.in_laboratory, points_min=DEFAULT.points_min, few_points=DEFAULT.few_points
)
FAMILIES = DEFAULT._replace(ties=PLAIN.ties, role_weights=PLAIN.role_weights)
TIES = DEFAULT._replace(role_weights=PLAIN.role_weights)

# name: what it adds to the one before, prior
CHANGES: dict[str, tuple[str, Prior]] = {
    "plain": ("the prior of version 0.1", PLAIN),
    "laboratory": ("noise as laboratories have it, 8 to 200 points", LABORATORY),
    "families": ("newer families, fewer random trees", FAMILIES),
    "ties": ("constants that are equal, or 1", TIES),
    "roles": ("roles: the preset default", DEFAULT),
}
SETTINGS = EqualBatches(learning_rate=3e-4, decay=0.7, average=300, compile=False, seed=31)


def run_variant(name: str, folder: Path, weights: Path, examples: int, threads: int) -> None:
    """Train on one prior and write the cross-entropies of the textbook systems."""
    from odefinder.training.loop import Run

    presets.PRESETS[f"change {name}"] = CHANGES[name][1]
    run = Run(
        folder / name,
        replace(SETTINGS, prior=f"change {name}", threads=threads),
        resume=False,
        weights=weights,
    )
    steps = max(1, examples // BATCH)
    run.train(steps=steps, plan=steps, report=lambda news: print(name, news, flush=True))
    run.save_snapshot()
    (snapshot,) = (folder / name / "snapshots").iterdir()
    write(folder / f"{name}.json", snapshot, CHANGES[name][0], run.progress.examples)


def write(path: Path, weights: Path, what: str, examples: int) -> None:
    """Judge weights, and write what was found."""
    runtime, systems = load_runtime(weights, "torch"), textbook()
    found = {
        noise: summary(list(measured(runtime, systems, multiplicative, additive, seeds=1)))
        for noise, (multiplicative, additive) in NOISE.items()
    }
    path.write_text(json.dumps({"what": what, "examples": examples, "textbook": found}, indent=1) + "\n")


def table(folder: Path) -> str:
    """All results as a Markdown table: structure and constants in nats per system."""
    lines = [
        "| prior | million examples | " + " | ".join(NOISE) + " |",
        "|---|---|" + "---|" * len(NOISE),
    ]
    for name in ("start", *CHANGES):
        path = folder / f"{name}.json"
        if path.exists():
            one = json.loads(path.read_text())
            cells = [f"{one['textbook'][noise]['structure']} + {one['textbook'][noise]['constants']}"
                     for noise in NOISE]  # fmt: skip
            lines.append(f"| {one['what']} | {one['examples'] / 1e6:.2f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", type=Path, required=True, help="from which every run continues")
    parser.add_argument("--out", type=Path, default=Path("runs/prior_changes"))
    parser.add_argument("--examples", type=int, default=600_000)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--threads", type=int, default=2, help="threads that draw examples, per run")
    parser.add_argument("--variant", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.variant:
        run_variant(options.variant, options.out, options.weights, options.examples, options.threads)
        return
    flags = ["--weights", str(options.weights), "--examples", str(options.examples)]
    flags += ["--threads", str(options.threads)]
    in_processes(__file__, list(CHANGES), options.out, flags, options.jobs)
    start = options.out / "start.json"
    if not start.exists():
        write(start, options.weights, "where the runs begin", 0)
    print(table(options.out))


if __name__ == "__main__":
    main()
