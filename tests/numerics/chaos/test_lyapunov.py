"""Lyapunov exponents against published values and closed forms."""

import numpy as np
import pytest

from odefinder.errors import SettingsError
from odefinder.expressions.program import Program
from odefinder.numerics.chaos.lyapunov import kaplan_yorke, lyapunov_spectrum
from odefinder.numerics.integrate import Status
from odefinder.system import ODESystem


def program(*equations: str) -> Program:
    return ODESystem.from_text(list(equations), ["x", "y", "z", "w"][: len(equations)]).program


LORENZ = program("10*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z")
ROESSLER = program("-y - z", "x + 0.2*y", "0.2 + z*(x - 5.7)")


def test_lorenz() -> None:
    """Published: 0.906, 0, -14.572 and dimension 2.062 (Viswanath 1998; Sprott 2003)."""
    spectrum = lyapunov_spectrum(LORENZ, [1.0, 1.0, 20.0], 0.75)
    assert spectrum.exponents == pytest.approx([0.906, 0.0, -14.572], abs=0.05)
    assert abs(spectrum.largest - 0.906) < 4.0 * spectrum.errors[0] < 0.2
    assert spectrum.exponents.sum() == pytest.approx(-10.0 - 1.0 - 8.0 / 3.0, abs=1e-4)
    assert spectrum.dimension == pytest.approx(2.062, abs=0.005)
    assert str(spectrum) == "chaotic: neighbouring trajectories part by a factor of e every 1.1 time units"


def test_roessler() -> None:
    """Published: 0.0714, 0, -5.394 and dimension 2.013 (Sprott 2003)."""
    spectrum = lyapunov_spectrum(ROESSLER, [1.0, 1.0, 0.0], 5.9, periods=200.0)
    assert spectrum.exponents == pytest.approx([0.0714, 0.0, -5.394], abs=0.02)
    assert spectrum.dimension == pytest.approx(2.013, abs=0.004)
    assert spectrum.chaotic
    assert spectrum.time == pytest.approx(14.0, rel=0.25)


def test_a_linear_system_has_the_real_parts_of_its_eigenvalues() -> None:
    spectrum = lyapunov_spectrum(program("-0.5*x + 2*y", "-2*x - 0.5*y", "-0.1*z"), [1.0, 1.0, 1.0], 3.0)
    assert spectrum.exponents == pytest.approx([-0.1, -0.5, -0.5], rel=1e-9)
    assert (spectrum.chaotic, spectrum.dimension, spectrum.time) == (False, 0.0, np.inf)


def test_before_it_rests_a_linear_system_is_integrated() -> None:
    spectrum = lyapunov_spectrum(program("-0.2*x", "0.1*y"), [1.0, 1.0], 3.0, periods=20.0, transient=0.0)
    assert spectrum.exponents == pytest.approx([0.1, -0.2], abs=1e-6)
    assert not spectrum.chaotic
    assert str(spectrum) == "not chaotic: it grows without bound"


def test_a_limit_cycle_has_exponent_zero() -> None:
    spectrum = lyapunov_spectrum(program("y", "(1 - x^2)*y - x"), [1.0, 1.0], 6.66, periods=100.0)
    assert spectrum.exponents == pytest.approx([0.0, -1.059], abs=2e-3)
    assert not spectrum.chaotic
    assert str(spectrum).startswith("not chaotic")


def test_a_torus_and_a_shear_are_not_chaotic() -> None:
    """Neighbours on a torus with different frequencies part in proportion to the time."""
    torus = program("y", "-x", "w", "-2*z")
    shear = program("y*(x^2 + y^2)", "-x*(x^2 + y^2)")
    for one, start in ((torus, [1.0, 0.0, 1.0, 0.0]), (shear, [1.0, 0.5])):
        assert not lyapunov_spectrum(one, start, 6.0, periods=100.0).chaotic


def test_contraction_far_below_rounding_is_resolved() -> None:
    """A direction that shrinks by e^-300 per period, and in which the state soon comes to rest."""
    spectrum = lyapunov_spectrum(
        program("y", "(1 - x^2)*y - x", "-50*z"), [1.0, 1.0, 1.0], 6.66, periods=5.0, transient=5.0
    )
    assert spectrum.exponents[-1] == pytest.approx(-50.0, rel=0.05)


def test_a_system_that_runs_away_says_so() -> None:
    spectrum = lyapunov_spectrum(program("x^2"), [1.0], 1.0)
    assert spectrum.status != Status.OK
    assert not spectrum.chaotic
    assert np.isnan(spectrum.largest)
    assert str(spectrum).startswith("no Lyapunov exponents")


def test_a_budget_ends_it_early() -> None:
    spectrum = lyapunov_spectrum(LORENZ, [1.0, 1.0, 20.0], 0.75, periods=1e6, seconds=0.05)
    assert spectrum.duration < 1e5
    nothing = lyapunov_spectrum(LORENZ, [1.0, 1.0, 20.0], 0.75, seconds=0.0)
    assert not nothing.chaotic
    assert str(nothing) == "no Lyapunov exponents: the time budget was too small"


def test_settings_are_checked() -> None:
    with pytest.raises(SettingsError, match="positive"):
        lyapunov_spectrum(LORENZ, [1.0, 1.0, 20.0], 0.0)


@pytest.mark.parametrize(
    ("exponents", "dimension"),
    [
        ([0.906, 0.0, -14.572], 2.0 + 0.906 / 14.572),
        ([-1.0, -2.0], 0.0),
        ([1.0, 0.0], 2.0),
        ([-2.0, 1.0], 1.5),
    ],
)
def test_kaplan_yorke(exponents: list[float], dimension: float) -> None:
    assert kaplan_yorke(exponents) == pytest.approx(dimension)
