"""Systems of identical bodies are put together from one law."""

import numpy as np

from odefinder.bench.laboratory.tasks import LabTask
from odefinder.data.dataset import Dataset
from odefinder.expressions.form import Form
from odefinder.expressions.parse import parse
from odefinder.inference.choose.copies import systems_of_copies
from odefinder.inference.choose.equations import Equations
from odefinder.inference.fit.states import estimate_states
from odefinder.system import ODESystem

T = np.linspace(0.0, 6.0, 100)
ORBIT = ODESystem.from_text(
    "x' = u; y' = v; u' = -2*x*(x^2 + y^2)^(-1.5); v' = -2*y*(x^2 + y^2)^(-1.5)"
).simulate([2.0, 0.0, 0.0, 0.8], T)[:, :2]


def test_the_law_of_one_coordinate_becomes_that_of_the_other() -> None:
    dataset = LabTask(Dataset((T,), (ORBIT,), ("x", "y")), order=2).with_roles()
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    equations = Equations(data, estimate_states(data))
    truth = ODESystem.from_text(
        "x' = u; y' = v; u' = -2*x*(x^2 + y^2)^(-1.5); v' = -2*y*(x^2 + y^2)^(-1.5)"
    ).program
    expected = Form.of(scaling.to_scaled(truth))
    equations.match(2, expected.components()[2], "guess")
    equations.match_program(3, parse("-y", ["x", "y", "u", "v"]), "guess")
    best, *_ = systems_of_copies(data, equations, scaling.factors, kept=3, count=2)
    assert Form.of(best).key == expected.key
    np.testing.assert_allclose(best.constants, expected.program.constants, rtol=1e-2)


def test_one_body_has_no_copies() -> None:
    dataset = LabTask(Dataset((T,), (ORBIT[:, :1],), ("x",)), order=2).with_roles()
    data = dataset.observations(dataset.scaling())
    assert not systems_of_copies(data, Equations(data, estimate_states(data)), np.ones(2), 3, 2)
