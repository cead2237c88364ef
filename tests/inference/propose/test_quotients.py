"""Denominators with two constants: found by a linear regression, and with the equations around them."""

import numpy as np
import pytest

from odefinder.data import from_arrays
from odefinder.data.observations import Observations
from odefinder.expressions.program import CONST
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.quotients import MOST_VARIABLES, quotient_features
from odefinder.inference.propose.sparse import propose
from odefinder.system import ODESystem

T = np.linspace(0.0, 12.0, 100)
INHIBITED = ODESystem.from_text("S' = 0.5 - 1.7*S/(0.3 + S + 0.5*S^2)")
SWITCH = ODESystem.from_text("x' = 0.2 + 3*x^2.7/(4 + x^2.7) - x")
PREY = ODESystem.from_text(
    "x' = x*(1 - x/6) - 1.5*x*y/(1 + 0.3*x + 0.4*x^2); y' = 0.9*x*y/(1 + 0.3*x + 0.4*x^2) - 0.35*y"
)
LINEAR = ODESystem.from_text("x' = y - 0.2*x; y' = -x - 0.1*y")


def observed(system: ODESystem, start: list[float]) -> tuple[Observations, np.ndarray]:
    """Exact data in canonical units, and the units of the variables."""
    dataset = from_arrays(system.simulate(start, T), T)
    scaling = dataset.scaling()
    return dataset.observations(scaling), scaling.factors


def inner_constants(system: ODESystem, start: list[float], component: int = 0) -> list[list[float]]:
    data, _ = observed(system, start)
    return [
        [value for op, value in one.draft if op == CONST]
        for one in quotient_features(component, data, estimate_states(data))
    ]


def test_a_quadratic_denominator_is_found_with_its_constants() -> None:
    """In units of the largest value, 2: 0.3 (1 + 2 s / 0.3 + 4 * 0.5 s^2 / 0.3)."""
    one, *_ = inner_constants(INHIBITED, [2.0])
    np.testing.assert_allclose(one, [1.0, 2.0 / 0.3, 2.0 / 0.3], rtol=1e-3)


def test_both_equations_of_a_predator_and_its_prey_have_it() -> None:
    _, (factor, _) = observed(PREY, [1.2, 0.8])
    for component in (0, 1):
        one, *_ = inner_constants(PREY, [1.2, 0.8], component)
        np.testing.assert_allclose(one, [1.0, 0.3 * factor, 0.4 * factor**2], rtol=0.02)


def test_a_real_exponent_is_found() -> None:
    hill = next(one for one in inner_constants(SWITCH, [5.0]) if len(one) == 3 and one[2] != int(one[2]))
    assert any(one[-1] == pytest.approx(2.7, abs=0.05) for one in inner_constants(SWITCH, [5.0]))
    assert hill[0] == 1.0


def test_polynomials_have_no_denominators() -> None:
    assert inner_constants(LINEAR, [1.0, 0.5]) == []


def test_where_there_is_nothing_to_go_by() -> None:
    t = np.linspace(0.0, 1.0, 40)
    many = from_arrays(np.exp(-t)[:, None] * np.arange(1.0, MOST_VARIABLES + 2), t)
    positions = from_arrays(np.cos(t)[:, None], t).with_roles(order=2)
    short = from_arrays([np.exp(-t[:5, None]), 2.0 * np.exp(-t[:4, None])], [t[:5], t[:4]])
    for dataset in (many, positions, short):
        data = dataset.observations(dataset.scaling())
        estimate = estimate_states(data)
        assert all(quotient_features(k, data, estimate) == [] for k in range(data.dimension))


def test_regression_writes_the_law() -> None:
    data, factors = observed(INHIBITED, [2.0])
    front, *_ = propose(data, estimate_states(data), factors=factors)
    assert min(fit.error for fit in front if len(fit.program) < 25) < 1e-12
