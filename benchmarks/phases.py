"""Random networks of phase oscillators: does the law that is found hold from another start?

    python benchmarks/phases.py [--cases 8] [--noise 0,0.03] [--budget SECONDS]

Two to five units with frequencies of their own, which pull at all others or at two neighbours by the sine of
the difference; 120 points.  Noise is additive, relative to each variable's spread.  Nothing is trained on
them, but terms for angles (`inference/propose/phases.py`) were developed on the first eight.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.bench.metrics import GOOD
from odefinder.numerics.r2 import variance_weighted_r2

UNITS = (2, 3, 3, 4, 3, 4, 5, 3)
T = np.linspace(0.0, 10.0, 120)
FIRST_SEED = 100


def network(rng: np.random.Generator, units: int, ring: bool) -> ODESystem:
    """Units with frequencies of their own and one strength of pulling."""
    strength, frequencies = rng.uniform(0.2, 0.9), rng.uniform(0.3, 2.0, units)
    names = "abcde"[:units]
    equations = []
    for i, name in enumerate(names):
        others = {(i + 1) % units, (i - 1) % units} if ring else set(range(units)) - {i}
        pulls = "".join(f" + {strength:.2f}*sin({names[j]} - {name})" for j in sorted(others))
        equations.append(f"{name}' = {frequencies[i]:.2f}{pulls}")
    return ODESystem.from_text("; ".join(equations))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=len(UNITS))
    parser.add_argument("--noise", default="0,0.03")
    parser.add_argument("--budget", type=float, help="seconds for a fit; default: as for any user")
    options = parser.parse_args()
    for noise in map(float, options.noise.split(",")):
        held = []
        for case in range(options.cases):
            rng = np.random.default_rng(FIRST_SEED + case)
            system = network(rng, UNITS[case % len(UNITS)], ring=case % 2 == 1)
            start, other = rng.uniform(0.0, 6.0, (2, system.dimension))
            states = system.simulate(start, T)
            seen = states + noise * states.std(axis=0) * rng.normal(size=states.shape)
            begin = time.perf_counter()
            budget = {} if options.budget is None else {"time_budget": options.budget}
            model = ODEFormer(random_state=0, **budget).fit(seen, T, variables=list(system.variables))
            there = variance_weighted_r2(system.simulate(other, T), model.system_.simulate(other, T))
            held.append(there > GOOD)
            print(
                f"{100 * noise:g} %  case {case}  {system.dimension} units  from elsewhere R2 = {there:.4f}"
                f"  weight {model.equations_.weight[0]:.2f}  {time.perf_counter() - begin:.1f} s",
                flush=True,
            )
        print(f"{100 * noise:g} % noise: {sum(held)} of {len(held)} hold from another start")


if __name__ == "__main__":
    main()
