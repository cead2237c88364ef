"""Short training runs that differ in one thing each, judged by decoded metrics (docs/training.md).

    python benchmarks/comparisons.py --out runs/comparisons --examples 1500000 [--only base tokens] [--jobs 3]

Every variant trains a small network on the same number of examples; the figures are those of
`odefinder.bench.validation` on the synthetic validation set and, for the record, on ODEBench.
A variant that already has its result is skipped, and one that was stopped continues from its checkpoint, so
the command can be repeated after a kill.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from odefinder.network import presets as networks
from odefinder.network.presets import NetworkSettings
from odefinder.prior import presets as priors
from odefinder.training.settings import TrainingSettings

BATCH = 320  # examples


class EqualBatches(TrainingSettings):
    """Batches with the same number of examples for all variants, however long their targets are."""

    def batch_size(self, points: int, length: int) -> int:
        """Examples per batch."""
        return BATCH


SMALL = NetworkSettings(width=256, heads=4, encoder_layers=4, decoder_layers=6)
BASE = EqualBatches(points=(100,), lengths=(64, 112, 200))
DEFAULT, PAPER = priors.PRESETS["default"], priors.PRESETS["paper"]

# name: what is compared, network, prior, training
VARIANTS = {
    "base": ("the reference: canonical, two digits, waves, Muon", SMALL, DEFAULT, BASE),
    "tokens": ("points as the paper's tokens", replace(SMALL, embedder="tokens"), DEFAULT, BASE),
    "redundant": ("targets as drawn, not canonical", SMALL, DEFAULT._replace(canonical_target=False), BASE),
    "fine": ("four-digit mantissa", replace(SMALL, vocabulary="fine"), DEFAULT, BASE),
    "paper-words": ("sign, four-digit mantissa, exponent", replace(SMALL, vocabulary="paper"), DEFAULT, BASE),
    "paper-prior": (
        "the paper's random trees, in canonical units and form",
        SMALL,
        PAPER._replace(canonical_units=True, canonical_target=True),
        BASE,
    ),
    "noisy": ("no clean examples", SMALL, DEFAULT._replace(clean_share=0.0, dense_share=0.0), BASE),
    "cleaner": ("half the examples clean", SMALL, DEFAULT._replace(clean_share=0.5), BASE),
    "adam": ("AdamW for everything", SMALL, DEFAULT, replace(BASE, muon=False)),
    "deep": ("6 + 8 layers", replace(SMALL, encoder_layers=6, decoder_layers=8), DEFAULT, BASE),
    "wide": ("width 384, 4 + 6 layers", replace(SMALL, width=384, heads=6), DEFAULT, BASE),
    "fast": ("learning rate 2e-3", SMALL, DEFAULT, replace(BASE, learning_rate=2e-3)),
}


def register(name: str) -> TrainingSettings:
    """Make a variant's network and prior known by name; returns its training settings."""
    _, network, prior, training = VARIANTS[name]
    networks.PRESETS[f"variant {name}"] = network
    priors.PRESETS[f"variant {name}"] = prior
    return replace(training, network=f"variant {name}", prior=f"variant {name}")


def run_variant(name: str, folder: Path, examples: int, cases: int, threads: int) -> None:
    """Train one variant and write its result."""
    import torch

    from odefinder.bench.cases import synthetic_cases
    from odefinder.bench.tasks import task_cases
    from odefinder.bench.validation import by_group, summary, validate
    from odefinder.network.model import count_parameters
    from odefinder.training.loop import Run

    settings = replace(register(name), threads=threads)
    run = Run(folder / name, settings, resume=True)
    steps = max(1, examples // BATCH)
    if run.progress.step < steps:
        run.train(
            steps=steps - run.progress.step, plan=steps, report=lambda news: print(name, news, flush=True)
        )
    log = (folder / name / "log.jsonl").read_text().splitlines()
    speeds = sorted(json.loads(line)["examples_per_second"] for line in log)
    start = time.perf_counter()
    network = run.plain_network()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()  # for the other variants
    synthetic = validate(network, synthetic_cases(cases))
    clean = validate(network, task_cases("odebench"))
    noisy = validate(network, task_cases("odebench", sigma=0.05, rho=0.5))
    result = {
        "name": name,
        "what": VARIANTS[name][0],
        "parameters": count_parameters(run.network),
        "examples": run.progress.examples,
        "seconds": round(60 * run.progress.minutes, 1),
        "examples per second": round(speeds[len(speeds) // 2]),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        "synthetic": summary(synthetic),
        "synthetic by dimension": by_group(synthetic, 0),
        "synthetic by noise": by_group(synthetic, 1),
        "odebench clean": summary(clean),
        "odebench sigma .05 rho .5": summary(noisy),
        "validation seconds": round(time.perf_counter() - start, 1),
    }
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1))


def table(folder: Path) -> str:
    """All results as a Markdown table."""
    columns = ["skeleton", "fitted reconstruction", "fitted generalization"]
    lines = [
        "| variant | what | M parameters | M examples | examples/s | synthetic: skeleton, rec / gen "
        "| ODEBench clean | ODEBench noisy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(folder.glob("*.json")):
        r = json.loads(path.read_text())
        cells = ["{}, {} / {}".format(*(r[part][c] for c in columns)) for part in list(r) if part in
                 ("synthetic", "odebench clean", "odebench sigma .05 rho .5")]  # fmt: skip
        lines.append(
            f"| {r['name']} | {r['what']} | {r['parameters'] / 1e6:.1f} | {r['examples'] / 1e6:.2f} "
            f"| {r['examples per second']} | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def in_processes(script: str, names: list[str], folder: Path, flags: list[str], jobs: int) -> None:
    """Run `script --variant NAME` for every variant without a result, `jobs` at a time, each with its log."""
    todo = [name for name in names if not (folder / f"{name}.json").exists()]
    running: dict[str, subprocess.Popen[bytes]] = {}
    while todo or running:
        for name, process in list(running.items()):
            if process.poll() is not None:
                del running[name]
                if process.returncode:
                    print(f"{name} failed; see {folder / name}.log", file=sys.stderr, flush=True)
        while todo and len(running) < jobs:
            name = todo.pop(0)
            command = [sys.executable, script, "--variant", name, "--out", str(folder), *flags]
            with (folder / f"{name}.log").open("ab") as log:
                running[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        time.sleep(1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/comparisons"))
    parser.add_argument("--examples", type=int, default=1_500_000)
    parser.add_argument("--cases", type=int, default=60, help="synthetic validation cases per dimension")
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--jobs", type=int, default=1, help="variants trained at the same time")
    parser.add_argument("--threads", type=int, default=4, help="threads that draw examples, per variant")
    parser.add_argument("--variant", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.variant:
        run_variant(options.variant, options.out, options.examples, options.cases, options.threads)
        return
    flags = ["--examples", str(options.examples), "--cases", str(options.cases)]
    flags += ["--threads", str(options.threads)]
    in_processes(__file__, options.only, options.out, flags, options.jobs)
    print(table(options.out))


if __name__ == "__main__":
    main()
