"""What the statistics call stationary, oscillating and monotone; and that they add up."""

import json

import numpy as np
import pytest

from odefinder.expressions.program import OPCODE_BY_NAME, Program, concatenate
from odefinder.language.tokens import Vocabulary
from odefinder.prior.examples import ACCEPTED, EXAMPLE, Examples, new_counts
from odefinder.prior.filters import turning_points
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill
from odefinder.prior.statistics import Statistics, describe, no_statistics
from tests.programs import words

T = np.linspace(0.0, 10.0, 500)


def made(program: Program, start: list[float], end: float = 10.0) -> Examples:
    """An example of a system on [1, end], as far as its motion matters."""
    examples = np.zeros(1, EXAMPLE)
    example = examples[0]
    example["dimension"], example["n_points"], example["n_nodes"] = len(start), 2, len(program)
    example["n_trajectories"] = 1
    example["times"][:2] = 1.0, end
    example["starts"][0, : len(start)] = start
    example["ops"][: len(program)], example["values"][: len(program)] = program.ops, program.values
    return examples


OSCILLATOR = concatenate([words("x1"), words("mul -4 x0")])
DECAY = words("mul -1 x0")


@pytest.mark.parametrize(
    ("x", "turns"),
    [
        (np.sin(T), 3),  # pi/2, 3 pi/2, 5 pi/2
        (np.exp(-T), 0),
        (np.sin(T) + 0.004 * np.sin(50.0 * T), 3),  # ripples are below the tolerance
        (np.ones(10), 0),
        (np.array([0.0, 1.0, 0.0]), 1),
    ],
)
def test_turning_points(x: np.ndarray, turns: int) -> None:
    assert turning_points(x, 0.01 * np.ptp(x)) == turns


@pytest.mark.parametrize(
    ("examples", "kinds"),
    [
        (made(OSCILLATOR, [1.0, 0.0]), [1, 0, 1, 0]),
        (made(DECAY, [1.0]), [1, 0, 0, 1]),  # e^-6.75 of the range is left for the last quarter
        (made(DECAY, [1.0], end=20.0), [1, 1, 0, 1]),
        (made(OSCILLATOR, [1.0, 0.0], end=2.0), [1, 0, 0, 0]),  # one turn: neither
        (made(words("mul x0 x0"), [1.0]), [0, 0, 0, 0]),  # blows up: not measured
    ],
)
def test_kinds_of_motion(examples: Examples, kinds: list[int]) -> None:
    assert describe(examples).motion.tolist() == kinds


def test_counts_and_sums() -> None:
    examples, counts = np.zeros(60, EXAMPLE), new_counts()
    fill(examples, counts, seed=5, first=0, prior=prior_preset("default"), layout=Vocabulary().layout)
    whole = describe(examples, counts)
    assert whole.examples == whole.family.sum() == whole.nodes.sum() == whole.tokens.sum() == 60
    assert whole.drawn[ACCEPTED].sum() == 60
    assert whole.drawn.sum() == examples["tries"].sum()
    sines = sum(
        OPCODE_BY_NAME["sin"] in example["ops"][: example["n_nodes"]].tolist() for example in examples
    )
    assert whole.operators[OPCODE_BY_NAME["sin"]] == sines
    parts = no_statistics() + describe(examples[:20], counts) + describe(examples[20:])
    assert parts.to_dict() == whole.to_dict()
    assert Statistics.from_dict(json.loads(json.dumps(whole.to_dict()))).to_dict() == whole.to_dict()


def test_words() -> None:
    statistics = describe(np.concatenate([made(DECAY, [1.0]), made(OSCILLATOR, [1.0, 0.0])]))
    summary = dict(statistics.summary())
    assert summary["examples"] == "2"
    assert summary["dimension"] == "1 50.0%, 2 50.0%"
    assert summary["oscillating"] == "50.0%"
    assert summary["systems with"] == "mul 100.0%"
    assert summary["complexity (nodes)"].startswith("mean 4, median 3")
    statistics.drawn[:2, 2] = 30_000, 10_000
    header, total, accepted, diverged = statistics.drawn_table()
    assert header[2] == "2-D"
    assert total[2] == total[-1] == "40k"
    assert (accepted[0], accepted[2]) == ("accepted", "75.0%")
    assert (diverged[0], diverged[-1]) == ("diverged", "25.0%")
    assert no_statistics().summary()[0] == ("examples", "0")
