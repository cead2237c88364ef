"""The noise study of pysindy on our methods: 70 chaotic systems, four levels of noise.

    python benchmarks/chaotic.py [--methods odefinder,stlsq] [--noise 0,0.1,1,5] [--systems lorenz,rossler]
                                 [--budget 10] [--jobs 1] [--out runs/chaotic.jsonl] [--report]
                                 [--table FILE.csv] [--no-scores]

Writes one line for each fit; the same command goes on where it stopped.  --report only prints the summary,
--table also writes errors and scores to a CSV file; --no-scores judges only the coefficients, in less time.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from odefinder.bench.chaotic.data import NOISES
from odefinder.bench.chaotic.study import (
    METHODS,
    StudyTask,
    read_results,
    run,
    study_flows,
    summary,
    write_table,
)

SET = Path(__file__).parent / "sets" / "chaotic.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default="odefinder", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--noise", default=",".join(f"{noise:g}" for noise in NOISES), help="in per cent")
    parser.add_argument("--systems", help="ids, with commas; default: the 70 of the study")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a fit of ours")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/chaotic.jsonl"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--no-scores", action="store_true")
    options = parser.parse_args()
    tasks = [
        StudyTask(SET, method, flow.id, float(noise), options.seed, options.budget, not options.no_scores)
        for flow in study_flows(SET, options.systems)
        for noise in options.noise.split(",")
        for method in options.methods.split(",")
    ]
    if not options.report:
        for result in run(tasks, options.out, options.jobs):
            error = "inf" if result.error is None else f"{result.error:.3g}"
            print(
                f"{result.method:10} {result.system:22} {result.noise:4g} %  error {error:>8}  "
                f"{'found' if result.found else '-':6} {result.wall_s:6.1f} s  {result.status}",
                flush=True,
            )
    wanted = {task.key for task in tasks}
    results = [result for result in read_results(options.out) if result.key in wanted]
    print("\n".join(summary(results)))
    if options.table:
        write_table(results, options.table)


if __name__ == "__main__":
    main()
