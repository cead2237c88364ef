"""Fits in which something is known: equations, parts of them, constants, bounds, sums."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.errors import SettingsError

SIR = ODESystem.from_text("S' = -0.4*S*I/100; I' = 0.4*S*I/100 - 0.1*I; R' = 0.1*I")
T = np.linspace(0.0, 60.0, 41)
NAMES = ["S", "I", "R"]


def sir(noise: float = 0.0) -> np.ndarray:
    x = SIR.simulate([99.0, 1.0, 0.0], T)
    return x + noise * np.random.default_rng(0).standard_normal(x.shape)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_constants_of_whole_equations_are_fitted(noise: float) -> None:
    model = ODEFormer(known="S' = -b*S*I; I' = b*S*I - g*I; R' = g*I").fit(sir(noise), T, variables=NAMES)
    assert len(model.equations_) == 1
    assert model.constants_ == pytest.approx({"b": 0.004, "g": 0.1}, rel=1e-6 if noise == 0.0 else 0.05)
    assert model.system_.simulate([99.0, 1.0, 0.0], T) == pytest.approx(sir(), abs=1e-3 + 2.0 * noise)
    assert model.equations_["source"][0] == "known"
    assert model.equations_["weight"][0] > 0.5


def test_fixed_constants_keep_their_values() -> None:
    model = ODEFormer(known="S' = -b*S*I; I' = b*S*I - g*I; R' = g*I", fixed={"g": 0.1234567})
    model.fit(sir(), T, variables=NAMES)
    assert model.constants_["g"] == 0.1234567
    assert model.system_.constants[-1] == 0.1234567


def test_bounds_hold() -> None:
    model = ODEFormer(
        known="S' = -b*S*I; I' = b*S*I - g*I; R' = g*I", bounds={"g": (0.12, None), "b": (0, 1)}
    )
    model.fit(sir(), T, variables=NAMES)
    assert model.constants_["g"] == pytest.approx(0.12)
    assert 0.0 < model.constants_["b"] < 1.0


def test_constants_inside_functions_are_found_from_far_away() -> None:
    t = np.linspace(0.0, 10.0, 40)
    x = ODESystem.from_text("S' = -300*S/(40 + S)").simulate([1000.0], t)
    model = ODEFormer(known="S' = -V*S/(K + S)").fit(x, t, variables=["S"])
    assert model.constants_ == pytest.approx({"V": 300.0, "K": 40.0}, rel=1e-4)


def test_contradictions_are_said_before_the_fit() -> None:
    with pytest.raises(SettingsError, match="no variable"):
        ODEFormer(known="Q' = -b*Q").fit(sir(), T, variables=NAMES)
