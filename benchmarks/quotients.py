"""Random rate laws over a denominator: does the law that is found hold from another start?

    python benchmarks/quotients.py [--cases 24] [--noise 0,0.03] [--budget SECONDS] [--without]

Inhibition by the substrate (alone, in a chemostat, in a predator's appetite), Hill's law with real exponents
(of itself, of each other, in a cascade of three); 120 points.  Noise is additive, relative to each variable's
spread.  `--without` leaves out `inference/propose/quotients.py`.  Nothing is trained on them, but that file
was developed on fourteen systems of these kinds, with other constants.  A law counts as found where
R2 > 0.9999 from another start.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.bench.metrics import GOOD
from odefinder.errors import OdefinderError
from odefinder.inference.propose import sparse
from odefinder.numerics.r2 import variance_weighted_r2

T = np.linspace(0.0, 15.0, 120)
FIRST_SEED = 200
FOUND = 0.9999
LEAST_CHANGE = 0.2  # of each variable, relative to its largest value: less shows nothing
Draw = Callable[[float, float], float]


def inhibition(draw: Draw) -> str:
    return f"S' = {draw(0.2, 0.6)} - {draw(1, 3)}*S/({draw(0.3, 1)} + S + {draw(0.2, 1)}*S^2)"


def chemostat(draw: Draw) -> str:
    rate = f"S*X/({draw(0.4, 1.5)} + S + {draw(0.1, 0.6)}*S^2)"
    dilution = draw(0.1, 0.3)
    return (
        f"S' = {dilution}*({draw(3, 8)} - S) - {draw(1, 2.5)}*{rate}; "
        f"X' = {draw(0.6, 1.4)}*{rate} - {dilution}*X"
    )


def predator(draw: Draw) -> str:
    appetite = f"x*y/(1 + {draw(0.1, 0.5)}*x + {draw(0.1, 0.5)}*x^2)"
    return (
        f"x' = {draw(0.8, 1.5)}*x*(1 - x/{draw(4, 9)}) - {draw(1, 2)}*{appetite}; "
        f"y' = {draw(0.6, 1.2)}*{appetite} - {draw(0.2, 0.4)}*y"
    )


def switch(draw: Draw) -> str:
    power = draw(1.5, 5)
    return f"x' = {draw(0.1, 0.5)} + {draw(2, 5)}*x^{power}/({draw(2, 9)} + x^{power}) - {draw(0.6, 1.4)}*x"


def toggle(draw: Draw) -> str:
    return (
        f"u' = {draw(2, 5)}/(1 + v^{draw(1.5, 4)}) - {draw(0.6, 1.2)}*u; "
        f"v' = {draw(2, 5)}/(1 + u^{draw(1.5, 4)}) - {draw(0.6, 1.2)}*v"
    )


def cascade(draw: Draw) -> str:
    return (
        f"x' = {draw(1.5, 3)}/(1 + {draw(0.05, 0.5)}*z^{draw(3, 9)}) - {draw(0.3, 0.6)}*x; "
        f"y' = {draw(0.4, 0.9)}*x - {draw(0.3, 0.6)}*y; z' = {draw(0.4, 0.9)}*y - {draw(0.3, 0.6)}*z"
    )


KINDS = (inhibition, chemostat, predator, switch, toggle, cascade)


def drawn(case: int) -> tuple[ODESystem, np.ndarray, np.ndarray, np.random.Generator]:
    """A system, two starts, and what goes on being random."""
    rng = np.random.default_rng(FIRST_SEED + case)
    while True:
        system = ODESystem.from_text(KINDS[case % len(KINDS)](lambda a, b: round(rng.uniform(a, b), 2)))
        start, other = rng.uniform(0.2, 5.0, (2, system.dimension))
        try:
            states = system.simulate(start, T)
        except OdefinderError:
            continue
        if (np.ptp(states, axis=0) > LEAST_CHANGE * np.abs(states).max(axis=0)).all():
            return system, start, other, rng


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--noise", default="0,0.03")
    parser.add_argument("--budget", type=float, help="seconds for a fit; default: as for any user")
    parser.add_argument("--without", action="store_true", help="without the denominators of the regression")
    options = parser.parse_args()
    left_out = patch.object(sparse, "quotient_features", lambda *_: []) if options.without else nullcontext()
    with left_out:
        for noise in map(float, options.noise.split(",")):
            study(noise, options.cases, {} if options.budget is None else {"time_budget": options.budget})


def study(noise: float, cases: int, settings: dict[str, float]) -> None:
    """All cases with this noise."""
    there, begin = [], time.process_time()
    for case in range(cases):
        system, start, other, rng = drawn(case)
        states = system.simulate(start, T)
        seen = states + noise * states.std(axis=0) * rng.normal(size=states.shape)
        model = ODEFormer(random_state=0, **settings).fit(seen, T, variables=list(system.variables))
        try:
            found = model.system_.simulate(other, T)
        except OdefinderError:
            found = np.full((len(T), system.dimension), np.nan)
        there.append(variance_weighted_r2(system.simulate(other, T), found))
        print(
            f"{100 * noise:g} %  case {case:2}  {KINDS[case % len(KINDS)].__name__:10}  from elsewhere "
            f"R2 = {there[-1]:7.4f}  weight {model.equations_.weight[0]:.2f}",
            flush=True,
        )
    r2 = np.array(there)
    print(
        f"{100 * noise:g} % noise: {(r2 > FOUND).sum()} of {cases} laws found, {(r2 > GOOD).sum()} hold from "
        f"another start; {(time.process_time() - begin) / cases:.1f} CPU s per fit"
    )


if __name__ == "__main__":
    main()
