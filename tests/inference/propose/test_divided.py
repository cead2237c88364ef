"""Laws that a condition divides."""

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.data.arrays import from_arrays
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.divided import divided_polynomials

T = np.linspace(0.0, 10.0, 50)
MASSES = [0.5, 1.0, 2.0, 3.0]
FORCES = [np.sin(rate * T) for rate in (0.7, 1.3, 0.4, 1.0)]
CART = ODESystem.from_text("v' = (u - 0.3*v)/m", inputs=["u", "m"])
RUNS = [
    CART.simulate([0.5], T, inputs={"u": force}, conditions={"m": mass})
    for force, mass in zip(FORCES, MASSES, strict=True)
]
INPUTS = [{"u": force} for force in FORCES]


def test_a_mass_divides_forces() -> None:
    model = ODEFormer(network=False, time_budget=60)
    model.fit(RUNS, [T] * 4, variables=["v"], inputs=INPUTS, conditions={"m": MASSES})
    assert str(model.system_) == "v' = u/m - 0.3*v/m"


def test_without_conditions_that_differ_there_are_none() -> None:
    plain = from_arrays(RUNS, [T] * 4, ["v"], inputs=INPUTS)
    same = from_arrays(RUNS, [T] * 4, ["v"], inputs=INPUTS, conditions={"m": [2.0] * 4})
    signed = from_arrays(RUNS, [T] * 4, ["v"], inputs=INPUTS, conditions={"m": [-1.0, 0.0, 1.0, 2.0]})
    for dataset in (plain, same, signed):
        data = dataset.observations(dataset.scaling())
        assert not list(divided_polynomials(data, estimate_states(data)))
