"""Samples against outlines: which of them hold the true equations, and at what cost.

    python benchmarks/outlines.py [WEIGHTS ...] [--sets odebench textbook] [--kinds plain "order 2" hidden]

ODEBench (clean; sigma 0.05, rho 0.5), textbook systems (clean; 3 % additive noise), and synthetic systems of
the prior `default`, drawn with a seed that training never uses (100 points; see `roles.py`).  For each the
network draws 50 systems, and writes the likeliest outlines of every variable's equation, as many as in a fit.
Prints the share of cases in which all true equations are among them (up to the values of constants;
different equations may be in different samples), and the median time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from roles import chosen
from validate import cases_of

from odefinder.bench.roles import share
from odefinder.data.observations import Observations
from odefinder.expressions.form import Form
from odefinder.inference.proposals import OUTLINES, TOGETHER
from odefinder.inference.propose.decode import Decoding, Reading, decode
from odefinder.inference.propose.likeliest import likeliest
from odefinder.language.grammar import Forced
from odefinder.network.files import shipped_weights
from odefinder.network.loading import load_runtime
from odefinder.network.runtime import Runtime

Proposed = list[set[bytes]]  # structures, by variable


@dataclass(frozen=True)
class Known:
    """Data of a known system in canonical units."""

    data: Observations
    truth: Form
    forced: Forced  # equations that the network need not find, by state


def known_systems(
    sets: list[str], kinds: list[str], dimensions: list[int], count: int, sigma: float
) -> dict[str, list[Known]]:
    """Everything that is measured, by name."""
    found = {
        name: [Known(case.data, Form.of(case.truth), {}) for case in cases]
        for name, cases in cases_of(sets, 0).items()
    }
    for case in chosen("default", kinds, count, sigma) if kinds else []:
        if case.data.dimension in dimensions:
            name = f"{case.kind}, {case.data.dimension}-D"
            found.setdefault(name, []).append(Known(case.data, case.truth, case.forced))
    return found


def sampled(runtime: Runtime, known: Known, count: int) -> Proposed:
    """What this many samples hold."""
    reading = Reading.of(runtime, known.data, known.forced)
    result: Proposed = [set() for _ in range(known.data.dimension)]
    for proposal in decode(reading, Decoding(count, temperature=0.7)):
        for keys, equation in zip(result, proposal.form.components(), strict=True):
            keys.add(equation.key)
    return result


def outlined(runtime: Runtime, known: Known) -> Proposed:
    """The outlines of a fit."""
    reading = Reading.of(runtime, known.data, known.forced)
    wanted = [k for k in range(known.data.dimension) if k not in known.forced]
    result = [{equation.key} for equation in known.truth.components()]  # of forced ones nothing is asked
    count = min(OUTLINES, TOGETHER // len(wanted))
    for k, outlines in zip(wanted, likeliest(reading, wanted, count), strict=True):
        result[k] = {outline.form.key for outline in outlines}
    return result


def holds_all(proposed: Proposed, truth: Form) -> bool:
    """Whether every true equation was proposed."""
    return all(part.key in keys for part, keys in zip(truth.components(), proposed, strict=True))


def measured(
    ways: dict[str, Callable[[Known], Proposed]], known: Sequence[Known]
) -> dict[str, tuple[list[bool], float]]:
    """Whether each system's equations are all there, and the median seconds, by way."""
    result = {}
    for name, way in ways.items():
        there, seconds = [], []
        for one in known:
            began = time.perf_counter()
            proposed = way(one)
            seconds.append(time.perf_counter() - began)
            there.append(holds_all(proposed, one.truth))
        result[name] = there, float(np.median(seconds))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="weights or checkpoints; by default the shipped")
    parser.add_argument("--sets", nargs="*", default=["odebench", "textbook"])
    parser.add_argument("--kinds", nargs="*", default=["plain", "order 2", "hidden", "input"])
    parser.add_argument("--dimensions", nargs="*", type=int, default=[1, 2, 3, 4], help="of synthetic ones")
    parser.add_argument("--cases", type=int, default=80, help="synthetic ones of every kind and dimension")
    parser.add_argument("--sigma", type=float, default=0.02, help="multiplicative noise of synthetic cases")
    parser.add_argument("--count", type=int, default=50, help="samples")
    parser.add_argument("--every", type=int, default=1, help="every so many cases only")
    parser.add_argument("--runtime", choices=("torch", "onnx"), default="onnx")
    options = parser.parse_args()
    groups = known_systems(options.sets, options.kinds, options.dimensions, options.cases, options.sigma)
    for path in options.files or [shipped_weights()]:
        runtime = load_runtime(path, options.runtime)
        ways: dict[str, Callable[[Known], Proposed]] = {
            "samples": lambda known, runtime=runtime: sampled(runtime, known, options.count),
            "outlines": lambda known, runtime=runtime: outlined(runtime, known),
        }
        print(f"{path}\n{'':28}{'cases':>6}{'samples':>14}{'s':>6}{'outlines':>14}{'s':>6}{'either':>14}")
        for name, known in groups.items():
            found = measured(ways, known[:: options.every])
            cells = [f"{share(there)[0]:8.1f} ±{share(there)[1]:4.1f}{s:6.2f}" for there, s in found.values()]
            either = share([any(pair) for pair in zip(*(there for there, _ in found.values()), strict=True)])
            count = len(known[:: options.every])
            print(f"{name:28}{count:6d}{''.join(cells)}{either[0]:8.1f} ±{either[1]:4.1f}", flush=True)


if __name__ == "__main__":
    main()
