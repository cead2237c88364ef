"""As many digits as reproduce the trajectory."""

import numpy as np
import pytest

from odefinder import ODESystem
from odefinder.data.observations import Observations
from odefinder.inference.fit.digits import with_digits
from odefinder.numerics.r2 import variance_weighted_r2


def curve(system: ODESystem, start: list[float], times: np.ndarray) -> np.ndarray:
    return system.simulate(start, times)


def shown(system: ODESystem, start: list[float], times: np.ndarray) -> ODESystem:
    data = Observations.joined([times], [curve(system, start, times)])
    return with_digits(system, np.array([start]), data)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("p' = 50662.5 - 0.5*p", [101335.0], 10.0),
        ("p' = 50662.5123 - 0.49999871*p", [101335.0], 10.0),
        ("p' = 25330.3263 - 2.46721883e-6*p^2", [101335.0], 10.0),
        ("x' = 1.2345678*y; y' = -0.98765432*x", [1.0, 0.0], 100.0),
        ("x' = 1.23456789e-13*y; y' = -9.8765432e11*x", [1e-12, 0.0], 100.0),
        ("x' = 10*y - 10.0012*x; y' = 28.0123*x - y - x*z; z' = x*y - 2.66666*z", [1.0, 1.0, 20.0], 8.0),
    ],
)
def test_what_is_printed_follows_the_trajectory(text: str, start: list[float], end: float) -> None:
    times = np.linspace(0.0, end, 200)
    system = ODESystem.from_text(text)
    printed = shown(system, start, times)
    again = ODESystem.from_text(str(printed))
    assert variance_weighted_r2(curve(system, start, times), curve(again, start, times)) > 0.9999


def test_four_digits_stay_where_they_are_enough() -> None:
    system = ODESystem.from_text("x' = 0.87654321*x - 0.12345678*x^2")
    assert shown(system, [0.1], np.linspace(0.0, 10.0, 50)) is system


def test_a_far_level_is_written_as_a_difference() -> None:
    system = ODESystem.from_text("p' = 50662.5123 - 0.49999871*p")
    printed = shown(system, [101335.0], np.linspace(0.0, 10.0, 50))
    assert str(printed) == "p' = -0.5*(p - 101325.29)"
    assert "101325.29" in printed.latex()
    assert "101325.29" in printed.export("latex")


def test_digits_are_kept_in_files() -> None:
    system = shown(ODESystem.from_text("p' = 25330.3263 - 2.46721883e-6*p^2"), [101335.0], np.linspace(0, 10))
    assert str(ODESystem.from_json(system.to_json())) == str(system)
    assert len(str(system)) > len(system.to_text(4))


def test_a_system_that_cannot_be_followed_stays_as_it_is() -> None:
    system = ODESystem.from_text("x' = 101325.25*x^2")
    data = Observations.joined([np.linspace(0.0, 1.0, 20)], [np.ones((20, 1))])
    assert str(with_digits(system, np.array([[1e300]]), data))


def test_many_trajectories_are_not_all_looked_at() -> None:
    system = ODESystem.from_text("p' = 50662.5123 - 0.49999871*p")
    times, start = np.linspace(0.0, 10.0, 20), [101335.0]
    data = Observations.joined([times] * 250, [curve(system, start, times)] * 250)
    again = ODESystem.from_text(str(with_digits(system, np.array([start] * 250), data)))
    assert variance_weighted_r2(curve(system, start, times), curve(again, start, times)) > 0.9999
