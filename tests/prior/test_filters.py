"""Which trajectories are worth learning from."""

import numpy as np
import pytest

from odefinder.expressions.program import Program, concatenate
from odefinder.prior.filters import (
    has_constant,
    is_connected,
    is_stationary,
    is_undersampled,
    most_turns,
    oscillation,
    settling_row,
)
from tests.programs import words

T = np.linspace(0.0, 10.0, 100)


def columns(*variables: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.stack(variables, axis=1))


DECAY, WAVE, FLAT, GROWTH = np.exp(-2.0 * T), np.sin(T), np.full(100, 3.0), np.exp(0.5 * T)


def test_oscillation_is_the_range_from_a_row_on():
    x = columns(np.array([5.0, -1.0, 2.0, 1.5]))
    assert oscillation(x, 0, 0) == 6.0
    assert oscillation(x, 2, 0) == 0.5
    assert oscillation(x, 3, 0) == 0.0


@pytest.mark.parametrize("relative", [False, True])
def test_stationary_means_all_variables_at_rest_over_the_last_quarter(relative: bool):
    assert is_stationary(columns(DECAY), 1e-3, relative)
    assert is_stationary(columns(DECAY, FLAT), 1e-3, relative)
    assert is_stationary(columns(FLAT), 1e-3, relative)
    assert not is_stationary(columns(WAVE), 1e-3, relative)
    assert not is_stationary(columns(DECAY, GROWTH), 1e-3, relative)


def test_relative_to_the_range_or_absolute():
    small = columns(1e-5 * WAVE)
    assert is_stationary(small, 1e-3, False)
    assert not is_stationary(small, 1e-3, True)
    large = columns(1e6 * DECAY + 0.01 * T)
    assert not is_stationary(large, 1e-3, False)
    assert is_stationary(large, 1e-3, True)


def test_the_quarter_begins_at_three_quarters():
    x = np.zeros(100)
    x[74] = 1.0
    assert is_stationary(columns(x), 1e-3, False)
    x[75] = 1.0
    x[74] = 0.0
    assert not is_stationary(columns(x), 1e-3, False)


def test_a_constant_variable_is_one_that_hardly_moves_for_its_size():
    assert has_constant(columns(WAVE, FLAT), 1e-4)
    assert has_constant(columns(WAVE, 1000.0 + 0.01 * WAVE), 1e-4)
    assert has_constant(columns(np.zeros(100)), 1e-4)
    assert not has_constant(columns(WAVE, 1e-6 * WAVE), 1e-4)
    assert not has_constant(columns(DECAY), 1e-4)


def test_undersampled_means_turning_at_more_than_every_third_point():
    zigzag = (-1.0) ** np.arange(100)
    assert is_undersampled(columns(zigzag))
    assert is_undersampled(columns(DECAY, zigzag))
    assert not is_undersampled(columns(WAVE, DECAY, FLAT))
    assert not is_undersampled(columns(np.sin(2 * np.pi * np.arange(100) / 8.5)))  # a turn each 4.25 points
    assert is_undersampled(columns(np.sin(2 * np.pi * np.arange(100) / 5.0)))  # each 2.5 points


def connected(*equations: str) -> bool:
    system: Program = concatenate([words(equation) for equation in equations])
    return bool(is_connected(system.ops, system.values, len(system), len(equations)))


def test_variables_hang_together_by_who_occurs_in_whose_equation():
    assert connected("x0")
    assert connected("2")
    assert not connected("x0", "x1")
    assert connected("x0", "x0")
    assert connected("x1", "1")
    assert connected("x1", "x2", "sin x2")
    assert not connected("x1", "x0", "x3", "x2")
    assert connected("x1", "x0", "x3", "add x2 mul 3 x0")
    assert connected("x3", "x3", "x3", "1")


def test_turns_of_the_liveliest_variable():
    assert most_turns(columns(DECAY)) == 0
    assert most_turns(columns(DECAY, WAVE)) == 3  # sin turns at pi/2, 3 pi/2 and 5 pi/2 before 10
    assert most_turns(columns(GROWTH + 1e-3 * np.sin(40 * T))) == 0  # a ripple below 1 % of the range


def test_settling_row_is_where_everything_has_arrived():
    row = settling_row(columns(DECAY))  # within 2 % of the range: exp(-2 t) < 0.02 at t = 1.96
    assert T[row] == pytest.approx(1.96, abs=0.12)
    assert settling_row(columns(DECAY, GROWTH)) > 95
    assert settling_row(columns(FLAT)) == 0
