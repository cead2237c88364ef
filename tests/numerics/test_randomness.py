"""Random numbers: published test vectors, moments, independent streams."""

import math

import numpy as np
import pytest

from odefinder.numerics.randomness import (
    _next,
    _splitmix,
    chance,
    integer,
    log_uniform,
    normal,
    pick,
    seed_stream,
    uniform,
)

COUNT = 20_000


def stream(seed: int = 0, index: int = 0) -> np.ndarray:
    words = np.empty(4, np.uint64)
    seed_stream(words, seed, index)
    return words


def sample(function, *arguments, count: int = COUNT, seed: int = 1) -> np.ndarray:
    s = stream(seed)
    return np.array([function(s, *arguments) for _ in range(count)])


def test_published_numbers_of_xoshiro():
    s = np.array([1, 2, 3, 4], np.uint64)  # the test vector of the Rust crate rand_xoshiro
    assert [int(_next(s)) for _ in range(4)] == [41943041, 58720359, 3588806011781223, 3591011842654386]


def test_published_numbers_of_splitmix():
    state, numbers = 1234567, []
    for _ in range(3):
        state, number = _splitmix(np.uint64(state))
        numbers.append(int(number))
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]  # Rosetta Code


def test_the_same_numbers_on_every_machine():
    s = stream(seed=42, index=7)
    assert [uniform(s) for _ in range(3)] == [0.1848318526483581, 0.6382364801747342, 0.8478598350122449]
    assert [integer(s, 1, 6) for _ in range(8)] == [4, 5, 1, 1, 4, 4, 5, 6]
    assert normal(s) == pytest.approx(1.5129512545316504, rel=1e-14)


def test_streams_differ_by_seed_and_by_index():
    states = {tuple(stream(seed, index)) for seed in range(30) for index in range(30)}
    assert len(states) == 900
    first = np.array([uniform(stream(0, index)) for index in range(4000)])
    neighbours = np.corrcoef(first[:-1], first[1:])[0, 1]
    assert abs(neighbours) < 0.06
    assert abs(first.mean() - 0.5) < 0.02


@pytest.mark.parametrize("seed", [-1, 0, 2**62, 2**63 - 1])
def test_any_whole_number_is_a_seed(seed: int):
    assert 0.0 <= uniform(stream(seed)) < 1.0


def test_uniform():
    u = sample(uniform)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(u.var() - 1 / 12) < 0.003
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    counts = np.histogram(u, 20, (0, 1))[0]
    assert ((counts - COUNT / 20) ** 2).sum() / (COUNT / 20) < 45  # chi-square, 19 degrees: p = 7e-4


def test_normal():
    z = sample(normal)
    assert np.isfinite(z).all()
    assert abs(z.mean()) < 0.03
    assert abs(z.var() - 1.0) < 0.04
    assert abs((z**3).mean()) < 0.1
    assert abs((z**4).mean() - 3.0) < 0.2
    assert abs((np.abs(z) < 1.959964).mean() - 0.95) < 0.006


def test_integer_includes_both_ends_evenly():
    numbers = sample(integer, -2, 3)
    values, counts = np.unique(numbers, return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2, 3]
    assert ((counts - COUNT / 6) ** 2).sum() / (COUNT / 6) < 21  # 5 degrees: p = 8e-4
    assert set(sample(integer, 5, 5, count=20)) == {5}


def test_log_uniform():
    x = sample(log_uniform, 0.05, 20.0)
    assert x.min() >= 0.05
    assert x.max() <= 20.0
    position = np.log(x / 0.05) / math.log(400.0)
    assert abs(position.mean() - 0.5) < 0.01
    assert abs(position.var() - 1 / 12) < 0.003


def test_chance():
    assert abs(sample(chance, 0.3).mean() - 0.3) < 0.015
    assert not sample(chance, 0.0, count=1000).any()
    assert sample(chance, 1.0, count=1000).all()


def test_pick_follows_the_weights_and_never_takes_weight_zero():
    weights = np.array([0.0, 2.0, 1.0, 0.0, 5.0])
    counts = np.bincount(sample(pick, weights), minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    expected = COUNT * weights[[1, 2, 4]] / 8
    assert ((counts[[1, 2, 4]] - expected) ** 2 / expected).sum() < 14  # 2 degrees: p = 9e-4
