"""What further trajectories of the same system are worth: generalization with 1, 2 and 4 of them.

    python benchmarks/trajectories.py [--cases 15] [--sigma .03] [--points 60] [--runtime onnx]

The same synthetic systems are observed along one, two or four trajectories from different initial values,
with --points points each; the network's samples are judged as in `benchmarks/validate.py`, on a trajectory
that is none of these.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from odefinder.bench.cases import Case, synthetic_cases
from odefinder.bench.validation import summary, validate
from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.data.units import fit_scaling
from odefinder.network.loading import load_runtime
from odefinder.numerics.integrate import Status, integrate
from odefinder.prior.presets import prior_preset

COUNTS = (1, 2, 4)
SEED = 27_182_818
SPREAD = 0.6  # of the logarithm of the factors by which initial values differ


def trajectories(case: Case, count: int, points: int) -> list[np.ndarray] | None:
    """Clean trajectories of the case's system, its own first; None if others blow up."""
    rng = np.random.default_rng(len(case.truth))
    t = np.linspace(case.dense_times[0], case.dense_times[-1], points)
    start, paths = case.dense[0], []
    for _ in range(20 * count):
        x0 = start * np.exp(SPREAD * rng.normal(size=len(start))) if paths else start
        path, status = integrate(case.truth, x0, t, rtol=1e-8, atol=1e-10, bound=50.0)
        if status == Status.OK:
            paths.append(path)
        if len(paths) == count:
            return paths
    return None


def observed(case: Case, paths: list[np.ndarray], sigma: float) -> Case:
    """The case, observed along these trajectories, in the canonical units of the observations."""
    t = np.linspace(case.dense_times[0], case.dense_times[-1], len(paths[0]))
    noisy = [corrupt(t, path, sigma=sigma, seed=k) for k, path in enumerate(paths)]
    scaling = fit_scaling([times for times, _ in noisy], [states for _, states in noisy])
    data = Observations.joined(
        [scaling.times(times) for times, _ in noisy], [scaling.states(states) for _, states in noisy]
    )
    return replace(
        case,
        data=data,
        truth=scaling.to_scaled(case.truth),
        dense_times=1.0 + scaling.rate * (case.dense_times - case.dense_times[0]),
        dense=scaling.states(case.dense),
        other=scaling.states(case.other),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=15, help="systems of each dimension 1 to 4")
    parser.add_argument("--sigma", type=float, default=0.03)
    parser.add_argument("--points", type=int, default=60, help="of each trajectory")
    parser.add_argument("--runtime", choices=("onnx", "torch"), default="onnx")
    parser.add_argument("--weights", help="by default those of the package")
    options = parser.parse_args()
    runtime = load_runtime(options.weights, options.runtime)
    single = prior_preset("default")._replace(trajectory_weights=np.array([1.0, 0.0, 0.0, 0.0]))
    drawn = [c for c in synthetic_cases(options.cases, prior=single, seed=SEED) if c.dimension <= 4]
    paths = {k: trajectories(case, max(COUNTS), options.points) for k, case in enumerate(drawn)}
    for count in COUNTS:
        cases = [
            observed(case, path[:count], options.sigma)
            for k, case in enumerate(drawn)
            if (path := paths[k]) is not None
        ]
        content = summary(validate(runtime, cases))
        print(
            f"{count} trajectories:",
            "  ".join(f"{key} {value}" for key, value in content.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
