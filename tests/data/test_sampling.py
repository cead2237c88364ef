"""Functions of time as signals."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.data import sampling
from odefinder.data.sampling import TOLERANCE, sampled
from odefinder.errors import DataError
from odefinder.numerics.knots import values_at

EVERYWHERE = np.linspace(0.0, 10.0, 2011)


@pytest.mark.parametrize(
    ("function", "most_knots"),
    [
        (lambda t: 3.0, 1),
        (lambda t: 2.0 * t - 1.0, 2),
        (lambda t: math.sin(3.0 * t), 400),
        (lambda t: np.array([math.exp(-t)]), 100),
        (lambda t: abs(t - math.pi), 30),  # a bend
        (lambda t: math.tanh(1e3 * (t - 2.0)), 100),  # steep, but no jump
        (lambda t: 1e-90 * math.cos(t), 200),
    ],
)
def test_smooth_functions(function: Callable[[float], Any], most_knots: int) -> None:
    signals = sampled(function, 0.0, 10.0)
    truth = np.array([np.ravel(function(time))[0] for time in EVERYWHERE])
    assert len(signals.knots) <= most_knots
    error = np.abs(values_at(signals, EVERYWHERE)[:, 0] - truth).max()
    assert error <= 4.0 * TOLERANCE * max(np.ptp(truth), 1e-12)


@given(
    st.lists(st.floats(0.5, 9.5), min_size=1, max_size=4),
    st.lists(st.floats(-5.0, 5.0), min_size=5, max_size=5, unique=True),
)
@settings(deadline=None)
def test_jumps_are_found(times: list[float], heights: list[float]) -> None:
    times = sorted(times)
    if any(later - earlier < 0.3 for earlier, later in pairwise(times)):
        return
    signals = sampled(lambda t: heights[sum(t >= time for time in times)], 0.0, 10.0)
    sizes = np.abs(np.diff(heights[: len(times) + 1]))
    if sizes.min() < 0.02 * np.ptp(heights[: len(times) + 1]):
        return
    np.testing.assert_allclose(signals.knots, times, atol=1e-11)
    np.testing.assert_allclose(signals.after[:, 0], heights[1 : len(times) + 1], atol=1e-12)
    np.testing.assert_allclose(signals.before[:, 0], heights[: len(times)], atol=1e-12)


def test_a_square_wave_has_its_jumps_and_nothing_else() -> None:
    signals = sampled(lambda t: float(math.sin(2.0 * t) > 0.0), 0.0, 10.0)
    np.testing.assert_allclose(signals.knots, 0.5 * math.pi * np.arange(1, 7), atol=1e-11)


def test_several_values_at_once() -> None:
    signals = sampled(lambda t: (math.sin(t), t > 4.0), 0.0, 10.0)
    assert signals.after.shape[1] == 2
    found = values_at(signals, EVERYWHERE)
    np.testing.assert_allclose(found[:, 0], np.sin(EVERYWHERE), atol=2.0 * TOLERANCE)
    np.testing.assert_array_equal(found[:, 1], EVERYWHERE > 4.0)


def test_one_time_is_enough() -> None:
    signals = sampled(lambda t: t, 2.0, 2.0)
    assert signals.after.tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: 1.0 / (t - 5.0) if t != 5.0 else 1 / 0, "fails at t = 5 .ZeroDivisionError"),
        (lambda t: math.nan if t > 3.0 else 0.0, "not finite at t = 3"),
        (lambda: 1.0, "fails at t = 0 .*must take one number"),
        (lambda t: "much", "fails at t = 0"),
        (lambda t: [[1.0, 2.0]], r"array of shape \(1, 2\)"),
        (lambda t: [1.0] * (1 + (t > 5.0)), "gives 2 values at t = .*, and 1 elsewhere"),
    ],
)
def test_errors_of_functions(function: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sampled(function, 0.0, 10.0)


def test_noise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_EVALUATIONS", 2_000)
    with pytest.raises(DataError, match=r"changes too fast.*as an array"):
        sampled(lambda _: np.random.default_rng().random(), 0.0, 10.0)
