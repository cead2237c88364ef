"""How often odd data are named, and how often ordinary data are called odd.

    python benchmarks/doubts.py [--sets benchmarks/sets/textbook.json] [--walks 100]

Random walks of 120 points should all be named; the trajectories of the sets, under every kind of noise of
CELLS, never.
"""

from __future__ import annotations

import argparse

import numpy as np
from objective import corrupted

from odefinder.bench.sets import load_set
from odefinder.data import from_arrays
from odefinder.inference.doubts import data_doubts

CELLS = ("clean", "m.03", "a.03", "a.05", "a.1")
POINTS = 120


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="benchmarks/sets/textbook.json", help="separated by commas")
    parser.add_argument("--walks", type=int, default=100)
    options = parser.parse_args()
    t = np.linspace(0.0, 10.0, POINTS)
    walks = [np.cumsum(np.random.default_rng(seed).normal(size=POINTS)) for seed in range(options.walks)]
    named = sum(bool(data_doubts(from_arrays(walk[:, None], t))) for walk in walks)
    print(f"random walks: {named} of {len(walks)} are named")
    wrong, total = 0, 0
    for path in options.sets.split(","):
        for system in load_set(path):
            for cell in CELLS:
                for seed, states in enumerate(system.trajectories):
                    doubts = data_doubts(from_arrays(corrupted(states, cell, seed), system.t))
                    total, wrong = total + 1, wrong + bool(doubts)
                    for doubt in doubts:
                        print(f"  {system.id}, {cell}: {doubt.sentence}")
    print(f"trajectories of systems: {wrong} of {total} are called odd")


if __name__ == "__main__":
    main()
