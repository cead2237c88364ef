"""Two networks compared by whole fits of the same data: which one's systems are right more often.

    python benchmarks/networks.py WEIGHTS [OTHER] [--set odebench benchmarks/sets/textbook.json] [--every 2]

OTHER is by default the shipped file.  One initial value of every system, 150 points: clean, with
multiplicative noise of 5 % and half of the points dropped, and with additive noise of 3 % of each variable's
spread.  In % of the fits: reconstruction and generalization (R2 > 0.9), the true structure in the first row,
its mean weight; and how many fits generalize with one network only.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np

from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.bench.sets import load_set, set_title
from odefinder.data import from_arrays
from odefinder.data.corruption import corrupt
from odefinder.errors import OdefinderError
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.program import Program
from odefinder.inference.find import find
from odefinder.inference.settings import FindSettings
from odefinder.network.files import shipped_weights

BUDGET = 20.0  # seconds of a fit
CLEAN, MULTIPLICATIVE, ADDITIVE = "clean", "multiplicative 5 %, rho 0.5", "additive 3 %"
KINDS = (CLEAN, MULTIPLICATIVE, ADDITIVE)
TEXTBOOK = str(Path(__file__).parent / "sets" / "textbook.json")


@dataclass(frozen=True)
class Observed:
    """Noisy data of a known system, and what a fit is compared with."""

    set: str
    name: str  # of the system
    kind: str
    truth: Program
    dense: np.ndarray
    seen: tuple[np.ndarray, np.ndarray]  # times and states
    clean: np.ndarray
    other: np.ndarray


def observed(names: list[str], every: int) -> list[Observed]:
    """Every so-many-th case of the sets."""
    cases = []
    for name in names:
        for system in load_set(name):
            initial = zlib.crc32(system.id.encode()) % system.fitted
            clean = system.trajectories[initial]
            other = system.trajectories[(initial + 1) % len(system.starts)]
            for kind in KINDS:
                seed = zlib.crc32(f"{name}|{system.id}|{kind}".encode())
                seen = corrupted(system.t, clean, kind, seed)
                cases.append(
                    Observed(set_title(name), system.id, kind, system.program, system.t, seen, clean, other)
                )
    return cases[:: max(1, every)]


def corrupted(t: np.ndarray, x: np.ndarray, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and states with this noise."""
    if kind == MULTIPLICATIVE:
        return corrupt(t, x, sigma=0.05, rho=0.5, seed=seed)
    if kind == ADDITIVE:
        return t, x + 0.03 * x.std(axis=0) * np.random.default_rng(seed).normal(size=x.shape)
    return t, x


def outcome(case: Observed, weights: Path) -> tuple[bool, bool, bool, float]:
    """Whether the first system reconstructs, generalizes and has the true structure, and its weight."""
    t, x = case.seen
    try:
        best = find(from_arrays(x, t), FindSettings(time_budget=BUDGET, weights=weights)).explanations[0]
    except OdefinderError:
        return False, False, False, 0.0
    program = best.system.program
    reached = [trajectory_r2(program, y[0], case.dense, y) > GOOD for y in (case.clean, case.other)]
    return reached[0], reached[1], skeleton(program) == skeleton(case.truth), best.weight


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("other", type=Path, nargs="?", default=shipped_weights())
    parser.add_argument("--set", nargs="+", default=["odebench", TEXTBOOK])
    parser.add_argument("--every", type=int, default=1, help="take every so-many-th case only")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cases = observed(options.set, options.every)
    run = joblib.Parallel(n_jobs=options.jobs)
    files = options.weights, options.other
    found = run(joblib.delayed(outcome)(case, file) for case in cases for file in files)
    rows = np.array(found, dtype=np.float64).reshape(len(cases), 2, 4)
    for name in dict.fromkeys(case.set for case in cases):
        for kind in KINDS:
            own = rows[[case.set == name and case.kind == kind for case in cases]]
            won = int(((own[:, 0, 1] > 0) & (own[:, 1, 1] == 0)).sum())
            lost = int(((own[:, 0, 1] == 0) & (own[:, 1, 1] > 0)).sum())
            print(f"{name}, {kind}, {len(own)} fits; only the first generalizes {won}, only the other {lost}")
            for file, mean in zip(files, 100.0 * own.mean(axis=0), strict=True):
                print(
                    f"  {mean[0]:5.1f} / {mean[1]:5.1f}, true {mean[2]:5.1f}, weight {mean[3]:4.1f}  {file}"
                )


if __name__ == "__main__":
    main()
