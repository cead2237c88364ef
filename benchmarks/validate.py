"""Decoded metrics of checkpoints or weights files.

    python benchmarks/validate.py runs/default/checkpoint.safetensors [--sets odebench,synthetic]
                                  [--cases 50] [--out FOLDER]

Prints the figures of `odefinder.bench.validation` on the synthetic validation set (by dimension, noise and
number of trajectories), on ODEBench, clean and with sigma 0.05, rho 0.5, and on the textbook set, clean and
with additive noise of 3 %; and writes them as JSON, one file per weights file, with its name.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from odefinder.bench.cases import Case, synthetic_cases
from odefinder.bench.tasks import task_cases
from odefinder.bench.validation import Verdict, by_group, summary, validate
from odefinder.network.checkpoint import read
from odefinder.network.loading import load_runtime

TEXTBOOK = str(Path(__file__).parent / "sets" / "textbook.json")


def cases_of(sets: list[str], count: int) -> dict[str, list[Case]]:
    """The cases of every part of the sets; count: synthetic ones of each dimension."""
    found = {}
    if "odebench" in sets:
        found["odebench clean"] = task_cases("odebench")
        found["odebench sigma .05 rho .5"] = task_cases("odebench", sigma=0.05, rho=0.5)
    if "textbook" in sets:
        found["textbook clean"] = task_cases(TEXTBOOK)
        found["textbook additive .03"] = task_cases(TEXTBOOK, sigma=0.03, noise="additive")
    if "synthetic" in sets and count:
        found["synthetic"] = synthetic_cases(count)
    return found


def figures(verdicts: list[Verdict], *, parts: tuple[int, ...]) -> dict[str, object]:
    """The summary of all verdicts and by parts of their group."""
    result: dict[str, object] = {"all": summary(verdicts)}
    for part in parts:
        result |= by_group(verdicts, part)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--sets", default="odebench,synthetic", help="of odebench, textbook, synthetic")
    parser.add_argument("--cases", type=int, default=50, help="synthetic cases per dimension")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--refine", type=int, default=12, help="skeletons whose constants are fitted")
    parser.add_argument("--runtime", choices=("torch", "onnx"), default="torch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the JSON files")
    options = parser.parse_args()
    how = {
        "samples": options.samples,
        "temperature": options.temperature,
        "refine": options.refine,
        "seed": options.seed,
    }
    sets = cases_of(options.sets.split(","), options.cases)
    for path in options.files:
        runtime = load_runtime(path, options.runtime)
        result: dict[str, object] = {"progress": read(path)[1].get("progress"), "decoding": how}
        for name, cases in sets.items():
            start = time.perf_counter()
            parts = (0, 1, 2) if name == "synthetic" else (0,)
            result[name] = figures(validate(runtime, cases, **how), parts=parts)
            print(path, name, f"{time.perf_counter() - start:.0f} s", summary_line(result[name]), flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{path.stem}.json").write_text(json.dumps(result, indent=1) + "\n")


def summary_line(content: object) -> str:
    """The figures of one set in one line."""
    assert isinstance(content, dict)
    return ", ".join(f"{key} {value}" for key, value in content["all"].items())


if __name__ == "__main__":
    main()
