"""Lorenz with 3 % additive noise, 300 points on 4 time units: is the law in the first row?

    python benchmarks/lorenz.py [--seeds 10] [--noise 3] [--points 300] [--duration 4] [--budget 10]

Each seed has another start on the attractor and other noise.  Prints each first row, whether it has the
structure of the law, the error of its coefficients, and the time of the fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from odefinder.bench.chaotic.coefficients import coefficient_error
from odefinder.bench.protocol import same_structure
from odefinder.estimator import ODEFormer
from odefinder.system import ODESystem

LORENZ = ODESystem.from_text("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--noise", type=float, default=3.0, help="per cent of each standard deviation")
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--duration", type=float, default=4.0)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a fit")
    options = parser.parse_args()
    t = np.linspace(0.0, options.duration, options.points)
    attractor = LORENZ.simulate([1.0, 1.0, 20.0], np.linspace(0.0, 200.0, 2001))
    found = 0
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        states = LORENZ.simulate(attractor[rng.integers(100, 2001)], t)
        states += 0.01 * options.noise * states.std(axis=0) * rng.normal(size=states.shape)
        begin = time.perf_counter()
        model = ODEFormer(time_budget=options.budget).fit(states, t, variables=["x", "y", "z"])
        wall = time.perf_counter() - begin
        right = same_structure(model.system_.program, LORENZ.program)
        found += right
        error = coefficient_error(model.system_.program, LORENZ.program)
        row = "; ".join(model.system_.to_text(4).splitlines())
        print(f"{seed:3} {'law' if right else '-':4} error {error:.3g} {wall:6.1f} s  {row}", flush=True)
    print(f"the law is in the first row for {found} of {options.seeds} seeds")


if __name__ == "__main__":
    main()
