"""Twins are one, and waves faster than the data are none."""

import numpy as np
import pytest

from odefinder.expressions.form import Form
from odefinder.inference.choose.alike import distinct, fast_waves, simplified, too_fast
from tests.inference.fit.test_refine import program_of

STATES = np.stack([np.linspace(0.1, 1.0, 50), np.linspace(2.0, 1.0, 50)], axis=1)
BOUNDS = np.array([0, 50])


def test_twins_are_one_and_the_cheapest_stands_for_them() -> None:
    programs = [
        program_of(["x - log(1/y)", "-y"]),
        program_of(["x + log(y)", "-y"]),
        program_of(["x", "-y"]),
        program_of(["x + log(abs(y)) + 0.00001*x^2", "-y"]),
    ]
    costs = [4.0, 2.0, 1.0, 3.0]
    assert distinct(programs, STATES, 1e-3, costs) == [(0, 1), (2, 2)]
    assert distinct(programs, STATES, 1e-9, costs) == [(0, 1), (2, 2), (3, 3)]


def test_what_is_undefined_at_a_few_states_can_be_a_twin() -> None:
    states = STATES - [0.12, 0.0]  # the first two of x are negative
    programs = [program_of(["x^2", "-y"]), program_of(["x^2.0000001", "-y"])]
    assert distinct(programs, states, 1e-3, [1.0, 2.0]) == [(0, 0)]


def test_waves_that_turn_too_fast() -> None:
    step = 0.9 / 49  # of x
    assert not too_fast(program_of([f"sin({0.9 * np.pi / step}*x)", "y"]), STATES, BOUNDS)
    assert too_fast(program_of([f"sin({1.1 * np.pi / step}*x)", "y"]), STATES, BOUNDS)
    assert too_fast(program_of(["x", f"y*cos(1 + {1.1 * np.pi / step}*x)"]), STATES, BOUNDS)
    assert not too_fast(program_of(["x", "exp(1000*x)"]), STATES, BOUNDS)


def test_waves_of_the_user_may_be_fast() -> None:
    wave = program_of([f"2*sin({1.1 * np.pi * 49 / 0.9}*x)", "y"])
    assert too_fast(wave, STATES, BOUNDS, np.array([False, True]))
    assert not too_fast(wave, STATES, BOUNDS, np.array([True, False]))


def test_a_slower_wave_passes_the_same_points() -> None:
    step = 0.9 / 49
    [(constants, share)] = fast_waves(program_of([f"2*sin({2.3 * np.pi / step}*x)", "y"]), STATES, BOUNDS)
    assert constants == slice(1, 2)
    assert share == pytest.approx(0.3 / 2.3)


def test_waves_of_what_mostly_stands_still_or_has_no_value() -> None:
    """A step of 0 and one without a value are no reason to fail."""
    pulses = np.where(np.arange(50) % 4 == 0, 10.0, 0.0)[:, None]  # half of the steps are 0
    assert too_fast(program_of(["sin(x)"]), pulses[:-1], np.array([0, 49]))
    states = np.linspace(-0.2, 5.0, 50)[:, None]
    assert too_fast(program_of(["sin(1000*log(x))"]), states, BOUNDS)
    assert not too_fast(program_of(["sin(1/(x - x))"]), states, BOUNDS)


def test_the_jump_to_another_trajectory_is_no_turn() -> None:
    states = np.array([[0.0], [0.1], [100.0], [100.1]])
    wave = program_of(["sin(x)"])
    assert not too_fast(wave, states, np.array([0, 2, 4]))
    assert too_fast(wave, states, np.array([0, 4]))


def test_what_does_nothing_is_left_out() -> None:
    """x > 0, y > 1."""
    for text, expected in (
        ("abs(x)*y", "x*y"),
        ("x*tanh(400*y)", "x"),
        ("x + 0.0000001*y^2", "x"),
        ("0.0000001*sin(x) + y*abs(x + y)", "y*(x + y)"),
        ("x + log(y)", "x + log(y)"),
        ("abs(x - 0.5)", "abs(x - 0.5)"),
    ):
        found = simplified(program_of([text, "-y"]), STATES, 1e-4)
        assert Form.of(found).key == Form.of(program_of([expected, "-y"])).key, text
