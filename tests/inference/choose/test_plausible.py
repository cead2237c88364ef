"""Hidden states that do not move, or jitter, are not believed."""

import numpy as np

from odefinder.inference.choose.plausible import acts, plausible, runs_off, winds
from odefinder.numerics.integrate import integrate
from tests.inference.fit.test_refine import program_of
from tests.inference.propose.test_unseen import PREDATOR, half_seen


def test_paths() -> None:
    data, truth = half_seen()
    assert plausible(truth, data, [1])
    still, jitter = truth.copy(), truth.copy()
    still[:, 1] = 1.0
    jitter[:, 1] = np.sin(60.0 * data.times)
    assert not plausible(still, data, [1])
    assert not plausible(jitter, data, [1])
    assert not plausible(np.full_like(truth, np.nan), data, [1])


def test_systems_that_run_off_later() -> None:
    data, truth = half_seen()
    assert not runs_off(PREDATOR, truth, data)
    growth = program_of(["0.3*x", "y"])
    path, _ = integrate(growth, truth[0], data.times)
    assert runs_off(growth, path, data)
    below = program_of(["-1", "y"])  # the prey would be negative
    assert runs_off(below, truth, data)


def test_a_hidden_state_that_nobody_reads() -> None:
    assert acts(PREDATOR, [1])
    assert not acts(program_of(["-x", "x*y"]), [1])


def test_a_sine_of_a_hidden_state() -> None:
    assert winds(program_of(["sin(2*y)", "x"]), [1])
    assert not winds(program_of(["sin(2*x)", "y"]), [1])
