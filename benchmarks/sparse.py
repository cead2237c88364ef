"""Sparse proposals alone, without a network: how often they find the system, and in what time.

    python benchmarks/sparse.py [--cases 20] [--no-odebench] [--cells 0,0 .05,.5] [--out FILE]

For every case: estimate states, propose equations, combine the best of each variable, fit the constants on
the trajectory, choose by the observed data; if the states are uncertain, repeat this along the trajectory of
the chosen system.  Prints the share of cases with R2 > 0.9 for the reconstructed and for another trajectory,
by dimension; how often the true structure was among the systems fitted and the true equation among the
proposals of its variable; and CPU seconds.  The synthetic cases come from the prior: as drawn (any noise,
several trajectories), and one trajectory each, corrupted as the cells say.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from odefinder.bench.cases import Case, synthetic_cases
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.bench.tasks import task_cases
from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.expressions.canonical import skeleton
from odefinder.inference.choose.criterion import best_fit
from odefinder.inference.fit.horizon import fit_growing
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.states import estimate_states, states_of_model
from odefinder.inference.propose.sparse import combinations, propose

SYSTEMS = 12  # combinations whose constants are fitted
ROUGH = 1e-3  # error of the state estimate, relative to the signal, above which a second pass may help
GOOD_ERROR = 1e-4  # mean squared scaled residual beyond noise: better fits need no growing horizon


@dataclass(frozen=True)
class Result:
    """The outcome of a case."""

    dimension: int
    reconstruction: float
    generalization: float
    equations: float  # share of true equations among the proposals
    structure: bool  # the true structure is among the systems fitted
    seconds: float


def run(case: Case, passes: int) -> Result:
    """Fit one case."""
    begin = time.process_time()
    data = case.data
    estimate = first = estimate_states(data)
    noise = 1.5 * float(np.mean((first.noise / data.scale) ** 2)) if first.smoothed else 0.0
    best: Fit | None = None
    fits: list[Fit] = []
    equations: list[set[bytes]] = [set() for _ in range(data.dimension)]
    structures: set[bytes] = set()
    rough = first.smoothed or (first.noise / data.scale).max() > ROUGH
    for _ in range(passes if rough else 1):
        if best is not None:
            again = states_of_model(best.program, best.starts, data, first)
            if again is None:
                break
            estimate = again
        fronts = propose(data, estimate)
        systems = combinations(fronts, SYSTEMS)
        how = {"starts": estimate.starts, "fit_starts": first.smoothed}
        fits += [fit_constants(program, data, **how) for program in systems]
        best = best_fit(fits, data, first)
        if best is None or best.error > GOOD_ERROR + noise:
            fits += [fit_growing(program, data, **how) for program in systems]
            best = best_fit(fits, data, first)
        for found, front in zip(equations, fronts, strict=True):
            found |= {skeleton(fit.program) for fit in front}
        structures |= {skeleton(program) for program in systems}
    seconds = time.process_time() - begin
    reconstruction, generalization = (
        -np.inf if best is None else trajectory_r2(best.program, path[0], case.dense_times, path)
        for path in (case.dense, case.other)
    )
    true = [skeleton(truth) in found for truth, found in zip(case.truth.components(), equations, strict=True)]
    structure = skeleton(case.truth) in structures
    return Result(data.dimension, reconstruction, generalization, float(np.mean(true)), structure, seconds)


def observed_again(case: Case, sigma: float, rho: float, seed: int) -> Case:
    """The case's first trajectory, corrupted in another way."""
    times, states = corrupt(case.dense_times, case.dense, sigma=sigma, rho=rho, seed=seed)
    return replace(case, data=Observations(times, states, np.array([0, len(times)], dtype=np.int64)))


def figures(results: list[Result]) -> dict[str, float]:
    """Percentages and mean seconds."""

    def share(values: list[float]) -> float:
        return round(100.0 * float(np.mean(values)), 1)

    return {
        "cases": len(results),
        "reconstruction": share([r.reconstruction > GOOD for r in results]),
        "generalization": share([r.generalization > GOOD for r in results]),
        "true equations proposed": share([r.equations for r in results]),
        "true structure fitted": share([r.structure for r in results]),
        "seconds": round(float(np.mean([r.seconds for r in results])), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=20, help="synthetic systems per dimension")
    parser.add_argument("--seed", type=int, default=1, help="of the synthetic systems")
    parser.add_argument("--no-odebench", action="store_true")
    parser.add_argument("--cells", nargs="+", default=["0,0", "0,.5", ".05,0", ".05,.5"], help="sigma,rho")
    parser.add_argument(
        "--passes",
        type=int,
        default=2,
        help="of proposals, if states are uncertain",
    )
    parser.add_argument("--out", type=Path, help="a JSON file")
    options = parser.parse_args()
    cells = [tuple(map(float, cell.split(","))) for cell in options.cells]
    sets: dict[str, list[Case]] = {}
    if not options.no_odebench:
        for sigma, rho in cells:
            sets[f"odebench {sigma:g},{rho:g}"] = task_cases("odebench", sigma=sigma, rho=rho)
    if options.cases:
        drawn = synthetic_cases(options.cases, seed=options.seed)
        sets["synthetic, as drawn"] = drawn
        for sigma, rho in cells:
            again = [observed_again(case, sigma, rho, k) for k, case in enumerate(drawn)]
            sets[f"synthetic {sigma:g},{rho:g}"] = again
    report = {}
    for name, cases in sets.items():
        run(cases[0], options.passes)  # compile
        results = [run(case, options.passes) for case in cases]
        report[name] = {"all": figures(results)}
        for dimension in sorted({r.dimension for r in results}):
            report[name][f"{dimension}-D"] = figures([r for r in results if r.dimension == dimension])
        for part, content in report[name].items():
            print(f"{name:22} {part:4}", "  ".join(f"{key} {value}" for key, value in content.items()))
        print(flush=True)
    if options.out:
        options.out.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
