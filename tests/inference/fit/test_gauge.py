"""Hidden states are brought to one scale and sign."""

import numpy as np
import pytest

from odefinder.expressions.canonical import canonical
from odefinder.inference.fit.gauge import conventions, normalised, path_of, readable, rescaled
from odefinder.inference.fit.refine import Fit
from tests.inference.fit.test_refine import program_of
from tests.inference.propose.test_unseen import PREDATOR, half_seen

STARTS = np.array([[3.0, 1.0]])


def test_the_largest_magnitude_is_1_and_positive() -> None:
    data, truth = half_seen()
    program, starts = rescaled(PREDATOR, STARTS, 1, -0.01)
    assert starts[0, 1] == pytest.approx(-100.0)
    gauged = normalised(Fit(program, starts, 0.0), data, [1])
    assert gauged is not None
    fit, path = gauged
    assert path[:, 1].max() == pytest.approx(1.0, abs=1e-6)
    assert path[:, 1].min() > 0.0
    assert path_of(fit.program, fit.starts, data)[:, 0] == pytest.approx(truth[:, 0], rel=1e-4)


def test_a_readable_system_has_a_coefficient_of_1() -> None:
    program, starts = readable(PREDATOR, STARTS, [1])
    assert program == canonical(program_of(["1.2*x - x*y", "0.4*x*y - 0.8*y"]))
    assert starts[0] == pytest.approx([3.0, 0.6])
    assert conventions(program, [1]).tolist() == [False, True, False, False]


def test_a_scale_that_was_chosen_is_exact() -> None:
    """Rounding, errors and notes look for a coefficient of exactly 1 or -1."""
    program = program_of(["0.3*x - 0.7*y", "1.3*x*y - 0.1*y"])
    for factor in (3.0, 7.0, 0.1, 1e-5):
        own, starts = rescaled(program, STARTS, 1, factor)
        scaled, _ = readable(own, starts, [1])
        assert np.abs(scaled.constants[conventions(scaled, [1])]).tolist() == [1.0]
