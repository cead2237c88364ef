"""The laboratory set: order 2, inputs, conditions, hidden states, explicit time.

    python benchmarks/laboratory.py [--methods odefinder,sindy] [--noise 0,0.03] [--systems "order 2,house"]
                                    [--jobs 1] [--seed 0] [--out runs/laboratory.jsonl] [--report]

Writes one line for each fit; the same command goes on where it stopped.  --report only prints the table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from odefinder.bench.laboratory.entries import chosen, read_laboratory
from odefinder.bench.laboratory.study import METHODS, jobs_of, read_results, run, table

SET = Path(__file__).parent / "sets" / "laboratory.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(METHODS), help=f"of {', '.join(METHODS)}")
    parser.add_argument("--noise", default="0,0.03", help="shares of each variable's spread")
    parser.add_argument("--systems", help="ids or groups, with commas; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", type=Path, default=SET)
    parser.add_argument("--out", type=Path, default=Path("runs/laboratory.jsonl"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    jobs = jobs_of(
        options.set,
        chosen(read_laboratory(options.set), options.systems),
        options.methods.split(","),
        [float(noise) for noise in options.noise.split(",")],
        options.seed,
    )
    if not options.report:
        for result in run(jobs, options.out, options.jobs):
            print(
                f"{result.method:10} {result.system:22} {result.split} noise {result.noise:<5g} "
                f"forecast {_shown(result.forecast)} other {_shown(result.other)} {result.wall_s:6.1f} s  "
                f"{result.status}",
                flush=True,
            )
    wanted = {job.key for job in jobs}
    print("\n".join(table(result for result in read_results(options.out) if result.key in wanted)))


def _shown(score: float | None) -> str:
    return "    -" if score is None else f"{max(score, -9.0):5.2f}"


if __name__ == "__main__":
    main()
