"""Measured data: methods on copies of public files, scored as is usual for these data.

    python benchmarks/measured.py FOLDER [--methods odefinder,sindy] [--only "cascaded tanks"]

FOLDER holds the files where present, under these names: cascaded_tanks.csv, emps.csv and emps_pulses.csv,
ball_drops.xlsx, boarding_school.txt, antibiotic.txt, real_pend_h_1.txt, real_linear_h_1.txt.
docs/benchmark.md says where they come from.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from odefinder.bench.laboratory.judging import NotSupported
from odefinder.bench.laboratory.measured import read_measured, score
from odefinder.bench.laboratory.study import METHODS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS), help=f"of {', '.join(METHODS)}")
    parser.add_argument("--only", default="", help="problems whose names begin with this")
    options = parser.parse_args()
    print("| data | method | measure | value | s | equations |\n|---|---|---|---|---|---|")
    for problem in read_measured(options.folder):
        if not problem.name.startswith(options.only):
            continue
        for method in options.methods.split(","):
            begin = time.perf_counter()
            try:
                model = METHODS[method](problem.task)
                wall = time.perf_counter() - begin
                value = f"{score(model, problem):.4g}"
                equations = "; ".join(model.system.to_text(4).splitlines())
            except NotSupported as problem_of_method:
                wall, value, equations = 0.0, "not supported", str(problem_of_method)
            except Exception as failure:  # whatever a method does, the run goes on
                wall, value, equations = time.perf_counter() - begin, "failed", f"{failure}"[:100]
            print(
                f"| {problem.name} | {method} | {problem.unit} | {value} | {wall:.1f} | {equations} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
