"""Sparse polynomials of long records: the law is among the proposals, and no data are left out."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.polynomials import Polynomials, _monomial, highest_degree, propose_long
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

LORENZ = ODESystem.from_text("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 2.6667*z").program
TERMS = (((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (1, 0, 1)), ((0, 0, 1), (1, 1, 0)))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_law_is_among_the_proposals(noise: float) -> None:
    t = np.linspace(0.0, 12.0, 1200)
    states, _ = integrate(LORENZ, [-8.0, 7.0, 27.0], t)
    states /= np.abs(states).max(axis=0)
    states += noise * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    data = Observations.joined([t[:700], t[700:]], [states[:700], states[700:]])
    found = list(propose_long(data, estimate_states(data), 0.75))
    best = next(one for one in found if one.terms == TERMS)
    assert best.degree == 2
    assert best.coefficients[0] == pytest.approx((-10.0, 13.0), rel=0.1)


def test_a_system_has_one_constant_for_each_term() -> None:
    system = Polynomials((((0, 0), (2, 1)), ()), ((1.5, -2.0), ()))
    assert system.program.constants.tolist() == [1.5, -2.0, 0.0]
    assert system.degree == 3
    assert [highest_degree(d) for d in (1, 3, 4, 9)] == [5, 4, 3, 2]


def test_short_records_have_no_proposals() -> None:
    t = np.linspace(0.0, 1.0, 12)
    data = Observations.joined([t], [np.stack([np.sin(t), np.cos(t)], axis=1)])
    assert list(propose_long(data, estimate_states(data), 6.0)) == []


def test_monomials_of_many_variables() -> None:
    states = np.random.default_rng(0).normal(size=(7, 30))
    powers = np.zeros(30, np.int64)
    np.testing.assert_array_equal(_monomial(states, powers), np.ones(7))
    powers[[3, 20]] = 1, 2
    np.testing.assert_allclose(_monomial(states, powers), states[:, 3] * states[:, 20] ** 2)
