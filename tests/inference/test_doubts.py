"""Odd data and odd residuals are named, and ordinary ones are not."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data import from_arrays
from odefinder.inference.doubts import data_doubts

N = 120
T = np.linspace(0.0, 10.0, N)
RNG = np.random.default_rng(0)
NOISE = 0.02 * RNG.normal(size=N)


def sentences(x: np.ndarray) -> str:
    return " ".join(doubt.sentence for doubt in data_doubts(from_arrays(x.reshape(N, -1), T, ["x"])))


def stuck(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[50:65] = x[50]
    return x


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.sign(np.sin(2 * T)), "looks like a switch"),
        (np.sign(np.sin(2 * T)) + NOISE, "looks like a switch"),
        (stuck(np.sin(T)), "x seems to be stuck: 15 values in a row are exactly"),
        (stuck(np.sin(T) + NOISE), "stuck"),
        (np.minimum(np.sin(2 * T), 0.6), "cut off"),
        (np.minimum(np.sin(2 * T) + NOISE, 0.6), "exactly 0.6, its largest value"),
        (np.cumsum(np.random.default_rng(1).normal(size=N)), "random walk"),
    ],
)
def test_what_is_odd(values: np.ndarray, words: str) -> None:
    assert words in sentences(values)


@pytest.mark.parametrize(
    "values",
    [
        np.sin(T) + NOISE,
        np.sin(T) + 15 * NOISE,
        1 / (1 + np.exp(-3 * (T - 3))),
        np.round(1 / (1 + np.exp(-3 * (T - 3))), 2),
        np.maximum(1 - 0.3 * T, 0) ** 2,  # an empty tank stays empty
        NOISE,
        np.exp(-5 * T),
        np.ones(N),
    ],
)
def test_what_is_ordinary(values: np.ndarray) -> None:
    assert sentences(values) == ""


def test_a_random_walk_has_a_small_weight() -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(size=N))[:, None]
    model = ODEFormer(network=False).fit(walk, T)
    assert model.equations_["weight"][0] <= 0.1
    assert any("random walk" in note for note in model.notes_)


def test_residuals_that_are_no_noise_are_named() -> None:
    truth = ODESystem.from_text("x' = v; v' = -x - 0.1*v + 0.4*x^3")
    x = truth.simulate([1.0, 0.0], T)[:, :1] + NOISE[:, None]
    wrong = ODEFormer(network=False, sparse=False, order=2, guess="x' = x_dot; x_dot' = -x")
    model = wrong.fit(x, T, variables=["x"])
    if model.equations_["r2"][0] < 0.99:
        assert any("neighbouring residuals are alike" in note for note in model.notes_)
        assert "neighbouring residuals" in str(model.summary())
