"""What partial knowledge is worth: the same data fitted with and without it.

    python benchmarks/known.py [--sigma 0,0.03] [--seeds 3] [--network]

For each case: how often the first row has the structure of the truth, and how often it predicts a trajectory
from elsewhere (R2 > 0.9).  Additive noise, relative to the standard deviation of each variable.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.bench.protocol import same_structure


@dataclass(frozen=True)
class Case:
    """A system, what is seen of it, and what is known."""

    truth: str
    length: float
    start: tuple[float, ...]
    other: tuple[float, ...]  # from where it must predict
    knowledge: dict[str, Any]
    seen: int | None = None  # variables that are observed; None: all
    common: dict[str, Any] = field(default_factory=dict)  # given in both fits


SIR = "S' = -0.004*S*I; I' = 0.004*S*I - 0.1*I; R' = 0.1*I"
CASES = {
    "SIR, infection known": Case(SIR, 60, (99, 1, 0), (60, 10, 30), {"known": "S' = -b*S*I; I' = b*S*I - ?"}),
    "SIR, sum and signs": Case(
        SIR, 60, (99, 1, 0), (60, 10, 30), {"conserve": "S + I + R", "positive": True}
    ),
    "pendulum, gravity known": Case(
        "x' = v; v' = -9.81*sin(x) - 0.3*v - 0.1*v^3", 5, (2.0, 0.0), (-1.0, 2.0),
        {"known": "x'' = -g*sin(x) + ?(x_dot)", "fixed": {"g": 9.81}}, 1, {"order": 2},
    ),
    "uptake known, growth not": Case(
        "S' = -1.5*S*X/(0.5 + S); X' = 0.6*S*X/(0.5 + S) - 0.1*X", 10, (3.0, 0.2), (1.0, 0.6),
        {"known": "S' = -V*S*X/(K + S); X' = Y*V*S*X/(K + S) + ?", "bounds": {"K": (0, None)}},
    ),
}  # fmt: skip


def outcome(case: Case, sigma: float, seed: int, network: bool, **knowledge: Any) -> tuple[bool, bool]:
    """Whether the structure is that of the truth, and whether it predicts."""
    truth, t = ODESystem.from_text(case.truth), np.linspace(0.0, case.length, 80)
    clean = truth.simulate(case.start, t)[:, : case.seen]
    noise = sigma * clean.std(axis=0) * np.random.default_rng(seed).normal(size=clean.shape)
    model = ODEFormer(time_budget=120.0, network=network, **case.common, **knowledge)
    found = model.fit(clean + noise, t, variables=truth.variables[: case.seen]).system_.program
    right = same_structure(found, truth.program)
    return right, trajectory_r2(found, np.array(case.other, float), t, truth.simulate(case.other, t)) > GOOD


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sigma", default="0,0.03")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--network", action="store_true", help="with the network's proposals")
    options = parser.parse_args()
    for sigma in map(float, options.sigma.split(",")):
        for name, case in CASES.items():
            seeds = range(options.seeds if sigma else 1)
            for what, knowledge in (("with", case.knowledge), ("without", {})):
                results = [outcome(case, sigma, seed, options.network, **knowledge) for seed in seeds]
                right, predicts = np.sum(results, axis=0)
                print(
                    f"sigma {sigma:<5g} {name:26} {what:7} law {right}/{len(seeds)}  predicts "
                    f"{predicts}/{len(seeds)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
