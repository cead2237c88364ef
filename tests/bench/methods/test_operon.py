import numpy as np
import pytest

from odefinder.bench.methods import grid
from odefinder.bench.methods import operon as method
from odefinder.bench.metrics import trajectory_r2
from odefinder.errors import OdefinderError
from odefinder.expressions import drafts
from odefinder.expressions.program import make_program
from odefinder.numerics.evaluate import evaluate

from .trajectories import logistic

sklearn = pytest.importorskip("pyoperon.sklearn")


def test_programs_are_the_trees():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 2.0, (60, 2))
    y = np.sin(x[:, 0]) / x[:, 1] - np.sqrt(x[:, 0]) + x[:, 1] ** 2
    settings = {**method.SETTINGS, "population_size": 100}
    model = sklearn.SymbolicRegressor(**settings, max_evaluations=5000, random_state=1).fit(x, y)
    for entry in model.pareto_front_:
        draft = method.equation(entry["tree"].Nodes, list(model.variables_), np.ones(2))
        program = drafts.finished([*draft, *drafts.number(0.0)])
        np.testing.assert_allclose(
            evaluate(program, x)[:, 0], model.evaluate_model(entry["tree"], x), rtol=1e-3, atol=1e-4
        )


def test_a_front_in_any_units_and_the_same_under_a_seed():
    x = np.linspace(1e5, 4e5, 50)[:, None]
    target = 1e-9 * x[:, 0] * (5e5 - x[:, 0])
    front = method.front(x, target, seed=3, evaluations=20_000)
    assert min(error for error, _ in front) < 1e-3
    assert front == method.front(x, target, seed=3, evaluations=20_000)
    assert method.front(x, np.full(50, 3.0), seed=0)[0][1] == make_program([0], [3.0])


def test_recovers_growth(monkeypatch):
    monkeypatch.setattr(method, "EVALUATIONS", 20_000)
    monkeypatch.setattr(grid, "DERIVATIVES", ((2, None), (4, None)))
    t, x, _ = logistic()
    found = method.fit(t, x, 0)
    assert trajectory_r2(found, x[0], t, x) > 0.99


@pytest.mark.parametrize("x", [np.zeros((8, 2)), np.ones((3, 1)), 1e200 * np.eye(6)])
def test_hostile_data_end_in_a_system_or_a_clear_error(x, monkeypatch):
    monkeypatch.setattr(grid, "DERIVATIVES", ((2, None),))
    monkeypatch.setattr(method, "EVALUATIONS", 2000)
    try:
        program = method.fit(np.arange(float(len(x))), x, 0)
    except OdefinderError:
        return
    assert len(program.components()) == x.shape[1]
