"""Hidden variables: forecasts of textbook systems of which one variable is not shown.

    python benchmarks/hidden.py [--noise 0 .03] [--only fitzhugh-nagumo,...] [--budget 10] [--last]

Settings of the search for hidden states are chosen on these.  Of every system of two variables, and of a few
of three, the first variable is hidden, or the last.  The first 60 % of the record is seen; the score is R2 of
the rest, against the clean truth.
"""

from __future__ import annotations

import argparse
import time
import warnings
import zlib
from pathlib import Path

import numpy as np

from odefinder import ODEFormer
from odefinder.bench.sets import TrueSystem, load_set
from odefinder.errors import OdefinderError

SET = Path(__file__).parent / "sets" / "textbook.json"
SEEN = 0.6
ORDERLY = ("goodwin", "virus", "cholera")  # systems of three variables that are not chaotic


def forecast(one: TrueSystem, start: int, hide: int, noise: float, budget: float) -> tuple[float, str, float]:
    """R2 of the forecast, the equations, the seconds."""
    states = one.trajectories[start]
    t, clean = one.t, np.delete(states, hide, axis=1)
    rng = np.random.default_rng([start, zlib.crc32(one.id.encode())])
    seen = clean + noise * clean.std(axis=0) * rng.standard_normal(clean.shape)
    count = round(SEEN * len(t))
    begin = time.perf_counter()
    try:
        model = ODEFormer(hidden=1, time_budget=budget).fit(seen[:count], t[:count])
    except OdefinderError as problem:
        return -np.inf, str(problem), time.perf_counter() - begin
    wall = time.perf_counter() - begin
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = model.simulate(t=t)[count:, : clean.shape[1]] / clean.std(axis=0)
    truth = clean[count:] / clean.std(axis=0)
    left = ((path - truth) ** 2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum()
    return float(1.0 - left), "; ".join(model.system_.to_text(4).splitlines()), wall


def main() -> None:
    """Run all, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.03])
    parser.add_argument("--only", default="")
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--last", action="store_true", help="hide the last variable instead of the first")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    systems = [
        one
        for one in load_set(str(SET))
        if one.system.dimension == 2 or one.id in ORDERLY
        if not only or one.id in only
    ]
    for noise in options.noise:
        scores = []
        for one in systems:
            for start in range(options.starts):
                hide = one.system.dimension - 1 if options.last else 0
                r2, text, wall = forecast(one, start, hide, noise, options.budget)
                scores.append(r2)
                print(f"{noise:4g} {one.id:22} {max(r2, -9.0):6.3f} {wall:5.1f} s  {text}", flush=True)
        good = np.mean([score > 0.9 for score in scores])
        print(f"noise {noise:g}: {len(scores)} fits, {100 * good:.0f} % with R2 > 0.9", flush=True)


if __name__ == "__main__":
    main()
