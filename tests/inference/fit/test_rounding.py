"""Simple constants come back exactly; others are left alone."""

import math

import numpy as np
import pytest

from odefinder.inference.fit.errors import standard_errors
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.rounding import round_constants, simple_value
from tests.inference.fit.test_refine import observations, perturbed, program_of


@pytest.mark.parametrize(
    ("value", "error", "simple"),
    [
        (1.0003, 2e-4, 1.0),
        (9.81, 1e-3, 9.81),
        (-0.0502, 3e-4, -0.05),
        (0.9996, 3e-4, 1.0),
        (1.0003, 1e-5, math.nan),  # the data say that it is not 1
        (3.7, 2.0, math.nan),  # nobody knows
        (0.0, 1.0, math.nan),
        (1.0, math.inf, math.nan),
    ],
)
def test_simple_values(value: float, error: float, simple: float) -> None:
    found = simple_value(value, error)
    assert found == simple or (math.isnan(found) and math.isnan(simple))


def test_the_constants_of_a_noisy_pendulum() -> None:
    truth = program_of(["1*y", "-2*sin(1*x) - 0.2*y"])
    data = observations(truth, [[1.2, 0.0], [0.4, 1.0]], sigma=0.01)
    fit = fit_constants(perturbed(truth), data, fit_starts=True)
    assert not np.array_equal(fit.program.constants, truth.constants)
    rounded = round_constants(fit, data, fit_starts=True)
    np.testing.assert_array_equal(rounded.program.constants, truth.constants)
    assert rounded.error < 1.1 * fit.error


def test_the_constants_of_a_clean_pendulum() -> None:
    truth = program_of(["1*y", "-2*sin(1*x) - 0.2*y"])
    data = observations(truth, [[1.2, 0.0]])
    fit = fit_constants(perturbed(truth), data, rtol=1e-9, max_steps=10_000)
    rounded = round_constants(fit, data, fit_starts=False)
    np.testing.assert_array_equal(rounded.program.constants, truth.constants)


def test_constants_that_are_not_simple_stay() -> None:
    truth = program_of(["-1.2345678*x"])
    data = observations(truth, [[2.0]])
    fit = fit_constants(perturbed(truth), data)
    assert round_constants(fit, data, fit_starts=False).program == fit.program


def test_standard_errors_cover_the_truth() -> None:
    truth = program_of(["1.1*x - 0.4*x*y", "-0.9*y + 0.3*x*y"])
    data = observations(truth, [[3.0, 2.0], [1.0, 1.0]], sigma=0.02)
    fit = fit_constants(perturbed(truth), data, fit_starts=True)
    errors = standard_errors(fit, data, fit_starts=True)
    off = np.abs(fit.program.constants - truth.constants) / errors
    assert off.max() < 4.0
    assert (errors < 0.1 * np.abs(truth.constants)).all()
