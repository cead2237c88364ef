"""BFGS finds the constants of known systems, and does not raise where a system blows up."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.data.given import Given
from odefinder.data.observations import Observations
from odefinder.expressions.parse import parse
from odefinder.inference.fit.bfgs import fit_by_bfgs
from tests.inference.fit.test_refine import SYSTEMS, observations, perturbed, program_of


@pytest.mark.parametrize("name", ["decay", "pendulum", "Lotka-Volterra"])
def test_the_constants_of_known_systems_come_back(name: str) -> None:
    equations, starts = SYSTEMS[name]
    truth = program_of(equations)
    fit = fit_by_bfgs(perturbed(truth, 0.05), observations(truth, starts))
    assert fit.error < 1e-8
    np.testing.assert_allclose(fit.program.constants, truth.constants, rtol=1e-3)


def test_without_constants_and_with_a_pole() -> None:
    data = observations(program_of(["-1.3*x"]), [[2.0]])
    assert np.isfinite(fit_by_bfgs(program_of(["x"]), data).error)
    assert not np.isfinite(fit_by_bfgs(program_of(["9*x^2"]), data, iterations=3).error)


def test_bounds_of_named_constants_hold() -> None:
    t = np.linspace(0.0, 3.0, 20)
    free = np.array([np.inf])
    given = Given(
        parts=(parse("-a*x", ["x", "a"]),), whole=(True,), variables=1, values=np.array([[0.3]]),
        varied=(False,), lower=-free, upper=np.array([0.4]), units=np.ones(1),
    )  # fmt: skip
    data = replace(Observations.joined([t], [np.exp(-0.5 * t)[:, None]]), given=given)
    fit = fit_by_bfgs(given.with_numbers(parse("0", ["x"])), data)
    assert given.numbers_of(fit.program) == pytest.approx([0.4])
