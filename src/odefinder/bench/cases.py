"""Cases: data in canonical units with the truth behind them; cases from the prior are drawn here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Observations
from odefinder.data.units import T_START
from odefinder.expressions.program import Program
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.integrate import Status, integrate
from odefinder.prior.examples import EXAMPLE, Example, new_counts
from odefinder.prior.presets import ALL_PLAIN, Prior, prior_preset
from odefinder.prior.sampler import fill

Floats = NDArray[np.float64]
VALIDATION_SEED = 987_654_321  # never used for training


@dataclass(frozen=True)
class Case:
    """Observed data in canonical units, and the truth to compare with, in the same units."""

    data: Observations
    truth: Program
    dense_times: Floats
    dense: Floats  # clean trajectory from its own start
    other: Floats  # clean trajectory from another start
    group: str

    @property
    def dimension(self) -> int:
        return self.data.dimension


def synthetic_cases(
    count: int, *, prior: Prior | None = None, points: int = 100, seed: int = VALIDATION_SEED
) -> list[Case]:
    """Fully observed cases from a prior, equally many of each dimension 1 to 6, all with this many points."""
    base = prior or prior_preset("plain")
    cases: list[Case] = []
    for dimension in range(1, MAX_DIMENSION + 1):
        weights = np.zeros(MAX_DIMENSION)
        weights[dimension - 1] = 1.0
        chosen = base._replace(
            dimension_weights=weights, role_weights=ALL_PLAIN, siblings=1, canonical_units=True,
            canonical_target=True,
        )  # fmt: skip
        examples = np.zeros(count, EXAMPLE)
        layout = Vocabulary.preset("coarse").layout
        fill(
            examples,
            new_counts(),
            seed=seed,
            first=dimension * 1_000_000,
            prior=chosen,
            layout=layout,
            points=points,
        )
        cases += [case for example in examples if (case := _synthetic_case(example)) is not None]
    return cases


def _synthetic_case(example: Example) -> Case | None:
    d, n, nodes = int(example["dimension"]), int(example["n_points"]), int(example["n_nodes"])
    truth = Program(example["ops"][:nodes].copy(), example["values"][:nodes].copy())
    trajectory = example["trajectory"][:n]
    bounds = np.searchsorted(trajectory, np.arange(example["n_trajectories"] + 1)).astype(np.int64)
    times = np.ascontiguousarray(example["times"][:n])
    data = Observations(times, np.ascontiguousarray(example["states"][:n, :d]), bounds)
    start = example["starts"][0, :d].copy()
    t = np.linspace(T_START, times[: bounds[1]].max(), 150)
    dense, status = integrate(truth, start, t, rtol=1e-8, atol=1e-10)
    other = _other_trajectory(truth, start, t)
    if status != Status.OK or other is None:
        return None
    noise = "clean" if example["sigma"] == 0 else ("low noise" if example["sigma"] < 0.05 else "high noise")
    return Case(data, truth, t, dense, other, f"{d}-D|{noise}|{example['n_trajectories']} traj")


def _other_trajectory(truth: Program, start: Floats, t: Floats) -> Floats | None:
    """A clean trajectory from elsewhere: the first of a few starts from which the system stays finite.

    As on ODEBench, repeating the observed trajectory must not be enough: every variable starts elsewhere,
    alternately larger and smaller, by at least 0.1, and with the same sign.
    """
    even = np.arange(len(start)) % 2 == 0
    for first, second in ((0.5, -0.5), (-0.5, 0.5), (-0.4, -0.2), (0.2, -0.2)):
        share = np.where(even, first, second)
        outward = (share > 0.0) | (np.abs(start) < 0.2)
        shift = np.maximum(np.abs(share * start), 0.1) * np.where(outward, 1.0, -1.0)
        begin = start + np.where(start < 0.0, -shift, shift)
        states, status = integrate(truth, begin, t, rtol=1e-8, atol=1e-10, bound=50.0)
        if status == Status.OK:
            return states
    return None
