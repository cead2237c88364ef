"""Chaos in data: found where it is, and not found in cycles, tori, noise and random motion."""

import numpy as np
import pytest
from numpy.typing import NDArray

from odefinder.numerics.chaos.divergence import divergence_of_neighbours
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

Floats = NDArray[np.float64]
LORENZ = ["10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"]
ROESSLER = ["-y - z", "x + 0.2*y", "0.2 + z*(x - 5.7)"]


def record(equations: list[str], start: list[float], step: float, points: int) -> tuple[Floats, Floats]:
    """On the attractor: the first 500 points are left out."""
    t = np.arange(points + 500) * step
    program = ODESystem.from_text(equations, ["x", "y", "z"][: len(equations)]).program
    return t[500:], integrate(program, start, t)[0][500:]


def noisy(states: Floats, level: float) -> Floats:
    return states + level * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)


@pytest.mark.parametrize(("level", "low", "high"), [(0.0, 0.7, 1.0), (0.03, 0.5, 1.0)])
def test_lorenz(level: float, low: float, high: float) -> None:
    """The exponent is 0.906."""
    t, states = record(LORENZ, [1.0, 1.0, 20.0], 0.02, 4000)
    found = divergence_of_neighbours([t], [noisy(states, level)])
    assert found.chaotic
    assert low < found.exponent < high
    assert "part by a factor of e every 1." in str(found)


def test_one_variable_of_lorenz_is_enough() -> None:
    t, states = record(LORENZ, [1.0, 1.0, 20.0], 0.02, 4000)
    found = divergence_of_neighbours([t], [states[:, :1]])
    assert found.chaotic
    assert found.exponent == pytest.approx(0.906, rel=0.3)


def test_roessler_in_two_records() -> None:
    """The exponent is 0.071."""
    t, states = record(ROESSLER, [1.0, 1.0, 0.0], 0.12, 5000)
    found = divergence_of_neighbours([t[:2500], t[2500:]], [states[:2500], states[2500:]])
    assert found.chaotic
    assert found.exponent == pytest.approx(0.071, rel=0.4)


@pytest.mark.parametrize("level", [0.0, 0.05])
def test_cycles_and_tori_are_not_chaotic(level: float) -> None:
    t, cycle = record(["y", "(1 - x^2)*y - x"], [1.0, 1.0], 0.1, 2000)
    torus = np.stack([np.sin(t), np.cos(t), np.sin(np.sqrt(2.0) * t)], axis=1)
    for states in (cycle, torus):
        found = divergence_of_neighbours([t], [noisy(states, level)])
        assert not found.chaotic
        assert str(found) == "no evidence of chaos in the data: neighbours stay neighbours"


def test_random_motion_is_not_chaotic() -> None:
    rng = np.random.default_rng(0)
    white = rng.normal(size=(2000, 2))
    turning = np.zeros((2000, 2))
    turn = 0.999 * np.array([[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]])
    for k in range(1, 2000):
        turning[k] = turn @ turning[k - 1] + 0.03 * white[k]
    for states in (white, turning, np.cumsum(white, axis=0)):
        assert not divergence_of_neighbours([np.arange(2000.0)], [states]).chaotic


def test_a_cycle_driven_by_noise_is_not_chaotic() -> None:
    rng = np.random.default_rng(3)
    x, path = np.array([1.0, 1.0]), []
    for _ in range(20_000):
        drift = np.array([x[1], (1.0 - x[0] ** 2) * x[1] - x[0]])
        x = x + 0.01 * drift + 0.003 * rng.normal(size=2)
        path.append(x)
    assert not divergence_of_neighbours([np.arange(2000) * 0.1], [np.array(path)[::10]]).chaotic


def test_short_and_still_records_say_why() -> None:
    t, states = record(LORENZ, [1.0, 1.0, 20.0], 0.02, 100)
    assert "should last" in divergence_of_neighbours([t], [states]).reason
    assert divergence_of_neighbours([t], [np.ones((100, 2))]).reason == "nothing moves"
