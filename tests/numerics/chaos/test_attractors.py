"""The distance between attractors: zero for the same, larger the more they differ."""

import numpy as np
import pytest
from numpy.typing import NDArray

from odefinder.errors import DataError
from odefinder.numerics.chaos.attractors import attractor_distance, cloud_distance
from odefinder.numerics.integrate import integrate
from odefinder.system import ODESystem

LAG = 10


def lorenz(rho: float, start: list[float]) -> NDArray[np.float64]:
    system = ODESystem.from_text(["10*(y - x)", f"x*({rho} - z) - y", "x*y - 8/3*z"], ["x", "y", "z"])
    return integrate(system.program, start, np.arange(8000) * 0.02)[0][1000:]


TRUTH = lorenz(28.0, [1.0, 1.0, 20.0])


def test_clouds_in_closed_form() -> None:
    """Two single points have nothing in common; a cloud and itself everything."""
    one, other = np.zeros((5, 2)), np.ones((5, 2))
    assert cloud_distance(one, other) == pytest.approx(1.0)
    assert cloud_distance(one, one) == 0.0
    spread = np.random.default_rng(0).normal(size=(2, 500, 2))
    assert cloud_distance(spread[0], spread[0]) == 0.0
    assert cloud_distance(*spread) < 0.05 < cloud_distance(spread[0], spread[1] + 0.5)


def test_the_same_attractor_from_another_start() -> None:
    """About as far as chance has it, though no trajectory is followed."""
    starts = np.random.default_rng(0).normal(size=(6, 3)) * 5.0 + [0.0, 0.0, 20.0]
    found = [attractor_distance(TRUTH, lorenz(28.0, start.tolist()), LAG) for start in starts]
    assert all(distance < 3.0 * reference < 0.15 for distance, reference in found)
    assert np.mean([distance for distance, _ in found]) < 1.5 * found[0].reference


def test_the_distance_grows_with_the_error() -> None:
    distances = [
        attractor_distance(TRUTH, lorenz(rho, [1.0, 1.0, 20.0]), LAG)[0] for rho in (28.0, 32.0, 45.0)
    ]
    reference = attractor_distance(TRUTH, TRUTH, LAG).reference
    assert distances[0] < reference < distances[1] < distances[2] < 1.0


def test_a_cycle_or_a_point_instead_of_chaos() -> None:
    cycle, point = lorenz(160.0, [1.0, 1.0, 20.0]), np.tile(TRUTH.mean(axis=0), (500, 1))
    assert attractor_distance(TRUTH, cycle, LAG).distance > 0.3
    assert attractor_distance(TRUTH, point, LAG).distance > 0.3


def test_delays_tell_the_direction_of_time() -> None:
    """The same places in reverse order: no difference without delays."""
    backwards = TRUTH[::-1]
    assert attractor_distance(TRUTH, backwards, LAG, delays=0).distance < 0.01
    assert attractor_distance(TRUTH, backwards, LAG).distance > 0.1


def test_records_that_are_not_finite_or_too_short() -> None:
    broken = TRUTH.copy()
    broken[-1] = np.nan
    assert attractor_distance(TRUTH, broken, LAG).distance == 1.0
    with pytest.raises(DataError, match="too few"):
        attractor_distance(TRUTH[:30], TRUTH, LAG)
    with pytest.raises(DataError, match="same variables"):
        attractor_distance(TRUTH, TRUTH[:, :2], LAG)
