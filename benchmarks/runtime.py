"""Speed and agreement of the runtimes, in one thread.

    python benchmarks/runtime.py runs/default/checkpoint.safetensors [--samples 50]

Prints milliseconds per decoded token of all samples, seconds per decoding of a 1-D, 2-D and 3-D case of
ODEBench, seconds to score as many given systems (teacher forcing), and how far the logits are from torch's:
onnxruntime with 8-bit integers (what ships), onnxruntime in full precision, torch in full precision.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from odefinder.bench.cases import Case
from odefinder.bench.tasks import task_cases
from odefinder.inference.propose.decode import Decoding, log_probabilities, network_points, sample
from odefinder.language.tokens import BOS, Vocabulary
from odefinder.network.checkpoint import load_network, save_weights
from odefinder.network.export import agreement
from odefinder.network.loading import load_runtime
from odefinder.network.runtime import Runtime

SYSTEMS = "6,31,56"  # of ODEBench, one each of 1-D, 2-D, 3-D
STEPS = 40


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The best of a few times, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def milliseconds_per_step(runtime: Runtime, case: Case, samples: int) -> float:
    """Milliseconds per step for the first 40 tokens of all samples, none of which ends."""
    vocabulary = Vocabulary.preset(runtime.settings.vocabulary)
    variables = np.zeros((1, len(vocabulary)), dtype=np.bool_)
    variables[0, vocabulary.layout.first_variable : vocabulary.layout.first_exact] = True
    memory = runtime.encode(*network_points(case.data, runtime.settings))

    def write() -> None:
        sequences = runtime.begin(memory, samples, variables)
        tokens = np.full(samples, BOS, dtype=np.int64)
        for _ in range(STEPS):
            rows, level = np.zeros(samples, dtype=np.int64), np.full(samples, 0.5)
            tokens, _ = sequences.draw(tokens, rows, level, 1.0)

    return 1e3 * seconds(write) / STEPS


def report(name: str, runtime: Runtime, exact: Runtime, cases: list[Case], how: Decoding) -> None:
    """Print the figures of one runtime."""
    print(f"{name}: {milliseconds_per_step(runtime, cases[1], how.samples):.1f} ms per step", flush=True)
    for case in cases:
        points = network_points(case.data, runtime.settings)
        memory = runtime.encode(*points)
        ids, _ = sample(runtime, memory, [case.dimension], how)
        dimensions = [case.dimension]
        times = (
            seconds(lambda: runtime.encode(*points)),  # noqa: B023 (called at once)
            seconds(lambda: sample(runtime, memory, dimensions, how)),  # noqa: B023
            seconds(lambda: log_probabilities(runtime, memory, dimensions, ids, how)),  # noqa: B023
        )
        mean = (ids[0] != 0).sum(axis=1).mean()
        print(
            f"  {case.dimension}-D: encode {times[0]:.3f} s, decode {times[1]:.2f} s, score {times[2]:.2f} s "
            f"({ids.shape[1]} samples of {mean:.0f} tokens, the longest {ids.shape[2]})",
            flush=True,
        )
    if runtime is not exact:
        print(f"  {agreement(exact, runtime)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--samples", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = load_network(options.file)
    cases = task_cases("odebench", systems=SYSTEMS)[::2]
    how = Decoding(samples=options.samples)
    with TemporaryDirectory() as folder:
        small, full = Path(folder) / "int8.safetensors", Path(folder) / "full.safetensors"
        save_weights(small, network)
        save_weights(full, network, int8=False)
        exact = load_runtime(small, "torch", device="cpu")
        report("onnxruntime, 8 bits", load_runtime(small), exact, cases, how)
        unrounded = load_runtime(full, "torch", device="cpu")
        report("onnxruntime, full precision", load_runtime(full), unrounded, cases, how)
        report("torch", unrounded, unrounded, cases, how)
        print(f"rounding the weights themselves: {agreement(unrounded, exact)}")


if __name__ == "__main__":
    main()
