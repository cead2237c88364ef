"""Sums that the data conserve are named, and those that only look so are not."""

from collections.abc import Sequence

import numpy as np
import pytest

from odefinder.data import from_arrays, sample
from odefinder.inference.conserved import conserved_notes
from odefinder.system import ODESystem

SIR = ODESystem.from_text("S' = -0.004*S*I; I' = 0.004*S*I - 0.1*I; R' = 0.1*I")
FREE = ODESystem.from_text("x' = 1.1*x - 0.4*x*y; y' = 0.1*x*y - 0.4*y; z' = x - 0.5*z")


def notes(
    system: ODESystem, start: Sequence[float], end: float, points: int, sigma: float, seed: int = 0
) -> list[str]:
    times = np.linspace(0.0, end, points)
    states = system.simulate(start, times)
    noise = sigma * states.std(axis=0) * np.random.default_rng(seed).normal(size=states.shape)
    return conserved_notes(from_arrays(states + noise, times, list(system.variables)))


@pytest.mark.parametrize("sigma", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("points", [15, 100])
def test_a_closed_population_is_named(points: int, sigma: float) -> None:
    (note,) = notes(SIR, [99.0, 1.0, 0.0], 60.0, points, sigma)
    assert note.startswith("S + I + R = ")


@pytest.mark.parametrize("sigma", [0.0, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("points", [6, 8, 12, 50])
def test_nothing_is_found_by_chance(points: int, sigma: float) -> None:
    assert [notes(FREE, [10.0, 5.0, 1.0], 10.0, points, sigma, seed) for seed in range(20)] == [[]] * 20


def test_few_points_conserve_what_was_made_to_add_up() -> None:
    """Nine points of five variables in per cent: two more sums used to be named, by chance."""
    (note,) = conserved_notes(sample("alpha_pinene"))
    assert note.startswith("y1 + y2 + y3 + y4 + y5 = 100.1")


def test_factors_and_differences() -> None:
    dimers = ODESystem.from_text("a' = -2*a^2 + 0.6*b; b' = a^2 - 0.3*b")
    (note,) = notes(dimers, [1.0, 0.0], 5.0, 40, 0.01)
    assert note.startswith("a + 2*b = ")


def test_every_trajectory_has_its_own_sum() -> None:
    times = np.linspace(0.0, 60.0, 30)
    states = [SIR.simulate([first, 1.0, 0.0], times) for first in (99.0, 59.0)]
    (note,) = conserved_notes(from_arrays(states, [times, times], ["S", "I", "R"]))
    assert note.startswith("S + I + R stays the same in each trajectory of these data.")
    assert 'conserve="S + I + R"' in note
