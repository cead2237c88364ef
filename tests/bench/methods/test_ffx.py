import numpy as np
import pytest

from odefinder.bench.methods import ffx as method
from odefinder.bench.methods import grid
from odefinder.bench.metrics import trajectory_r2
from odefinder.errors import ExpressionError, OdefinderError
from odefinder.expressions.program import concatenate, make_program
from odefinder.numerics.evaluate import evaluate

from .trajectories import simulated

core = pytest.importorskip("ffx.core")
pytest.importorskip("six")


def test_programs_are_the_models():
    x = np.random.default_rng(0).uniform(0.5, 2.0, (30, 2))
    simple = core.SimpleBase(0, 2)
    logarithm = core.OperatorBase(core.SimpleBase(1, 0.5), core.OP_LOG10, None)
    size = core.OperatorBase(core.SimpleBase(1, 1), core.OP_ABS, None)
    model = core.FFXModel(
        [1.5, -0.25, 3.0], [simple, core.ProductBase(size, logarithm)], [0.5], [size], ["x0", "x1"]
    )
    zero = make_program([0], [0.0])
    values = evaluate(concatenate([method.equation(model), zero]), x)[:, 0]
    np.testing.assert_allclose(values, model.simulate(x), rtol=1e-12)
    assert method.equation(core.ConstantModel(2.5, 1)) == make_program([0], [2.5])


def test_hinges_are_refused():
    hinge = core.OperatorBase(core.SimpleBase(0, 1), core.OP_GTH, 0.5)
    with pytest.raises(ExpressionError):
        method.equation(core.FFXModel([0.0, 1.0], [hinge], [], [], ["x0"]))


def test_a_front_gets_better_with_its_size(monkeypatch):
    monkeypatch.setattr(method, "APPROACHES", ((0, 0), (1, 1)))
    x = np.random.default_rng(0).uniform(0.5, 2.0, (40, 1))
    front = method.front(x, 1.0 - 0.5 * x[:, 0] ** 2)
    errors = [error for error, _ in front]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01
    assert method.front(x, np.full(40, 3.0))[0][1] == make_program([0], [3.0])


def test_recovers_decay(monkeypatch):
    monkeypatch.setattr(grid, "DERIVATIVES", ((4, None),))
    monkeypatch.setattr(method, "APPROACHES", ((0, 0),))
    t, x, _ = simulated("x' = 1 - 0.8*x", [3.0], points=30)
    assert trajectory_r2(method.fit(t, x, 0), x[0], t, x) > 0.99


@pytest.mark.parametrize("x", [np.zeros((8, 2)), np.ones((3, 1)), 1e200 * np.eye(6)])
def test_hostile_data_end_in_a_system_or_a_clear_error(x, monkeypatch):
    monkeypatch.setattr(grid, "DERIVATIVES", ((2, None),))
    monkeypatch.setattr(method, "APPROACHES", ((0, 0),))
    try:
        program = method.fit(np.arange(float(len(x))), x, 0)
    except OdefinderError:
        return
    assert len(program.components()) == x.shape[1]
