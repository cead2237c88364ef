"""Paths of hidden states follow from the equations that contain them."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.data.roles import Role
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.unseen import Frame, frames, hidden_states, solved, with_path
from odefinder.numerics.integrate import integrate
from tests.inference.fit.test_refine import program_of

PREDATOR = program_of(["1.2*x - 0.6*x*y", "0.4*x*y - 0.8*y"])
TIMES = np.linspace(1.0, 10.0, 150)


def half_seen(hidden: int = 1) -> tuple[Observations, np.ndarray]:
    """Prey and predator of which the last is not seen, and the truth."""
    truth, _ = integrate(PREDATOR, [3.0, 1.0], TIMES)
    states = truth.copy()
    states[:, 1] = np.nan
    roles = (Role.OBSERVED, Role.HIDDEN)
    return replace(Observations.joined([TIMES], [states]), roles=roles), truth


def test_an_equation_is_solved_for_what_is_missing() -> None:
    data, truth = half_seen()
    assert hidden_states(data) == [1]
    path = solved([(0, PREDATOR.components()[0])], 1, data, estimate_states(data))
    assert path is not None
    assert path == pytest.approx(truth[:, 1], abs=2e-3)


def test_frames_begin_with_the_simplest() -> None:
    data, truth = half_seen()
    first, second = frames(data)
    assert first == (Frame(1, 0),)
    assert second == (Frame(1, 0, 0),)
    path = solved([(0, second[0].equation())], 1, data, estimate_states(data))
    assert path == pytest.approx(1.2 - 0.6 * truth[:, 1], abs=2e-3)


def test_two_hidden_states_are_a_chain_or_drive_one_variable_each() -> None:
    states = np.full((20, 4), np.nan)
    states[:, :2] = np.random.default_rng(0).normal(size=(20, 2))
    roles = (Role.OBSERVED, Role.OBSERVED, Role.HIDDEN, Role.HIDDEN)
    data = replace(Observations.joined([np.arange(20.0)], [states]), roles=roles)
    chosen = list(frames(data))
    assert (Frame(2, 0), Frame(3, 2)) in chosen
    assert (Frame(2, 0), Frame(3, 1)) in chosen


def test_with_a_path_a_hidden_state_counts_as_seen() -> None:
    data, truth = half_seen()
    seen, estimate = with_path(data, estimate_states(data), 1, truth[:, 1])
    assert not seen.unseen.any()
    assert estimate.starts[0] == pytest.approx(truth[0], rel=1e-6)
    assert estimate.nodes[-1] == pytest.approx(truth[-1], rel=1e-2)


def test_an_equation_without_the_hidden_state_says_nothing() -> None:
    data, _ = half_seen()
    assert solved([(0, program_of(["-x"]).components()[0])], 1, data, estimate_states(data)) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("equation", ["exp(700*y)", "exp(900*y)", "-exp(2000*y)"])
def test_an_equation_that_is_too_steep_says_nothing(equation: str) -> None:
    data, _ = half_seen()
    steep = program_of([equation, "x"]).components()[0]
    assert solved([(0, steep)], 1, data, estimate_states(data)) is None
