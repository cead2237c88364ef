"""Logistic growth under additive noise: how often the law is in the first row.

    python benchmarks/logistic.py [--sigma 0.03,0.05] [--seeds 20]

Every seed has its own rate, capacity and start; 100 points; noise relative to the standard deviation.
"""

from __future__ import annotations

import argparse

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.bench.protocol import same_structure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sigma", default="0.03,0.05")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    t = np.linspace(0.0, 12.0, 100)
    for sigma in map(float, options.sigma.split(",")):
        found, weights = 0, []
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            rate, capacity = rng.uniform(0.5, 1.5), 10.0 ** rng.uniform(-1.0, 2.0)
            law = ODESystem.from_text(f"x' = {rate}*x - {rate / capacity}*x^2")
            clean = law.simulate([capacity * rng.uniform(0.02, 0.2)], t)
            noise = sigma * clean.std() * rng.normal(size=clean.shape)
            model = ODEFormer(time_budget=120.0).fit(clean + noise, t)
            right = same_structure(model.system_.program, law.program)
            found += right
            weights.append(model.equations_["weight"][0])
            print(f"{sigma:g} {seed:3} {'law' if right else '   '} {weights[-1]:.2f}  {model.system_}")
        print(
            f"sigma {sigma:g}: the law is first in {found} of {options.seeds}, weight {np.mean(weights):.2f}"
        )


if __name__ == "__main__":
    main()
