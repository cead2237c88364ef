"""Whether fits became slower: CPU seconds of this version relative to those of another source tree.

    git worktree add ../before REVISION
    python benchmarks/before.py ../before/src [--systems 24] [--rounds 2]

Both versions fit the same trajectories of ODEBench (first initial value, 150 points, clean and with sigma
0.05 and rho 0.5) in processes of their own, which take turns, so that whatever else the machine does hits
both alike.  Each process first fits one system that does not count; compiling and loading are not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1] / "src"
CHUNK = 6  # systems that a process fits
FITS = """
import json, sys, time
import numpy as np
from odefinder import ODEFormer, corrupt
from odefinder.bench import odebench

first, last = int(sys.argv[1]), int(sys.argv[2])
t = np.linspace(0.0, 10.0, 150)
systems = odebench()
ODEFormer().fit(systems[0].trajectories(t)[0], t)
seconds = []
for system in systems[first:last]:
    for sigma, rho in ((0.0, 0.0), (0.05, 0.5)):
        times, states = corrupt(t, system.trajectories(t)[0], sigma=sigma, rho=rho, seed=int(system.id))
        begin = time.process_time()
        ODEFormer(time_budget=100.0).fit(states, times)
        seconds.append(time.process_time() - begin)
print(json.dumps(seconds))
"""


def fit_seconds(source: Path, first: int, last: int) -> list[float]:
    """CPU seconds of the fits of some systems with the version in a source tree."""
    command = [sys.executable, "-c", FITS, str(first), str(last)]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="the source tree of the version before, ending in src")
    parser.add_argument("--systems", type=int, default=24, help="of ODEBench, evenly chosen")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    starts = np.linspace(0, 63 - CHUNK, max(1, options.systems // CHUNK)).astype(int).tolist()
    for source in (HERE, options.before):  # compiled once before anything is measured
        fit_seconds(source, 0, 1)
    now: list[list[float]] = []
    before: list[list[float]] = []
    for _ in range(options.rounds):
        now.append([])
        before.append([])
        for start in starts:
            before[-1] += fit_seconds(options.before, start, start + CHUNK)
            now[-1] += fit_seconds(HERE, start, start + CHUNK)
    best_now, best_before = np.min(now, axis=0), np.min(before, axis=0)  # others disturb in one direction
    logs = np.log(best_now / best_before)
    error = logs.std(ddof=1) / np.sqrt(len(logs))
    print(f"{len(logs)} fits: {best_now.sum():.1f} CPU s now, {best_before.sum():.1f} before")
    print(f"ratio of the sums {best_now.sum() / best_before.sum():.3f}", end="; ")
    print(f"geometric mean {np.exp(logs.mean()):.3f} +- {error:.3f}, median {np.exp(np.median(logs)):.3f}")


if __name__ == "__main__":
    main()
