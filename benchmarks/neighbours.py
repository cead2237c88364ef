"""Chaos seen in data alone: the divergence of neighbours on the chaotic set, next to the systems' exponents.

    python benchmarks/neighbours.py [--noise 0,1,5] [--points 5000] [--systems lorenz,rossler]

Each system is observed from its start, 100 points per period.  The noise is additive, in per cent of each
variable's standard deviation.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from odefinder.bench.chaotic.flows import read_flows
from odefinder.numerics.chaos.divergence import divergence_of_neighbours
from odefinder.numerics.chaos.lyapunov import lyapunov_spectrum

SET = Path(__file__).parent / "sets" / "chaotic.json"
PER_PERIOD = 100


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--noise", default="0,1,5", help="in per cent")
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--systems", help="ids, with commas; default: all")
    options = parser.parse_args()
    wanted = set(options.systems.split(",")) if options.systems else None
    noises = [float(noise) for noise in options.noise.split(",")]
    rows = []
    for flow in read_flows(SET):
        if wanted is not None and flow.id not in wanted:
            continue
        truth = lyapunov_spectrum(flow.program, flow.start, flow.period)
        t = np.arange(options.points, dtype=np.float64) * (flow.period / PER_PERIOD)
        states = flow.trajectory(np.array(flow.start), t)
        rng = np.random.default_rng(0)
        found = [
            divergence_of_neighbours(
                [t], [states + 0.01 * noise * states.std(axis=0) * rng.normal(size=states.shape)]
            )
            for noise in noises
        ]
        shown = "  ".join(
            f"{one.exponent / truth.largest:6.2f}{'*' if one.chaotic else ' '}" for one in found
        )
        print(f"{flow.id:22} {truth.largest:9.3g} {truth.chaotic!s:5}  {shown}", flush=True)
        rows.append((truth.chaotic, truth.largest, found))
    for k, noise in enumerate(noises):
        ratios = [
            found[k].exponent / largest for chaotic, largest, found in rows if chaotic and found[k].chaotic
        ]
        print(
            f"noise {noise:g} %: evidence for {len(ratios)} of {sum(row[0] for row in rows)} chaotic systems "
            f"(median ratio of exponents {np.median(ratios) if ratios else np.nan:.2f}), and for "
            f"{sum(found[k].chaotic for chaotic, _, found in rows if not chaotic)} of "
            f"{sum(not row[0] for row in rows)} others"
        )


if __name__ == "__main__":
    main()
