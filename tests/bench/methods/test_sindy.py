import numpy as np
import pytest

from odefinder.bench.methods import sindy, sindy_simulation
from odefinder.bench.methods.library import TermLibrary
from odefinder.bench.methods.sindy import Setting, settings, threshold_regression
from odefinder.bench.metrics import trajectory_r2
from odefinder.data.corruption import corrupt
from odefinder.errors import NoSystemError, OdefinderError
from odefinder.expressions.canonical import skeleton
from odefinder.numerics.evaluate import evaluate

from .trajectories import logistic, oscillator


@pytest.mark.parametrize(("dimension", "degree"), [(1, 10), (2, 7), (3, 3)])
def test_the_program_of_a_library_is_its_matrix_product(dimension, degree):
    rng = np.random.default_rng(0)
    library = TermLibrary(dimension, degree, sindy.ALL)
    x = rng.uniform(0.5, 1.5, (20, dimension))
    columns = library.columns(x)
    assert columns.shape == (20, library.size)
    coefficients = rng.normal(size=(dimension, library.size)) * (
        rng.uniform(size=(dimension, library.size)) < 0.4
    )
    np.testing.assert_allclose(evaluate(library.system(coefficients), x), columns @ coefficients.T, rtol=1e-9)


def test_no_term_is_left():
    library = TermLibrary(2, 1)
    np.testing.assert_array_equal(evaluate(library.system(np.zeros((2, 3))), np.ones((4, 2))), 0.0)


def test_terms_that_are_not_defined_or_not_finite():
    with pytest.raises(NoSystemError):
        TermLibrary(1, 1, ("log",)).columns(np.array([[1.0], [-1.0]]))
    with pytest.raises(NoSystemError):
        TermLibrary(1, 1).system(np.array([[np.nan, 1.0]]))


def test_the_grid_is_the_papers():
    everything = settings((sindy.POLYNOMIALS, sindy.ENTIRE, sindy.ALL))
    assert len(everything) == 10 * 3 * 6 * 3 * 3  # each with 20 and, where they matter, 100 iterations
    assert everything[0] == Setting(1, (), 2, None, 0.05, 0.025)
    assert [m.name for m in sindy.METHODS] == ["sindy", "sindy-poly", "sindy-esc"]


@pytest.mark.parametrize("threshold", [0.05, 0.15])
def test_the_direct_regression_is_pysindys(threshold):
    optimizers = pytest.importorskip("pysindy.optimizers")
    _, x, system = oscillator()
    columns = TermLibrary(2, 3).columns(x)
    target = evaluate(system.program, x) + 0.01 * np.random.default_rng(0).normal(size=x.shape)
    expected = optimizers.STLSQ(threshold=threshold, alpha=0.05).fit(columns, target).coef_
    found = threshold_regression(columns, target, threshold, 0.05)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", [sindy.METHODS[1], *sindy_simulation.METHODS], ids=lambda m: m.name)
@pytest.mark.parametrize("case", [logistic, oscillator])
def test_recovers_simple_systems(method, case, monkeypatch):
    pytest.importorskip("pysindy")
    monkeypatch.setattr(sindy, "DEGREES", (1, 2, 3))
    t, x, system = case()
    found = method.fit(t, x, 0)
    assert found == method.fit(t, x, 0)
    assert trajectory_r2(found, x[0], t, x) > 0.999
    if method.name == "sindy-simulation":
        assert skeleton(found) == skeleton(system.program)


def test_simulation_bears_noise_and_gaps():
    pytest.importorskip("pysindy")
    t, x, _ = oscillator(150)
    found = sindy_simulation.fit(*corrupt(t, x, sigma=0.05, rho=0.5, seed=1), 0)
    assert trajectory_r2(found, x[0], t, x) > 0.9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # values near the largest number
@pytest.mark.parametrize("method", [sindy.METHODS[1], *sindy_simulation.METHODS], ids=lambda m: m.name)
@pytest.mark.parametrize("x", [np.zeros((8, 2)), np.ones((3, 1)), np.full((9, 1), np.nan), 1e200 * np.eye(6)])
def test_hostile_data_end_in_a_system_or_a_clear_error(method, x, monkeypatch):
    pytest.importorskip("pysindy")
    monkeypatch.setattr(sindy, "DEGREES", (1, 5))
    try:
        program = method.fit(np.arange(float(len(x))), x, 0)
    except OdefinderError:
        return
    assert len(program.components()) == x.shape[1]
