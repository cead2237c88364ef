"""What roles cost: seconds of fits of second order and with inputs, relative to plain ones.

    python benchmarks/role_times.py [--groups "order 2" inputs] [--noise 0 .03] [--cases 100] [--budget 40]

The laboratory systems of these groups (first record) are fitted, and textbook systems, all of whose states
are seen, with as many points.  Each fit with roles is divided by the median of the plain fits with the same
number of states, velocities counted; the median of these ratios is printed.  CPU seconds of one process:
wall-clock seconds depend on what else runs.  The aim is a ratio of 2 at most.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from odefinder import ODEFormer
from odefinder.bench.laboratory.entries import chosen, read_laboratory
from odefinder.bench.laboratory.tasks import make_task, seen_points
from odefinder.bench.sets import load_set

SETS = Path(__file__).parent / "sets"
Times = dict[int, list[float]]  # by the number of states


def seconds(fit: Callable[[], object]) -> float:
    """CPU seconds."""
    begin = time.process_time()
    fit()
    return time.process_time() - begin


def plain(noise: float, points: int, cases: int, budget: float) -> Times:
    """Fits of fully observed systems."""
    found: Times = defaultdict(list)
    for one in load_set(SETS / "textbook.json"):
        states = one.trajectories[0][:: max(len(one.t) // points, 1)][:points]
        t = one.t[:: max(len(one.t) // points, 1)][:points]
        if len(found[states.shape[1]]) < cases:
            rng = np.random.default_rng(len(one.id))
            x = states + noise * states.std(axis=0) * rng.standard_normal(states.shape)
            model = ODEFormer(time_budget=budget)
            found[states.shape[1]].append(seconds(lambda: model.fit(x, t)))  # noqa: B023 (called at once)
    return found


def with_roles(group: str, noise: float, cases: int, budget: float) -> Times:
    """Fits of a group of laboratory systems."""
    found: Times = defaultdict(list)
    for lab in chosen(read_laboratory(SETS / "laboratory.json"), group)[:cases]:
        task = make_task(lab, 0, noise)
        model = ODEFormer(order=task.order, time_budget=budget)
        states = task.with_roles().dimension
        found[states].append(seconds(lambda: model.fit(task.dataset)))  # noqa: B023 (called at once)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", nargs="+", default=["order 2", "inputs"])
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.03])
    parser.add_argument("--cases", type=int, default=100, help="systems per group, and per number of states")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds per fit; enough not to matter")
    options = parser.parse_args()
    labs = chosen(read_laboratory(SETS / "laboratory.json"), ",".join(options.groups))
    points = int(np.median([seen_points(lab) for lab in labs]))
    for noise in options.noise:
        usual = plain(noise, points, options.cases, options.budget)
        for group in options.groups:
            ratios: list[float] = []
            for states, own in sorted(with_roles(group, noise, options.cases, options.budget).items()):
                if states in usual:
                    ratios += (np.array(own) / np.median(usual[states])).tolist()
                    print(
                        f"  {group}, noise {noise:g}, {states} states: {np.median(own):.2f} s of {len(own)} "
                        f"fits, plain {np.median(usual[states]):.2f} s of {len(usual[states])}"
                    )
            print(f"{group}, noise {noise:g}: {np.median(ratios):.2f} times a plain fit (median)", flush=True)


if __name__ == "__main__":
    main()
