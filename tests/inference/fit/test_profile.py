"""Intervals are those of profiles that are known: closed forms of constants that make up for each other."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares
from scipy.special import lambertw

from odefinder.data import from_arrays
from odefinder.inference.certainty import Certainty, certainty_of, intervals
from odefinder.inference.fit.profile import _end, _followed, _valley
from odefinder.inference.fit.refine import residual_weights
from odefinder.inference.prepared import prepared
from odefinder.limits.deadline import Deadline
from odefinder.system import ODESystem

ALLOWED = 2.0  # standard errors
LEVEL = 0.9525  # about that much


def certain(system: ODESystem, start: float, times: np.ndarray, noise: float, seed: int = 0) -> Certainty:
    states = system.simulate([start], times)
    states = states + noise * np.random.default_rng(seed).normal(size=states.shape)
    given = prepared(from_arrays(states, times, list(system.variables), errors={system.variables[0]: noise}))
    return certainty_of(system, np.array([[start]]), given)


def ends(found: Certainty, sse: Callable[[float], float], centre: float) -> list[float]:
    """Where the known profile of a positive constant is as high as the interval allows; inf where never."""
    allowed = sse(centre) + ALLOWED**2 * found.curvature.variance

    def beyond(x: float) -> float:
        return sse(x) - allowed

    return [
        far * np.inf if beyond(far * centre) < 0.0 else float(brentq(beyond, centre, far * centre))
        for far in (1e-2, 1e2)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_relaxation_seen_for_a_short_time(seed: int) -> None:
    """x' = c - b*x: for a given b the solution is linear in the rest, so its profile is known exactly."""
    times = np.linspace(0.0, 1.0, 60)
    found = certain(ODESystem.from_text("x' = 2.5 - 0.5*x"), 1.0, times, 0.01, seed)
    low, high = intervals(found, LEVEL, Deadline(60.0))
    states, weights = found.data.states[:, 0], residual_weights(found.data)[:, 0]

    def sse(rate: float) -> float:
        basis = np.stack([np.ones(len(times)), np.expm1(-rate * times) / rate], axis=1) * weights[:, None]
        left = weights * states - basis @ np.linalg.lstsq(basis, weights * states)[0]
        return float(left @ left)

    rate = float(found.constants.in_users_units(found.best.program.constants)[1])
    assert sse(abs(rate)) == pytest.approx(found.best.error * found.data.count, rel=1e-4)
    known = sorted(-end for end in ends(found, sse, abs(rate)))
    assert [low[1], high[1]] == pytest.approx(known, abs=0.08 * (known[1] - known[0]))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("half", "noise"), [(5.0, 0.002), (5.0, 0.01), (50.0, 0.002)])
def test_half_saturation_far_above_the_data(half: float, noise: float, seed: int) -> None:
    """Michaelis-Menten far below saturation: rate and half-saturation are hardly two constants."""
    times = np.linspace(0.0, 3.0, 50)
    system = ODESystem.from_text(f"s' = -{0.8 * half}*s/({half} + s)")
    found = certain(system, 1.0, times, noise, seed)
    low, high = intervals(found, LEVEL, Deadline(60.0))
    states, weights = found.data.states[:, 0], residual_weights(found.data)[:, 0]

    def sse(half: float) -> float:
        def left(p: np.ndarray) -> np.ndarray:  # p: start, and rate over half-saturation
            start, rate = p
            log = np.log(start / half) + start / half - rate * times
            return np.asarray(weights * (half * lambertw(np.exp(log)).real - states))

        return float(2.0 * least_squares(left, [1.0, 0.8], xtol=1e-14, ftol=1e-14).cost)

    centre = float(found.constants.in_users_units(found.best.program.constants)[1])
    known = ends(found, sse, centre)
    for end, expected in ((low[1], known[0]), (high[1], known[1])):
        if end != half:  # what is shown is always possible
            far = 1e2 * centre if np.isinf(end) or np.isinf(expected) else end
            distance = np.sqrt(max(sse(far) - sse(centre), 0.0) / found.curvature.variance)
            assert distance == pytest.approx(ALLOWED, rel=0.12) or (np.isinf(end) and distance < ALLOWED)


def test_a_valley_that_bends_is_followed() -> None:
    """Of x^2/(b + x^2) only the steep part is seen: fits beside the valley used to get stuck."""
    system = ODESystem.from_text("x' = 3*x^2/(2 + x^2) - 0.8*x")
    found = certain(system, 0.8, np.linspace(0.0, 2.0, 60), 0.01)
    low, high = intervals(found, LEVEL, Deadline(60.0))
    centre = found.constants.in_users_units(found.best.program.constants)
    assert centre == pytest.approx([10.18, 1.003, -4.879], rel=0.01)  # of 1000 iterations
    assert low[0] <= 5.0
    assert high[0] > 14.0


def test_others_follow_in_the_direction_of_the_valley() -> None:
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert _valley(matrix, 0) == pytest.approx([1.0, -1.0, 0.0])
    along = np.array([1.0, -1.0])
    first, last = _followed([(0.0, np.zeros(2))], 0.5, along)
    assert first.tolist() == [0.5, -0.5]
    assert last.tolist() == [0.0, 0.0]
    *_, line = _followed([(0.0, np.zeros(2)), (1.0, np.array([1.0, -3.0]))], 2.0, along)
    assert line.tolist() == [2.0, -6.0]


def test_without_time_an_interval_is_not_empty() -> None:
    def seen(step: float) -> float:
        return 2.0 * step if step < 0.8 else np.inf  # no solution beyond

    assert _end(seen, 1.0, 2.0, ALLOWED, 1e3, np.inf, Deadline(0.0)) == 1.0


def test_an_end_is_not_beyond_what_is_excluded() -> None:
    """A plateau just below what is allowed, and then a wall."""

    def seen(step: float) -> float:
        return min(1.79 * step, 1.79 + 0.02 * (step - 1.0)) if step < 2.0 else 3.0

    assert _end(seen, 10.0, 2.0, ALLOWED, 1e3, np.inf, Deadline(60.0)) <= 3.0
