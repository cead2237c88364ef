"""How well noise and initial values are estimated from the data, before anything is fitted.

    python benchmarks/noise.py benchmarks/sets/textbook.json runs/plain.json

For every variable of every system of some sets, under several kinds of noise: by how much the estimated
standard deviations of the observations are wrong (mean absolute logarithm); and how far the estimated
initial value is from the true one, in true standard deviations of an observation and in its own standard
error.  Errors below 3 % of the root mean square noise count as that much.  `objective.py draw` writes
synthetic sets.
"""

from __future__ import annotations

import argparse
import hashlib

import numpy as np
from objective import corrupted

CELLS = "m.01,m.03,m.05,a.01,a.03,a.05"
LEAST = 0.03  # of the root mean square of the noise


def judged(paths: list[str], cell: str) -> np.ndarray:
    """For every variable: error of the noise, errors of the start in both units (variables, 3)."""
    from odefinder.bench.sets import load_set
    from odefinder.data import from_arrays
    from odefinder.inference.prepared import prepared

    rows = []
    for path in paths:
        for system in load_set(path):
            clean = system.trajectories[0]
            seed = int.from_bytes(hashlib.sha256(f"{system.id}|{cell}".encode()).digest()[:4], "big")
            ready = prepared(from_arrays(corrupted(clean, cell, seed), system.t))
            if ready.data.errors is None:  # taken for exact
                continue
            clean = clean / ready.scaling.factors
            size = np.abs(clean) if cell[0] == "m" else np.broadcast_to(clean.std(axis=0), clean.shape)
            noise = float(cell[1:]) * size
            least = LEAST * np.sqrt(np.mean(noise**2, axis=0))
            noise = np.maximum(noise, least)
            wrong = np.abs(np.log(np.maximum(ready.data.errors, least) / noise)).mean(axis=0)
            off = np.abs(ready.estimate.starts[0] - clean[0])
            moves = clean.std(axis=0) > 0.0
            rows += np.stack([wrong, off / noise[0], off / ready.estimate.start_errors[0]], axis=1)[
                moves
            ].tolist()
    return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--cells", default=CELLS)
    options = parser.parse_args()
    print(
        "noise  variables  log error of noise   start, true sd: median, 90 %   own error: median, 90 %, 97 %"
    )
    for cell in options.cells.split(","):
        wrong, off, own = judged(options.sets, cell).T
        print(
            f"{cell:6} {len(wrong):9} {wrong.mean():16.3f} ± {wrong.std() / np.sqrt(len(wrong)):.3f}"
            f" {np.median(off):18.2f} {np.quantile(off, 0.9):8.2f}"
            f" {np.median(own):20.2f} {np.quantile(own, 0.9):6.2f} {np.quantile(own, 0.97):6.2f}"
        )


if __name__ == "__main__":
    main()
