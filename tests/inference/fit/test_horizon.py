"""A growing horizon finds the constants of a chaotic system, where the whole trajectory at once does not."""

import numpy as np

from odefinder.data.observations import Observations
from odefinder.inference.fit.horizon import beginning, fit_growing
from odefinder.inference.fit.refine import fit_constants
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem


def test_lorenz() -> None:
    equations = ["10*y - 10*x", "28*x - x*z - y", "x*y - 2.7*z"]
    truth = ODESystem.from_text(equations, variables=["x", "y", "z"]).program
    t = np.linspace(0.0, 8.0, 120)
    states, _ = integrate(truth, [1.0, 2.0, 20.0], t, rtol=1e-10, atol=1e-12)
    data = Observations(t, states, np.array([0, 120]))
    begin = truth.with_constants(truth.constants * np.where(np.abs(truth.constants) == 1.0, 1.0, 1.01))
    assert fit_constants(begin, data).error > 0.1
    assert fit_growing(begin, data).error < 1e-6


def test_the_beginning_of_each_trajectory() -> None:
    data = Observations(
        np.concatenate([np.arange(20.0), np.arange(3.0)]), np.zeros((23, 1)), np.array([0, 20, 23])
    )
    part = beginning(data, 0.5)
    np.testing.assert_array_equal(part.bounds, [0, 10, 13])
    np.testing.assert_array_equal(part.times, [*range(10), *range(3)])


def test_what_diverges_has_an_infinite_error() -> None:
    t = np.linspace(0.0, 5.0, 30)
    data = Observations(t, np.exp(-t)[:, None], np.array([0, 30]))
    system = ODESystem.from_text(["100*x^3"], variables=["x"]).program
    assert fit_growing(system, data).error == np.inf
