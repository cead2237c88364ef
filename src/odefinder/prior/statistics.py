"""What a prior draws and what it hands out: counts that add up over any number of examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import ADD, N_OPCODES, operator
from odefinder.limits.sizes import MAX_DIMENSION, MAX_TOKENS
from odefinder.numerics.solver import Tolerance, solve, workspace
from odefinder.prior.examples import ACCEPTED, EXAMPLE, MAX_PROGRAM, REASONS, Examples, new_counts
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.filters import OSCILLATES, is_stationary, most_turns

Ints = NDArray[np.int64]

GRID = 256  # points on which a motion is looked at
STILL = 1e-3  # stationary: nothing moves more than this share of its range over the last quarter
MEASURED, STATIONARY, OSCILLATING, MONOTONE = range(4)  # places in `Statistics.motion`


@compiled
def _measure_motion(examples: Examples, motion: Ints) -> None:
    """Integrate the first trajectory of each example without noise, and add its kind to the counts."""
    work = workspace(MAX_PROGRAM, MAX_DIMENSION)
    for i in range(len(examples)):
        example = examples[i]
        if example.n_known > 0:
            continue  # its signals are not kept
        last = 0
        while last + 1 < example.n_points and example.trajectory[last + 1] == 0:
            last += 1
        t = np.linspace(example.times[0], example.times[last], GRID)
        x = np.empty((GRID, example.dimension))
        start = example.starts[0, : example.dimension]
        # The paper's tolerance for what it alone gets through: one in five of its trajectories steps over a
        # singularity.
        for rtol in (1e-5, 1e-3):
            tolerance = Tolerance(rtol, 1e-3 * rtol, 1000, 1e6)
            status = solve(example.ops, example.values, example.n_nodes, start, t, tolerance, work, x)
            if status == ACCEPTED:
                break
        if status != ACCEPTED:
            continue
        motion[MEASURED] += 1
        motion[STATIONARY] += is_stationary(x, STILL, True)
        most = most_turns(x)
        motion[OSCILLATING] += most >= OSCILLATES
        motion[MONOTONE] += most == 0


@dataclass(frozen=True)
class Statistics:
    """Counts over examples; two of them add up with `+`.

    The motion is judged without noise: each example's first trajectory is integrated again on a fine grid
    over its observed time.  *Stationary*: over the last quarter no variable moves more than 0.1 % of its
    range.  *Oscillating*: some variable has at least three turning points, reversals of less than 1 % of
    its range ignored.  *Monotone*: no variable turns at all.
    """

    drawn: Ints  # (reasons, 1 + MAX_DIMENSION): systems drawn, by what became of them and dimension
    dimension: Ints  # (1 + MAX_DIMENSION,): examples by dimension
    family: Ints  # (families,)
    nodes: Ints  # (1 + MAX_PROGRAM,): examples by complexity
    tokens: Ints  # (1 + MAX_TOKENS,): examples by the length of the target, EOS included
    operators: Ints  # (opcodes,): examples in which an operator occurs
    motion: Ints  # (4,): measured, stationary, oscillating, monotone

    @property
    def examples(self) -> int:
        """How many examples were counted."""
        return int(self.dimension.sum())

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, for JSON."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Statistics:
        """What `to_dict` described."""
        return cls(**{f.name: np.array(entry[f.name], np.int64) for f in fields(cls)})

    def drawn_table(self) -> list[tuple[str, ...]]:
        """Rows of text: systems drawn and what became of them, by dimension; the first row is the header."""
        drawn = np.column_stack([self.drawn[:, 1:], self.drawn.sum(axis=1)])  # the last column is for all
        total = drawn.sum(axis=0)
        return [
            ("", *(f"{d}-D" for d in range(1, MAX_DIMENSION + 1)), "all"),
            ("systems drawn", *(_short(n) for n in total)),
            *(
                (name, *(f"{n / max(1, of):.1%}" for n, of in zip(row, total, strict=True)))
                for name, row in zip(REASONS, drawn, strict=True)
                if row.any()
            ),
        ]

    def summary(self) -> list[tuple[str, str]]:
        """Labels and values of what the accepted examples are like."""
        count = max(1, self.examples)
        measured = max(1, self.motion[MEASURED])
        by_share = sorted(range(ADD, N_OPCODES), key=lambda code: (-self.operators[code], code))
        families = sorted(range(len(FAMILY_NAMES)), key=lambda code: -self.family[code])
        return [
            ("examples", f"{self.examples:,}"),
            ("dimension", _shares(range(1, MAX_DIMENSION + 1), self.dimension[1:], count)),
            ("family", _shares([FAMILY_NAMES[k] for k in families], self.family[families], count)),
            ("complexity (nodes)", _spread(self.nodes)),
            ("target length (tokens)", _spread(self.tokens)),
            ("systems with", _shares([operator(c).name for c in by_share], self.operators[by_share], count)),
            ("stationary at the end", f"{self.motion[STATIONARY] / measured:.1%}"),
            ("oscillating", f"{self.motion[OSCILLATING] / measured:.1%}"),
            ("monotone", f"{self.motion[MONOTONE] / measured:.1%}"),
        ]


def _short(number: int) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= 10 * size:
            return f"{number / size:,.0f}{unit}"
    return f"{number}"


def _shares(names: Any, counts: Ints, total: int) -> str:
    pairs = zip(names, counts, strict=True)
    return ", ".join(f"{name} {number / total:.1%}" for name, number in pairs if number > 0)


def _spread(histogram: Ints) -> str:
    """Mean, quantiles and maximum of a histogram over 0, 1, 2, ..."""
    total = int(histogram.sum())
    if total == 0:
        return "-"
    mean = histogram @ np.arange(len(histogram)) / total
    low, median, high = np.searchsorted(histogram.cumsum(), np.array([0.05, 0.5, 0.95]) * total)
    largest = np.flatnonzero(histogram)[-1]
    return f"mean {mean:.0f}, median {median}, 5-95 % {low}-{high}, largest {largest}"


def describe(examples: Examples, drawn: Ints | None = None) -> Statistics:
    """The statistics of some examples, and of what was drawn for them where `fill` counted it."""
    motion = np.zeros(4, np.int64)
    _measure_motion(examples, motion)
    inside = np.arange(MAX_PROGRAM) < examples["n_nodes"][:, None]
    return Statistics(
        drawn=new_counts() if drawn is None else drawn.copy(),
        dimension=np.bincount(examples["dimension"], minlength=MAX_DIMENSION + 1),
        family=np.bincount(examples["family"], minlength=len(FAMILY_NAMES)),
        nodes=np.bincount(examples["n_nodes"], minlength=MAX_PROGRAM + 1),
        tokens=np.bincount(examples["n_tokens"], minlength=MAX_TOKENS + 1),
        operators=np.array(
            [((examples["ops"] == code) & inside).any(axis=1).sum() for code in range(N_OPCODES)], np.int64
        ),
        motion=motion,
    )


def no_statistics() -> Statistics:
    """The statistics of no examples: where a sum begins."""
    return describe(np.zeros(0, EXAMPLE))
