"""Fits in which something is known: equations, parts of them, constants, bounds, sums."""

from pathlib import Path

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
    with pytest.raises(SettingsError, match="not one of the variables"):
        ODEFormer(known="Q' = -b*Q").fit(sir(), T, variables=NAMES)


def test_what_a_question_mark_stands_for_is_found() -> None:
    model = ODEFormer(known="S' = -b*S*I; I' = b*S*I - ?; R' = g*I", network=False, time_budget=60)
    model.fit(sir(), T, variables=NAMES)
    assert model.constants_ == pytest.approx({"b": 0.004, "g": 0.1}, rel=1e-4)
    assert str(model.system_).splitlines()[1] == "I' = 0.004*S*I - 0.1*I"


def test_a_pendulum_of_which_gravity_is_known() -> None:
    t = np.linspace(0.0, 5.0, 70)
    x = ODESystem.from_text("x' = v; v' = -9.81*sin(x) - 0.3*v").simulate([2.0, 0.0], t)[:, :1]
    model = ODEFormer(
        known="theta'' = -g*sin(theta) + ?(theta_dot)",
        fixed={"g": 9.81},
        order=2,
        network=False,
        time_budget=60,
    ).fit(x, t, variables=["theta"])
    assert "theta'' = -0.3*theta' - 9.81*sin(theta)" in str(model)
    assert model.constants_ == {"g": 9.81}


def test_a_constant_that_varies_has_a_value_for_each_trajectory(tmp_path: Path) -> None:
    t = np.linspace(0.0, 8.0, 30)
    rates = (0.5, 0.9, 1.4)
    curves = [ODESystem.from_text(f"N' = {r}*N*(1 - N/7)").simulate([0.3], t) for r in rates]
    model = ODEFormer(known="N' = r*N*(1 - N/K)", vary=["r"]).fit(curves, [t] * 3, variables=["N"])
    assert model.constants_["r"] == pytest.approx(rates, rel=1e-4)
    assert model.constants_["K"] == pytest.approx(7.0, rel=1e-4)
    assert model.system_.inputs == ("r",)
    assert model.simulate() == pytest.approx(curves[0], abs=1e-3)
    assert model.simulate([0.3], t, conditions={"r": 1.4}) == pytest.approx(curves[2], abs=1e-3)
    model.save(tmp_path / "model.json")
    again = ODEFormer.load(tmp_path / "model.json")
    assert again.constants_ == model.constants_
    assert again.simulate() == pytest.approx(model.simulate())
    assert "(r = (0.5, 0.9, 1.4), K = 7)" in str(again)
    assert r"K &= 7" in again.latex()


def test_conserved_sums_are_exact_in_every_system() -> None:
    model = ODEFormer(conserve="S + I + R", network=False, time_budget=30).fit(sir(1.0), T, variables=NAMES)
    x = np.random.default_rng(0).uniform(0.0, 100.0, (20, 3))
    for system in model.equations_["system"]:
        assert system.derivative(x).sum(axis=1) == pytest.approx(0.0, abs=1e-9)


def test_no_term_leads_below_zero() -> None:
    model = ODEFormer(positive=True, network=False, time_budget=30).fit(sir(1.0), T, variables=NAMES)
    for system in model.equations_["system"]:
        for k in range(3):
            x = np.random.default_rng(0).uniform(0.0, 100.0, (20, 3))
            x[:, k] = 0.0
            assert (system.derivative(x)[:, k] >= -1e-6).all()


def test_operators_can_be_given_for_one_variable() -> None:
    model = ODEFormer(operators={"I": []}, network=False, time_budget=30).fit(sir(1.0), T, variables=NAMES)
    for system in model.equations_["system"]:
        assert system.program.components()[1].operators() <= {"add", "mul"}


def test_single_terms_are_allowed_or_forbidden() -> None:
    only = {"S": ["S*I"], "I": ["S*I", "I"], "R": "!1, !R"}
    model = ODEFormer(terms=only, network=False, time_budget=30).fit(sir(1.0), T, variables=NAMES)
    assert str(model.system_).splitlines()[:2] == ["S' = -0.004*S*I", "I' = 0.004*S*I - 0.1*I"]
    model = ODEFormer(terms={"S": "!S*I"}, network=False, time_budget=30).fit(sir(1.0), T, variables=NAMES)
    for system in model.equations_["system"]:
        terms = str(system).splitlines()[0].replace(" - ", " + ").split(" + ")
        assert not any(term.lstrip("S' =-0123456789.e").strip("*") == "S*I" for term in terms)


def test_a_term_that_no_library_has_is_offered() -> None:
    t = np.linspace(0.0, 4.0, 60)
    x = ODESystem.from_text("x' = 2*exp(-x^2) - 0.5*x").simulate([0.0], t)
    model = ODEFormer(terms={"x": ["x", "exp(-k*x^2)"]}, network=False).fit(x, t, variables=["x"])
    assert str(model.system_) == "x' = 2*exp(-x^2) - 0.5*x"


def test_a_conserved_sum_is_noted() -> None:
    model = ODEFormer(network=False, time_budget=30).fit(sir(), T, variables=NAMES)
    assert any("S + I + R = 100 in these data" in note for note in model.notes_)
