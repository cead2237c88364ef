"""Constants that differ between trajectories, where the criterion says so."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem

T = np.linspace(0.0, 8.0, 30)


def curves(rates: tuple[float, ...]) -> list[np.ndarray]:
    return [ODESystem.from_text(f"N' = {r}*N - 0.1*N^2").simulate([0.3], T) for r in rates]


def test_a_constant_of_its_own_for_each_trajectory() -> None:
    model = ODEFormer(network=False, time_budget=60).fit(curves((0.5, 0.8, 1.2)), [T] * 3, variables=["N"])
    assert model.constants_["k1"] == pytest.approx((0.5, 0.8, 1.2), rel=1e-3)
    assert model.system_.inputs == ("k1",)
    assert any("share a law, but not all constants: k1 is" in note for note in model.notes_)
    assert model.simulate() == pytest.approx(curves((0.5,))[0], abs=1e-2)


def test_the_same_constants_stay_the_same() -> None:
    model = ODEFormer(network=False, time_budget=60).fit(curves((0.8, 0.8)), [T] * 2, variables=["N"])
    assert model.constants_ == {}


def test_given_errors_say_how_close_is_close_enough() -> None:
    """Rates that differ by less than the errors allow are one rate."""
    data = curves((0.8, 0.81))
    exact = ODEFormer(network=False, time_budget=60).fit(data, [T] * 2, variables=["N"])
    assert exact.constants_["k1"] == pytest.approx((0.8, 0.81), rel=1e-3)
    rough = ODEFormer(network=False, time_budget=60)
    assert rough.fit(data, [T] * 2, variables=["N"], errors={"N": 0.1}).constants_ == {}


def test_the_law_of_single_trajectories_under_noise() -> None:
    """No system with the same constants for all is near the law; each trajectory alone shows it."""
    rng = np.random.default_rng(4)
    runs = [
        ODESystem.from_text(f"x' = 0.8*x - {k}*x^2").simulate([x0], T)
        for k, x0 in ((0.1, 0.2), (0.2, 0.3), (0.5, 0.5))
    ]
    noisy = [x + 0.03 * x.std() * rng.standard_normal(x.shape) for x in runs]
    model = ODEFormer(network=False, time_budget=60).fit(noisy, [T] * 3, variables=["x"])
    assert np.abs(model.constants_["k1"]) == pytest.approx((0.1, 0.2, 0.5), rel=0.05)
    assert len(model.system_.constants) == 1


def test_a_rate_that_leaves_one_equation_and_enters_another_is_one_constant() -> None:
    rates, t = (0.4, 0.7, 1.3), np.linspace(0.0, 10.0, 50)
    runs = [
        ODESystem.from_text(f"a' = -{k}*a; b' = {k}*a - 0.3*b").simulate(start, t)
        for k, start in zip(rates, ([5.0, 0.0], [3.0, 1.0], [4.0, 0.0]), strict=True)
    ]
    model = ODEFormer(network=False, time_budget=60).fit(runs, [t] * 3, variables=["a", "b"])
    assert str(model.system_).splitlines() == ["a' = -a*k1", "b' = a*k1 - 0.3*b"]
    assert model.constants_ == {"k1": pytest.approx(rates, rel=1e-3)}
    assert "k1 (3)" in str(model.summary())


def test_beside_a_variable_that_never_changes() -> None:
    data = [np.column_stack([x[:, 0], np.full(len(T), 7.0)]) for x in curves((0.5, 0.8, 1.2))]
    model = ODEFormer(network=False, time_budget=60).fit(data, [T] * 3, variables=["N", "c"])
    assert model.constants_["k1"] == pytest.approx((0.5, 0.8, 1.2), rel=1e-3)
    assert str(model.system_).splitlines()[1] == "c' = 0"
    assert model.simulate()[:, 0] == pytest.approx(data[0][:, 0], abs=1e-2)
    assert "k1 (3)" in str(model.summary())


def test_beside_a_variable_with_the_name_that_a_constant_would_have() -> None:
    data = [np.column_stack([x[:, 0], np.full(len(T), 7.0)]) for x in curves((0.5, 0.8, 1.2))]
    model = ODEFormer(network=False, time_budget=60).fit(data, [T] * 3, variables=["N", "k1"])
    assert str(model.system_).splitlines()[1] == "k1' = 0"


def test_many_terms_that_make_up_for_a_constant_are_not_the_last_word() -> None:
    """The second variable tells the trajectories apart, so a long system with common constants fits, too."""
    t, rng = np.linspace(0.0, 8.0, 50), np.random.default_rng(5)
    runs = [
        ODESystem.from_text(f"N' = {r}*N - 0.15*N^2; P' = 0.3*N - 0.5*P").simulate([0.4, 0.1], t)
        for r in (0.6, 0.95, 1.3)
    ]
    noisy = [x + 0.01 * x.std(axis=0) * rng.standard_normal(x.shape) for x in runs]
    model = ODEFormer(network=False, time_budget=60).fit(noisy, [t] * 3, variables=["N", "P"])
    assert model.constants_["k1"] == pytest.approx((0.6, 0.95, 1.3), rel=0.02)


def test_what_a_condition_explains_does_not_vary() -> None:
    """A law that reads the condition holds for others, too, even if it is longer."""
    levels = (0.5, 1.0, 1.5, 2.5)
    growth = ODESystem.from_text("N' = 0.9*N*exp(-0.8*c) - 0.1*N^2", inputs=["c"])
    runs = [growth.simulate([0.3], T, conditions={"c": level}) for level in levels]
    model = ODEFormer(network=False, time_budget=60)
    model.fit(runs, [T] * 4, variables=["N"], conditions={"c": levels})
    assert model.constants_ == {}
    assert model.simulate([0.3], T, conditions={"c": 2.0}) == pytest.approx(
        growth.simulate([0.3], T, conditions={"c": 2.0}), abs=0.02
    )


def test_conditions_that_tell_all_trajectories_apart_leave_nothing_to_vary() -> None:
    """The rates do not follow from these levels in any simple way; with two curves at each, they vary."""
    rates, levels = (0.5, 1.2, 0.7, 0.9), (1.0, 2.0, 3.0, 4.0)
    model = ODEFormer(network=False, time_budget=20)
    model.fit(curves(rates), [T] * 4, variables=["N"], conditions={"c": levels})
    assert model.constants_ == {}
    model.fit(curves(rates), [T] * 4, variables=["N"], conditions={"c": (1.0, 1.0, 2.0, 2.0)})
    assert model.constants_["k1"] == pytest.approx(rates, rel=1e-3)


def test_constants_do_not_make_up_for_a_wrong_law_of_exact_data() -> None:
    """Among linear laws none is right, and lines with numbers of their own are nearer to each trajectory."""
    switch = ODESystem.from_text("x' = 3/(1 + x^4) - 0.8*x")
    runs = [switch.simulate(start, T) for start in ([0.1], [2.2])]
    model = ODEFormer(network=False, operators=[], time_budget=60).fit(runs, [T] * 2)
    assert model.constants_ == {}
