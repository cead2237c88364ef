"""Data as in the noise study of pysindy (Kaptanoglu et al., 2023; examples/16_noise_robustness).

Five trajectories to fit and five to test, each from a random point of the attractor, ten periods long with
100 points per period.  Additive Gaussian noise, the same for all variables of a trajectory: its standard
deviation is a share of the root mean square of each variable, averaged over the variables.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.chaotic.flows import Flow

Floats = NDArray[np.float64]

TRAJECTORIES, POINTS, PER_PERIOD = 5, 1000, 100
NOISES = (0.0, 0.1, 1.0, 5.0)  # per cent
PERIODS_OF_STARTS = 33  # the length of the trajectory that starts are drawn from


@dataclass(frozen=True, eq=False)
class StudyData:
    """The clean trajectories of one system, all at the same times."""

    flow: Flow
    t: Floats  # (POINTS,)
    train: list[Floats]  # (POINTS, D) each
    test: list[Floats]
    seed: int

    def observed(self, noise: float) -> list[Floats]:
        """The trajectories to fit, with noise in per cent."""
        rng = np.random.default_rng(_number(self.flow.id, self.seed, f"noise {noise:g}"))
        levels = [0.01 * noise * float(np.sqrt((states**2).mean(axis=0)).mean()) for states in self.train]
        return [
            states + level * rng.normal(size=states.shape)
            for states, level in zip(self.train, levels, strict=True)
        ]


def study_data(flow: Flow, seed: int = 0) -> StudyData:
    """The data of one system; the same on every machine."""
    rng = np.random.default_rng(_number(flow.id, seed, "starts"))
    times = np.arange(1000, dtype=np.float64) * (PERIODS_OF_STARTS * flow.period / 999)
    attractor = flow.trajectory(np.array(flow.start), times)
    starts = attractor[rng.choice(len(attractor), 2 * TRAJECTORIES, replace=False)]
    t = np.arange(POINTS, dtype=np.float64) * (flow.period / PER_PERIOD)
    paths = [flow.trajectory(start, t) for start in starts]
    return StudyData(flow, t, paths[:TRAJECTORIES], paths[TRAJECTORIES:], seed)


def _number(*parts: object) -> int:
    text = "|".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
