"""An empty tank is told apart from a system that runs away."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.errors import SimulationWarning
from odefinder.inference.choose.criterion import elsewhere, runs_away
from odefinder.numerics.integrate import integrate
from odefinder.simulation.domain import leaves_domain
from odefinder.system import ODESystem

TIMES = np.linspace(0.0, 6.0, 40)


@pytest.mark.parametrize(
    ("equation", "ends"),
    [
        ("x' = -0.8*sqrt(x)", True),
        ("x' = -0.8*x^0.3", True),
        ("x' = 2 - log(2 - x)", True),
        ("x' = x^2", False),
        ("x' = -1/x", False),
        ("x' = -x", False),
    ],
)
def test_the_end_of_a_domain(equation: str, ends: bool) -> None:
    program = ODESystem.from_text(equation).program
    states, status = integrate(program, [1.0], TIMES, rtol=1e-6, atol=1e-8, bound=1e6)
    assert leaves_domain(program, TIMES, states, status) is ends


def test_an_empty_tank_stays_empty() -> None:
    tank = ODESystem.from_text("h' = -0.3*sqrt(h)")
    data = Observations.joined([TIMES], [tank.simulate([1.0], TIMES)])
    paths = elsewhere(tank.program, np.array([[1.0]]), data)
    assert paths[0, -1, 0] == pytest.approx(0.0, abs=0.01)
    assert not runs_away(tank.program, np.array([[1.0]]), data)
    assert runs_away(ODESystem.from_text("h' = 0.2*h^2").program, np.array([[1.0]]), data)


def test_the_warning_of_a_simulation_says_so() -> None:
    with pytest.warns(SimulationWarning, match="end of the formula's domain"):
        ODESystem.from_text("h' = -0.8*sqrt(h)").simulate([1.0], TIMES)
    with pytest.warns(SimulationWarning, match="blow up"):
        ODESystem.from_text("x' = x^2").simulate([1.0], TIMES)
