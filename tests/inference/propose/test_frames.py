"""Changes of the hidden variable keep the observed trajectories and delete terms."""

import numpy as np
import pytest

from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.inference.propose.frames import read, simpler, written
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import integrate
from tests.inference.fit.test_refine import program_of

TIMES = np.linspace(0.0, 10.0, 100)


def test_sums_are_read_and_written() -> None:
    system = program_of(["1.5*x - 0.3*x*y + sin(x)", "2*(x + y)*y - 1"])
    sums = read(system, 1, 2)
    assert sums is not None
    assert sums.polynomials[1] == pytest.approx({(1, 1): 2.0, (0, 2): 2.0, (0, 0): -1.0})
    points = np.random.default_rng(0).normal(size=(20, 2))
    assert evaluate(written(sums), points) == pytest.approx(evaluate(system, points))


def test_what_is_not_polynomial_in_the_hidden_variable_stays() -> None:
    assert read(program_of(["sin(y)", "x"]), 1, 2) is None


def test_a_scalar_equation_of_second_order_becomes_fitzhugh_and_nagumo() -> None:
    # x' = x - x^3/3 + h, h' = -0.1 x - 0.2 h, with h + x - x^3/3 = v in the place of h
    system = program_of(["y", "(1 - x^2)*y - 0.1*x - 0.2*(y - x + x^3/3)"])
    path, _ = integrate(system, [0.5, 0.3], TIMES)
    changes = simpler(system, 1, path, 1e-3)
    wanted = skeleton(Form.of(program_of(["x - 0.33*x^3 + y", "-0.1*x - 0.2*y"])).program)
    assert wanted in [skeleton(Form.of(change.program).program) for change in changes]
    for change in changes:
        start = [path[0, 0], change.path[0]]
        again, _ = integrate(change.program, start, TIMES)
        assert again[:, 0] == pytest.approx(path[:, 0], abs=1e-2)


def test_a_shift_makes_prey_and_predator_of_a_rate() -> None:
    # x' = x h, h' = (h - 1.2)(0.4 x - 0.8): with h - 1.2 in the place of h, two terms less
    system = program_of(["x*y", "(y - 1.2)*(0.4*x - 0.8)"])
    path, _ = integrate(system, [3.0, 0.6], TIMES)
    best = simpler(system, 1, path, 1e-3)[0]
    assert best.path == pytest.approx(path[:, 1] - 1.2, abs=1e-6)
    assert skeleton(Form.of(best.program).program) == skeleton(
        Form.of(program_of(["x*y + 1.2*x", "0.4*x*y - 0.8*y"])).program
    )
