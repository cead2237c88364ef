"""How fast training examples are drawn: accepted examples per core-second, and with several threads.

    python benchmarks/generation.py [--seconds 60]

The reference is the paper's generator written plainly (`reference_generator.py`).  It is measured in the same
run on one core, once to the letter and once with integrations that stop at the bound; the ratio is to the
faster one.
Times are processor time, so a busy machine hardly changes the ratio.
"""

from __future__ import annotations

import argparse
import threading
import time

import numpy as np
from reference_generator import examples as reference_examples

from odefinder.language.tokens import Vocabulary
from odefinder.limits.processors import cores
from odefinder.limits.sizes import MAX_TOKENS
from odefinder.prior.examples import ACCEPTED, EXAMPLE, new_counts
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill

SEED = 0
CHUNK = 128
GOAL_RATE, GOAL_RATIO = 300.0, 200.0
VOCABULARY = {"paper": "paper", "default": "coarse"}


def draw(preset: str, first: int, counts: np.ndarray) -> None:
    """Draw one chunk of examples."""
    layout = Vocabulary.preset(VOCABULARY[preset]).layout
    examples = np.zeros(CHUNK, EXAMPLE)
    fill(
        examples, counts, seed=SEED, first=first, prior=prior_preset(preset), layout=layout,
        max_tokens=MAX_TOKENS,
    )  # fmt: skip


def measure_ours(preset: str, seconds: float) -> tuple[float, float, int]:
    """Accepted examples per core-second, share accepted, number of examples; one thread."""
    counts = new_counts()
    began, first = time.process_time(), 0
    while time.process_time() - began < seconds:
        draw(preset, first, counts)
        first += CHUNK
    return first / (time.process_time() - began), counts[ACCEPTED].sum() / counts.sum(), first


def measure_reference(seconds: float, early_stop: bool) -> tuple[float, float, int]:
    """The same for the reference."""
    began, drawn, accepted = time.process_time(), 0, 0
    for dimension in reference_examples(SEED, early_stop):
        drawn, accepted = drawn + 1, accepted + (dimension > 0)
        # It ends with an accepted example, so that none is half counted.
        if dimension and time.process_time() - began >= seconds:
            break
    return accepted / (time.process_time() - began), accepted / drawn, accepted


def measure_threads(preset: str, threads: int, chunks: int) -> tuple[float, float]:
    """Examples per second, and the number of cores in use, with this many threads."""
    numbers = iter(range(chunks))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            draw(preset, number * CHUNK, new_counts())

    workers = [threading.Thread(target=work) for _ in range(threads)]
    wall, core = time.perf_counter(), time.process_time()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    elapsed = time.perf_counter() - wall
    return chunks * CHUNK / elapsed, (time.process_time() - core) / elapsed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for each reference")
    seconds = parser.parse_args().seconds
    for preset in VOCABULARY:
        draw(preset, 0, new_counts())  # compile

    print("Accepted examples per core-second, one thread, dimension fixed before rejection\n")
    print(f"{'':48}{'per core-s':>11}{'accepted':>10}{'examples':>10}{'ratio':>8}")
    references = {early_stop: measure_reference(seconds, early_stop) for early_stop in (False, True)}
    reference = max(rate for rate, _, _ in references.values())
    for early_stop, (rate, share, number) in references.items():
        label = "reference (SymPy, SciPy), " + ("stopped at the bound" if early_stop else "to the letter")
        print(f"{label:48}{rate:11.2f}{share:10.1%}{number:10}{rate / reference:8.2f}")
    rates = {}
    for preset in VOCABULARY:
        rates[preset], share, number = measure_ours(preset, max(1.0, seconds / 8))
        label = f"odefinder, preset {preset}" + (" (the same distribution)" if preset == "paper" else "")
        print(f"{label:48}{rates[preset]:11.0f}{share:10.1%}{number:10}{rates[preset] / reference:8.0f}")
    ratio = rates["paper"] / reference
    print(
        f"\nGoals for preset paper: {GOAL_RATE:.0f} per core-second "
        f"{'reached' if rates['paper'] >= GOAL_RATE else 'MISSED'}, ratio {GOAL_RATIO:.0f} "
        f"{'reached' if ratio >= GOAL_RATIO else 'MISSED'}"
    )

    thread_counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores()]
    print(f"\nThreads, best of three; {cores()} cores here, which other work may share\n")
    print(f"{'preset':10}{'threads':>8}{'per second':>12}{'efficiency':>12}{'cores in use':>14}")
    for preset in VOCABULARY:
        chunks = 1 + round(rates[preset] * max(0.3, seconds / 25) / CHUNK)
        # Rounds over the thread counts, so that a busy moment does not hit only one of them.
        runs = [[measure_threads(preset, n, chunks * n) for n in thread_counts] for _ in range(3)]
        best = [max(run[k] for run in runs) for k in range(len(thread_counts))]
        for threads, (rate, used) in zip(thread_counts, best, strict=True):
            print(f"{preset:10}{threads:8}{rate:12.0f}{rate / (threads * best[0][0]):12.0%}{used:14.2f}")


if __name__ == "__main__":
    main()
