"""Writes src/odefinder/data/samples/pendulum.csv: a damped pendulum with noise.

python benchmarks/sample_data.py
"""

from pathlib import Path

import numpy as np

from odefinder import ODESystem

OUT = Path(__file__).parents[1] / "src" / "odefinder" / "data" / "samples" / "pendulum.csv"
SEED, SIGMA = 7, 0.03
PENDULUM = "angle' = velocity; velocity' = -0.25*velocity - 4*sin(angle)"


def main() -> None:
    t = np.arange(0.0, 12.05, 0.1)
    clean = ODESystem.from_text(PENDULUM).simulate([2.4, 0.0], t)
    scale = np.abs(clean).max(axis=0)
    noisy = clean + SIGMA * scale * np.random.default_rng(SEED).standard_normal(clean.shape)
    lines = [
        f"{time:.1f},{angle:.4f},{velocity:.4f}" for time, (angle, velocity) in zip(t, noisy, strict=True)
    ]
    header = (
        "# A damped pendulum with 3 % noise, written by benchmarks/sample_data.py.\ntime (s),angle,velocity"
    )
    OUT.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    print(f"{OUT}: {len(t)} points")


if __name__ == "__main__":
    main()
