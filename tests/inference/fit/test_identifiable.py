"""What the data determine only together is found."""

from dataclasses import replace

import numpy as np

from odefinder.data.observations import Observations
from odefinder.data.roles import Role
from odefinder.inference.fit.identifiable import Undetermined, undetermined
from odefinder.inference.fit.refine import Fit
from odefinder.numerics.integrate import integrate
from tests.inference.fit.test_refine import program_of

TIMES = np.linspace(0.0, 8.0, 60)


def data_of(text: list[str]) -> tuple[Fit, Observations]:
    program = program_of(text)
    states, _ = integrate(program, [2.0, 1.5], TIMES)
    seen = np.where([True, False], states, np.nan)
    data = replace(Observations.joined([TIMES], [seen]), roles=(Role.OBSERVED, Role.HIDDEN))
    return Fit(program, states[:1], 1e-12), data


def test_a_product_of_couplings() -> None:
    fit, data = data_of(["-0.5*x^3 + 0.7*y", "-0.3*x - 0.4*y"])
    (found,) = undetermined(fit, data, fit_starts=False, conventions=True)
    assert found == Undetermined((1, 2), "product")


def test_a_linear_system_has_more_freedom() -> None:
    # Only trace and determinant follow from one variable: h + a x would do as well as h.
    fit, data = data_of(["-0.5*x + 1*y", "0.3*x - 0.9*y"])
    assert len(undetermined(fit, data, fit_starts=False, conventions=True)) == 1


def test_a_coefficient_of_1_fixes_the_scale() -> None:
    fit, data = data_of(["-0.5*x^3 + 1*y", "-0.3*x - 0.4*y"])
    assert undetermined(fit, data, fit_starts=False, conventions=True) == []
