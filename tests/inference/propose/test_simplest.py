"""The system that always exists."""

import numpy as np

from odefinder.data import from_arrays
from odefinder.data.observations import Observations
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.propose.simplest import simplest

T = np.linspace(0.0, 2.0, 20)


def test_straight_lines_are_found_exactly() -> None:
    states = np.column_stack([1.0 + 3.0 * T, 2.0 - 0.5 * T])
    states[3, 0] = np.nan
    fit = simplest(Observations.joined([T, T], [states, states + 1.0]), np.array([[1.0, 2.0], [2.0, 3.0]]))
    assert np.allclose(fit.program.constants, [3.0, -0.5])
    assert fit.error < 1e-20


def test_its_error_is_that_of_its_trajectory() -> None:
    data = Observations.joined([T], [np.column_stack([np.exp(-T), np.sin(T)])])
    fit = simplest(data, np.array([[1.0, 0.0]]))
    again = fit_constants(fit.program, data, starts=fit.starts, iterations=0)
    assert np.isclose(fit.error, again.error)
    assert fit.error < np.mean((data.states / data.scale) ** 2)


def test_velocities_are_constant() -> None:
    dataset = from_arrays(1.0 + 3.0 * T, T).with_roles(order=2)
    data = dataset.observations(dataset.scaling())
    starts = np.array([[data.states[0, 0], 0.0]])
    fit = simplest(data, starts)
    assert fit_constants(fit.program, data, starts=fit.starts, iterations=0).error < 1e-12
