"""The measure of a prior: how surprised a network is by true systems, in nats per system.

    python benchmarks/crossentropy.py [WEIGHTS ...] [--seeds 3] [--synthetic 100] [--out FOLDER]

The network reads data of known systems and writes the truth, in canonical units and form, token by token;
what counts is -log P of each token.  *Structure*: which operators, variables and constants stand where;
*constants*: which numbers they are.  Data: 150 points of each textbook system from each of its initial
values (benchmarks/sets/textbook.json, on which nothing is trained), and of synthetic systems drawn from the
default prior with a seed that training never uses; clean, with multiplicative noise of 5 %, and with
additive noise of 3 % of each variable's spread.  No fit, no sampling: it moves long before shares do.

Of several weights files, every later one is also compared with the first, system by system.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from odefinder.bench.sets import load_set
from odefinder.data.corruption import corrupt
from odefinder.data.observations import Observations
from odefinder.data.units import fit_scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.program import CONST, Program
from odefinder.inference.propose.decode import Decoding, Reading, token_log_probabilities
from odefinder.language.tokens import Vocabulary
from odefinder.network.files import shipped_weights
from odefinder.network.loading import load_runtime
from odefinder.network.runtime import Runtime
from odefinder.prior.examples import EXAMPLE, new_counts
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill

TEXTBOOK = Path(__file__).parent / "sets" / "textbook.json"
SYNTHETIC_SEED = 271_828_182  # never used for training
POINTS = 150
NOISE = {"clean": (0.0, 0.0), "multiplicative 5 %": (0.05, 0.0), "additive 3 %": (0.0, 0.03)}


@dataclass(frozen=True)
class Known:
    """A clean trajectory of a known system."""

    name: str
    program: Program
    t: np.ndarray  # (N,)
    x: np.ndarray  # (N, D)


@dataclass(frozen=True)
class Surprise:
    """-log P of the truth, in nats."""

    structure: float
    constants: float

    @property
    def total(self) -> float:
        return self.structure + self.constants


def textbook() -> list[Known]:
    """Every system from each of its initial values."""
    return [
        Known(system.id, system.program, system.t, x)
        for system in load_set(str(TEXTBOOK))
        for x in system.trajectories
    ]


def synthetic(count: int, preset: str = "default") -> list[Known]:
    """One clean trajectory of each of this many systems of a prior."""
    prior = prior_preset(preset)._replace(
        role_weights=prior_preset("plain").role_weights,
        clean_share=1.0,
        dense_share=1.0,
        siblings=1,
        trajectory_weights=np.array([1.0, 0.0, 0.0, 0.0]),
    )
    examples = np.zeros(count, EXAMPLE)
    layout = Vocabulary.preset("coarse").layout
    fill(
        examples, new_counts(), seed=SYNTHETIC_SEED, prior=prior, layout=layout, points=POINTS, max_tokens=200
    )
    return [
        Known(
            f"{preset} {example['index']}",
            Program(
                example["ops"][: example["n_nodes"]].copy(), example["values"][: example["n_nodes"]].copy()
            ),
            example["times"][:POINTS].copy(),
            example["states"][:POINTS, : example["dimension"]].copy(),
        )
        for example in examples
    ]


def observed(known: Known, multiplicative: float, additive: float, seed: int) -> tuple[Observations, Program]:
    """Noisy data in canonical units, and the truth in the same units."""
    t, x = corrupt(known.t, known.x, sigma=multiplicative, seed=seed)
    if additive > 0.0:
        x = x + additive * known.x.std(axis=0) * np.random.default_rng(seed).normal(size=x.shape)
    scaling = fit_scaling([t], [x])
    data = Observations(scaling.times(t), scaling.states(x), np.array([0, len(t)], dtype=np.int64))
    return data, scaling.to_scaled(known.program)


def surprise(runtime: Runtime, data: Observations, truth: Program) -> Surprise | None:
    """How surprised the network is by the truth; None for what it cannot write."""
    reading = Reading.of(runtime, data)
    vocabulary = reading.vocabulary
    try:
        ids = vocabulary.encode(truth).astype(np.int64)
    except ExpressionError:
        return None
    if len(ids) > Decoding().longest(runtime.settings):
        return None
    tokens, kinds = token_log_probabilities(runtime, reading.memory, [data.dimension], ids[None, None])
    number = vocabulary.token_opcode[ids] == CONST
    later = vocabulary.token_slot[ids] > 0  # the rest of a number says nothing about structure
    structure = -kinds[0, 0][~later].sum()
    return Surprise(float(structure), float(-tokens[0, 0][number].sum() + kinds[0, 0][number & ~later].sum()))


def measured(
    runtime: Runtime, systems: list[Known], multiplicative: float, additive: float, seeds: int
) -> Iterator[tuple[str, Surprise | None]]:
    """The surprise by every system and seed; one seed is enough where there is no noise."""
    for number, known in enumerate(systems):
        for seed in range(seeds if multiplicative or additive else 1):
            yield (
                known.name,
                surprise(runtime, *observed(known, multiplicative, additive, 1000 * number + seed)),
            )


def means_by_system(found: list[tuple[str, Surprise | None]]) -> dict[str, np.ndarray]:
    """Structure, constants and total (3,) of every system, as means over its data."""
    by_system: dict[str, list[tuple[float, float, float]]] = {}
    for name, one in found:
        if one is not None and np.isfinite(one.total):
            by_system.setdefault(name, []).append((one.structure, one.constants, one.total))
    return {name: np.mean(ones, axis=0) for name, ones in by_system.items()}


def difference(first: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, float]:
    """What the other network needs more than the first, on the systems that both can write."""
    more = np.array([other[name] - first[name] for name in first.keys() & other.keys()])
    mean, error = more.mean(axis=0), more.std(axis=0, ddof=1) / np.sqrt(len(more))
    parts = zip(("structure", "constants", "total"), mean, error, strict=True)
    return {
        key: round(float(value), 2)
        for part, change, its_error in parts
        for key, value in ((part, change), (f"{part} error", its_error))
    }


def summary(found: list[tuple[str, Surprise | None]]) -> dict[str, float]:
    """Means over systems with the standard error of the structure; systems, not data, are independent."""
    means = np.array(list(means_by_system(found).values()))
    structure, constants, total = means.mean(axis=0)
    errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    return {
        "systems": len(means),
        "left out": len({name for name, _ in found}) - len(means),
        "structure": round(float(structure), 2),
        "structure error": round(float(errors[0]), 2),
        "constants": round(float(constants), 2),
        "total": round(float(total), 2),
        "median structure": round(float(np.median(means[:, 0])), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="weights; by default the shipped ones")
    parser.add_argument("--runtime", choices=("onnx", "torch"), default="onnx")
    parser.add_argument("--seeds", type=int, default=3, help="noise seeds of each trajectory")
    parser.add_argument("--synthetic", type=int, default=100, help="synthetic systems; 0: none")
    parser.add_argument("--out", type=Path, help="folder for one JSON file each")
    options = parser.parse_args()
    sets = {"textbook": textbook()}
    if options.synthetic:
        sets["synthetic"] = synthetic(options.synthetic)
    first: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    for path in options.files or [shipped_weights()]:
        runtime = load_runtime(path, options.runtime)
        result: dict[str, dict[str, dict[str, object]]] = {}
        print(
            f"{path}\n{'':32}{'systems':>8}{'structure':>16}{'median':>9}{'constants':>11}{'total':>9}{'s':>6}"
        )
        for name, systems in sets.items():
            result[name] = {}
            for noise, (multiplicative, additive) in NOISE.items():
                began = time.perf_counter()
                found = list(measured(runtime, systems, multiplicative, additive, options.seeds))
                one = summary(found)
                means = means_by_system(found)
                compared = difference(first.setdefault((name, noise), means), means)
                result[name][noise] = one
                print(
                    f"{name + ', ' + noise:32}{one['systems']:8}"
                    f"{one['structure']:9.2f} +-{one['structure error']:4.1f}"
                    f"{one['median structure']:9.2f}{one['constants']:11.2f}{one['total']:9.2f}"
                    f"{time.perf_counter() - began:6.0f}",
                    flush=True,
                )
                if first[name, noise] is not means:
                    one["against the first"] = compared
                    print(
                        "    against the first: "
                        + ", ".join(
                            f"{part} {compared[part]:+.2f} +- {compared[part + ' error']:.2f}"
                            for part in ("structure", "constants", "total")
                        ),
                        flush=True,
                    )
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{path.stem}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
