"""Constants that are equal within their errors become one."""

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import parse
from odefinder.expressions.program import concatenate
from odefinder.inference.choose.ties import tie_constants
from odefinder.inference.fit.refine import fit_constants
from odefinder.numerics.integrate import integrate

T = np.linspace(0.0, 6.0, 40)


def fitted(other: float):  # type: ignore[no-untyped-def]
    """x is turned into y at a rate of 0.7; y rises at another rate."""
    texts = ("-0.7*x*y", f"{other}*x*y - 0.3*y")
    program = canonical(concatenate([parse(text, ["x", "y"]) for text in texts]), explicit=True)
    states, _ = integrate(program, [2.0, 0.2], T)
    noisy = states + 0.01 * np.random.default_rng(1).standard_normal(states.shape)
    data = Observations.joined([T], [noisy])
    return fit_constants(program, data, fit_starts=True), data


def test_equal_rates_become_one() -> None:
    fit, data = fitted(0.7)
    assert len(set(np.abs(fit.program.constants))) == 3
    tied = tie_constants(fit, data, fit_starts=True)
    assert tied is not None
    constants = sorted(tied.back(tied.fit).constants)
    assert constants[0] == -constants[2]
    assert constants == pytest.approx([-0.7, -0.3, 0.7], rel=0.03)


def test_different_rates_stay_apart() -> None:
    fit, data = fitted(0.6)
    assert tie_constants(fit, data, fit_starts=True) is None
