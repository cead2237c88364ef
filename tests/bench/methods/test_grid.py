import numpy as np
import pytest

from odefinder import ODESystem
from odefinder.bench.methods import grid
from odefinder.errors import NoSystemError
from odefinder.expressions.parse import parse

from .trajectories import logistic, oscillator


def test_the_trajectory_is_scored_from_the_first_point():
    t, x, system = logistic()
    assert grid.observed_r2(system.program, t[20:], x[20:]) > 1 - 1e-9
    explosive = ODESystem.from_text("x' = x^2 + 10").program
    assert grid.observed_r2(explosive, t, x) == -np.inf


def test_cartesian_finds_the_true_combination_whatever_the_errors_say():
    t, x, system = oscillator()
    names = ["x", "y"]
    fronts = [
        [(0.0, parse("x", names)), (0.5, parse("y", names)), (0.6, parse("1/x", names))],
        [(0.1, parse("-x", names)), (0.2, parse("-2*x - 0.2*y", names))],
    ]
    assert grid.cartesian(fronts, t, x) == system.program
    # With a cap of one, only the combination of the smallest summed error is tried.
    capped = grid.cartesian(fronts, t, x, count=1)
    assert capped == ODESystem.from_text(["x", "-x"], names).program
    with pytest.raises(NoSystemError):
        grid.cartesian([fronts[0], []], t, x)


def test_search_scores_on_the_last_points_and_fits_all():
    t, x, system = logistic(50)
    seen = []

    def fit(times, states, setting):
        seen.append((setting, len(times)))
        if setting == "fails":
            raise NoSystemError("no")
        if setting == "fails at the end" and len(times) == 50:
            raise NoSystemError("no")
        return system.program if "end" in setting else ODESystem.from_text(f"x' = {setting}").program

    best = grid.search(["fails", "0.1", "0.0 - x", "fails at the end"], fit, t, x)
    assert best == ODESystem.from_text("x' = 0.1").program  # the next best
    assert [count for _, count in seen] == [35] * 4 + [50, 50]


def test_search_without_points_to_spare_takes_the_first_setting():
    t, x, system = logistic(5)
    assert grid.search([1, 2], lambda times, states, setting: system.program, t, x) == system.program
    with pytest.raises(NoSystemError):
        grid.search([], lambda times, states, setting: system.program, t, x)


def test_unexplained():
    y = np.array([1.0, 2.0, 3.0])
    assert grid.unexplained(y, y) == 0.0
    assert grid.unexplained(y, np.full(3, 2.0)) == pytest.approx(1.0)
    assert grid.unexplained(y, np.array([1.0, np.nan, 3.0])) == np.inf
