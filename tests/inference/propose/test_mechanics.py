"""Terms of laws of motion, and the laws that regression finds with them."""

import numpy as np
import pytest

from odefinder.bench.laboratory.tasks import LabTask
from odefinder.data.dataset import Dataset
from odefinder.expressions.drafts import finished
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.mechanics import mechanical_features
from odefinder.inference.propose.sparse import propose
from odefinder.numerics.evaluate import evaluate
from odefinder.system import ODESystem

T = np.linspace(0.0, 6.0, 120)


def test_terms_are_those_of_the_users_units() -> None:
    """x and y in units of 2 and 3: distances are sqrt(4 x^2 + 9 y^2), up to a factor."""
    ranges = np.array([[-1.0, 1.0]] * 4)
    features = list(mechanical_features(ranges, {0: 2, 1: 3}, np.array([2.0, 3.0, 1.0, 1.0])))
    values = [evaluate(finished(list(one.draft)), np.array([[0.5, 0.4, 0.1, 0.2]]))[0, 0] for one in features]
    assert np.isfinite(values).all()
    assert np.isclose(values, 0.5 * ((1.0 + 1.44) / 4.0) ** -1.5).any()
    assert np.isclose(values, ((1.0 - 1.2) / 2.0) ** 3).any()


@pytest.mark.parametrize(
    ("law", "start"),
    [
        ("0.5*x^(-9) - 0.8*x^(-4)", [1.0, 0.1]),  # close to others on a narrow orbit
        ("0.9*x^(-8) - 1.9*x^(-6)", [0.8, 0.0]),  # two forces that nearly cancel
        ("1.5 - 1.5*exp(1.2*x)", [0.9, 0.0]),  # equals -a - b x + c v^2 on every orbit
    ],
)
def test_forces_of_the_position_are_found_next_to_squares_of_velocities(law: str, start: list[float]) -> None:
    system = ODESystem.from_text(f"x' = v; v' = {law}")
    states = system.simulate(start, T)[:, :1]
    dataset = LabTask(Dataset((T,), (states,), ("x",)), order=2).with_roles()
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    _, front = propose(data, estimate_states(data), factors=scaling.factors)
    truth = scaling.to_scaled(system.program).components()[1]
    low, high = data.states[:, 0].min(), data.states[:, 0].max()
    wider = np.stack([np.linspace(low - 0.05, high + 0.05, 50), np.linspace(-1.0, 1.0, 50)], axis=1)
    forces = [evaluate(fit.program, wider) for fit in front]
    expected = evaluate(truth, wider)
    assert any(np.allclose(force, expected, atol=0.05 * np.ptp(expected)) for force in forces)
