"""The figure of docs/chaos.md: noisy Lorenz data next to a system whose constants are 1 % off.

python benchmarks/figures/chaos_page.py [docs/images/attractors.png]
"""

from __future__ import annotations

import sys

import numpy as np

from odefinder.data import from_arrays
from odefinder.output.plot import plot_attractors, save
from odefinder.system import ODESystem

SEED, NOISE = 0, 0.02
TRUTH = "x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z"
MODEL = "x' = 9.9*(y - x); y' = x*(28.28 - z) - y; z' = x*y - 2.64*z"


def main() -> None:
    t = np.linspace(0.0, 40.0, 3000)
    states = ODESystem.from_text(TRUTH).simulate([-9.8, -15.0, 20.5], t)
    noise = NOISE * states.std(axis=0) * np.random.default_rng(SEED).normal(size=states.shape)
    data = from_arrays(states + noise, t, ["x", "y", "z"])
    path = sys.argv[1] if len(sys.argv) > 1 else "docs/images/attractors.png"
    save(plot_attractors(data, ODESystem.from_text(MODEL)), path, dpi=110)


if __name__ == "__main__":
    main()
