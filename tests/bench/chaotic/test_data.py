"""The study's data: sizes, noise and starts as published, the same every time."""

from pathlib import Path

import numpy as np
import pytest

from odefinder.bench.chaotic.data import study_data
from odefinder.bench.chaotic.flows import read_flows

FLOWS = {flow.id: flow for flow in read_flows(Path(__file__).parents[3] / "benchmarks/sets/chaotic.json")}
LORENZ = study_data(FLOWS["lorenz"])


def test_ten_periods_with_100_points_each() -> None:
    assert len(LORENZ.train) == len(LORENZ.test) == 5
    assert all(states.shape == (1000, 3) for states in LORENZ.train + LORENZ.test)
    assert LORENZ.t[100] - LORENZ.t[0] == pytest.approx(FLOWS["lorenz"].period)
    starts = np.array([states[0] for states in LORENZ.train + LORENZ.test])
    assert len(np.unique(starts, axis=0)) == 10


def test_noise_is_a_share_of_the_mean_root_mean_square() -> None:
    noise = np.concatenate([a - b for a, b in zip(LORENZ.observed(5.0), LORENZ.train, strict=True)])
    sizes = [np.sqrt((states**2).mean(axis=0)).mean() for states in LORENZ.train]
    assert noise.std(axis=0) == pytest.approx(0.05 * np.mean(sizes) * np.ones(3), rel=0.1)
    assert all(np.array_equal(a, b) for a, b in zip(LORENZ.observed(0.0), LORENZ.train, strict=True))


def test_the_same_seed_gives_the_same_data() -> None:
    again, other = study_data(FLOWS["lorenz"]), study_data(FLOWS["lorenz"], seed=1)
    assert np.array_equal(again.observed(1.0)[2], LORENZ.observed(1.0)[2])
    assert not np.array_equal(other.train[0], LORENZ.train[0])
    assert not np.array_equal(LORENZ.observed(1.0)[0], LORENZ.observed(0.1)[0])
