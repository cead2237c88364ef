"""Data with roles: how often the true equations of all states are among the network's samples.

    python benchmarks/roles.py [WEIGHTS ...] [--kinds "order 2" hidden input] [--cases 100] [--sigma .02]

Synthetic systems of a prior, drawn with a seed that training never uses, 100 points of one trajectory:
velocities that nobody measured (order 2 from positions; x' = v is given), other hidden states, known inputs.
Other kinds are "inputs", "condition", "time", combinations such as "order 2 + input", and "plain".
Prints, by kind and dimension, the share of cases in which every true equation is among the samples, up to
the values of constants, and in which one sample has them all; with standard errors, in %.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from odefinder.bench.roles import PLAIN, Recovery, RoleCase, recoveries, role_case, share, with_noise
from odefinder.inference.propose.decode import Decoding
from odefinder.language.tokens import Vocabulary
from odefinder.network.files import shipped_weights
from odefinder.network.loading import load_runtime
from odefinder.prior.examples import EXAMPLE, Examples, new_counts
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill

SEED = 161_803_398  # never used for training
POINTS = 100
DRAWN_AT_ONCE, MOST_DRAWN = 1_000, 30_000


def drawn(preset: str, first: int, vocabulary: Vocabulary) -> Examples:
    """Clean examples of a prior, every point of one trajectory."""
    prior = prior_preset(preset)._replace(
        clean_share=1.0, dense_share=1.0, siblings=1, trajectory_weights=np.array([1.0, 0.0, 0.0, 0.0])
    )
    examples = np.zeros(DRAWN_AT_ONCE, EXAMPLE)
    fill(
        examples,
        new_counts(),
        seed=SEED,
        first=first,
        prior=prior,
        layout=vocabulary.layout,
        points=POINTS,
        max_tokens=200,
    )
    return examples


def chosen(preset: str, kinds: list[str], count: int, sigma: float) -> list[RoleCase]:
    """This many cases of these kinds and every dimension that the prior has, or as many as it soon draws."""
    vocabulary = Vocabulary.preset("coarse")
    groups: dict[tuple[str, int], list[RoleCase]] = {}
    for first in range(0, MOST_DRAWN, DRAWN_AT_ONCE):
        examples = drawn(preset, first, vocabulary)
        for example in with_noise(examples, sigma, seed=first):
            case = role_case(example, vocabulary)
            if case.kind in kinds:
                group = groups.setdefault((case.kind, case.data.dimension), [])
                if len(group) < count:
                    group.append(case)
        if groups and all(len(group) == count for group in groups.values()):
            break
    return [case for name in sorted(groups) for case in groups[name]]


def table(found: list[Recovery]) -> str:
    """Shares by kind, and by kind and dimension."""
    lines = [f"{'':24} {'cases':>6} {'all equations':>16} {'in one sample':>16}"]
    for kind in sorted({one.case.kind for one in found}, key=lambda kind: (kind == PLAIN, kind)):
        own = [one for one in found if one.case.kind == kind]
        parts = {f"{kind}, {d}-D": d for d in sorted({one.case.data.dimension for one in own})}
        for name, dimension in {kind: 0, **parts}.items():
            some = [one for one in own if dimension in (0, one.case.data.dimension)]
            shares = (share([one.equations for one in some]), share([one.system for one in some]))
            cells = " ".join(f"{value:9.1f} +- {error:3.1f}" for value, error in shares)
            lines.append(f"{name:24} {len(some):6d} {cells}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="weights or checkpoints; by default the shipped")
    parser.add_argument("--prior", default="default", help="preset of the prior")
    parser.add_argument("--cases", type=int, default=100, help="of every kind and dimension")
    parser.add_argument("--kinds", nargs="+", default=["order 2", "hidden", "input"])
    parser.add_argument("--sigma", type=float, default=0.02, help="multiplicative noise")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--runtime", choices=("torch", "onnx"), default="torch")
    options = parser.parse_args()
    cases = chosen(options.prior, options.kinds, options.cases, options.sigma)
    if not cases:
        parser.error(f"the prior {options.prior!r} draws no examples of these kinds: {options.kinds}")
    how = Decoding(options.samples, options.temperature)
    for path in options.files or [shipped_weights()]:
        start = time.perf_counter()
        found = recoveries(load_runtime(path, options.runtime), cases, how)
        print(f"{path}, sigma {options.sigma:g}, {time.perf_counter() - start:.0f} s")
        print(table(found), flush=True)


if __name__ == "__main__":
    main()
