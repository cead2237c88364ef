"""Errors and bands know the parameters of a result: names, ties, fixed and varying constants, bounds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.cli.show import as_json
from odefinder.errors import DataError
from odefinder.inference.bands import simulated

SIR = ODESystem.from_text("S' = -0.004*S*I; I' = 0.004*S*I - 0.1*I; R' = 0.1*I")
WRITTEN = "S' = -b*S*I; I' = b*S*I - g*I; R' = g*I"
T = np.linspace(0.0, 60.0, 41)
NAMES = ["S", "I", "R"]


def sir(seed: int = 0) -> np.ndarray:
    x = SIR.simulate([99.0, 1.0, 0.0], T)
    return x + np.random.default_rng(seed).standard_normal(x.shape)


def fitted(known: str = WRITTEN, seed: int = 0, **more: object) -> ODEFormer:
    return ODEFormer(known=known, network=False, **more).fit(sir(seed), T, variables=NAMES)


@pytest.fixture(scope="module")
def model() -> ODEFormer:
    return fitted()


@pytest.fixture(scope="module")
def growth() -> ODEFormer:
    t = np.linspace(0.0, 8.0, 30)
    curves = [
        ODESystem.from_text(f"N' = {r}*N*(1 - N/7)").simulate([0.3], t)
        + 0.05 * np.random.default_rng(k).standard_normal((30, 1))
        for k, r in enumerate((0.5, 0.9, 1.4))
    ]
    return ODEFormer(known="N' = r*N*(1 - N/K)", vary=["r"]).fit(curves, [t] * 3, variables=["N"])


def test_a_constant_that_occurs_twice_is_one_row_with_its_name(model: ODEFormer) -> None:
    summary = model.summary()
    assert [one.name for one in summary.constants] == ["b", "g"]
    assert [one.equation for one in summary.constants] == ["S, I", "I, R"]
    assert "I' = b*S*I - g*I" in str(summary)
    b, g = summary.constants
    assert b.low < 0.004 < b.high
    assert g.low < 0.1 < g.high


def test_errors_are_the_spread_of_the_estimates() -> None:
    models = [fitted(seed=seed, round_constants=False) for seed in range(25)]
    found = np.array([list(one.constants_.values()) for one in models])
    errors = np.mean([[row.error for row in one.summary().constants] for one in models], axis=0)
    assert found.std(axis=0) == pytest.approx(errors, rel=0.4)


def test_numbers_of_the_equations_follow_the_parameters(model: ODEFormer) -> None:
    b, g = (one.error for one in model.summary().constants)
    assert model.equations_["errors"][0] == pytest.approx([b, g, b, g], rel=0.02)
    assert "b &= 0.004000(39)" in model.latex(errors=True)
    rows = json.loads(as_json(model))["constants"]
    assert [row["name"] for row in rows] == ["b", "g"]


def test_the_error_of_an_inverse() -> None:
    t = np.linspace(0.0, 10.0, 40)
    x = ODESystem.from_text("S' = -300*S/(40 + S)").simulate([1000.0], t)
    x += 3.0 * np.random.default_rng(0).standard_normal(x.shape)
    model = ODEFormer(known="S' = -V*S/(K + S)", round_constants=False).fit(x, t, variables=["S"])
    half = next(one for one in model.summary().constants if one.name == "K")
    assert model.equations_["errors"][0][-1] == pytest.approx(half.error / half.value**2, rel=0.05)


def test_a_product_is_determined_where_its_factors_are_not() -> None:
    model = fitted("S' = -a*b*S*I; I' = a*b*S*I - g*I; R' = g*I")
    a, b, g = model.summary().constants
    assert not a.determined
    assert not b.determined
    assert g.determined
    errors = model.equations_["errors"][0]
    assert errors[0] == errors[2] == pytest.approx(3.9e-5, rel=0.1)
    own, plain = (one.simulate(bands=True) for one in (model, fitted(round_constants=False)))
    widths = [(one.upper - one.lower).mean() for one in (own, plain)]
    assert widths[0] == pytest.approx(widths[1], rel=0.3)


def test_fixed_constants_have_no_error_and_bounds_hold() -> None:
    model = fitted(fixed={"g": 0.1}, bounds={"b": (0.00405, 1.0)})
    b, g = model.summary().constants
    assert (g.name, g.fixed, g.error) == ("g", True, 0.0)
    assert b.bound
    assert not b.rounded
    assert b.low == b.value == 0.00405 < b.high
    text = str(model.summary())
    assert "fixed" in text
    assert "at its bound" in text
    drawn = np.array([one.constants for one in model._draws.programs])
    ratio = drawn / drawn[0]
    moved = np.ptp(ratio, axis=0) > 1e-9
    assert 0 < moved.sum() < len(moved)
    assert np.ptp(ratio[:, moved], axis=1) == pytest.approx(0.0, abs=1e-9)  # b moves, and all of it


def test_everything_may_be_fixed() -> None:
    model = fitted(fixed={"g": 0.1, "b": 0.004})
    assert [one.fixed for one in model.summary().constants] == [True, True]
    assert (model.equations_["errors"][0] == 0.0).all()
    assert np.isfinite(model.simulate(bands=True).upper).all()


def test_tied_constants_are_one() -> None:
    model = ODEFormer(network=False, sparse=False, guess=str(SIR)).fit(sir(), T, variables=NAMES)
    rows = model.summary().constants
    assert [(one.name, one.tied) for one in rows] == [("k1", True), ("k2", True)]
    assert rows[0].error == pytest.approx(fitted().summary().constants[0].error, rel=1e-3)
    draws = replace(model._draws, programs=model._draws.programs[:20])  # those of the first candidate
    start = np.array([99.0, 1.0, 0.0])
    paths = simulated(draws, model._prepared, T, model.dataset_.all_signals()[0], start)
    assert paths.sum(axis=2) == pytest.approx(100.0, rel=1e-4)  # so they move together
    assert np.ptp(paths[:, -1, 0]) > 0.1


def test_constants_that_vary_have_a_row_for_each_trajectory(growth: ODEFormer, tmp_path: Path) -> None:
    rows = growth.summary().constants
    assert [(one.name, one.trajectory) for one in rows] == [("r", "1"), ("r", "2"), ("r", "3"), ("K", "")]
    assert (np.array([one.error for one in rows]) > 0.0).all()
    assert "r (2)" in str(growth.summary())
    assert r"r &= 0.5000(40),\; 0.9000(71),\; 1.400(14)" in growth.latex(errors=True)
    growth.save(tmp_path / "model.json")
    assert str(ODEFormer.load(tmp_path / "model.json").summary()) == str(growth.summary())


def test_bands_with_constants_that_vary(growth: ODEFormer) -> None:
    t = np.linspace(0.0, 8.0, 30)
    own = growth.simulate(bands=True)
    other = growth.simulate([0.3], t, conditions={"r": 1.0}, bands=True)
    truth = ODESystem.from_text("N' = N*(1 - N/7)").simulate([0.3], t)
    assert ((truth >= other.lower - 0.05) & (truth <= other.upper + 0.05)).mean() > 0.8
    assert (own.upper - own.lower).max() < 0.3
    for k, rate in enumerate((0.5, 0.9, 1.4)):
        later = growth.forecast(2.0, trajectory=k, points=5)
        truth = ODESystem.from_text(f"N' = {rate}*N*(1 - N/7)").simulate([0.3], [0.0, *later.times])[1:]
        assert (np.abs(truth - later.states) < 0.1).all()
        assert (later.lower <= later.upper).all()


def test_a_damaged_law_is_an_error(growth: ODEFormer, tmp_path: Path) -> None:
    growth.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    content["systems"][0]["law"]["parameters"][0]["values"] = [1.0]
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match="parameters"):
        ODEFormer.load(tmp_path / "model.json")


def test_varying_constants_and_the_time_itself(tmp_path: Path) -> None:
    t = np.linspace(0.0, 6.0, 60)
    curves = [
        ODESystem.from_text(f"x' = {a}*cos(2*t) - 0.5*x", inputs=["t"]).simulate([0.2], t)
        + 0.01 * np.random.default_rng(1).standard_normal((60, 1))
        for a in (1.0, 1.7)
    ]
    model = ODEFormer(known="x' = a*cos(w*t) - c*x", vary=["a"], bounds={"w": (0.0, 5.0)}, explicit_time=True)
    model.fit(curves, [t] * 2, variables=["x"])
    assert model.constants_["a"] == pytest.approx((1.0, 1.7), rel=0.05)
    assert model.system_.inputs == ("t", "a")
    conditions = {"a": [1.0, 1.7]}  # they come before the time there
    assert model.score(curves, [t] * 2, conditions=conditions) > 0.99
    later = model.forecast(3.0, trajectory=1, points=20)
    truth = ODESystem.from_text("x' = 1.7*cos(2*t) - 0.5*x", inputs=["t"]).simulate(
        [0.2], [0.0, *later.times]
    )
    assert (np.abs(later.states - truth[1:]) < 0.1).all()
    figure = model.plot(tmp_path / "figure.png")
    lines = [line for axes in figure.axes for line in axes.lines if len(line.get_ydata()) > 100]
    assert lines
    assert max(np.abs(np.asarray(line.get_ydata(), float)).max() for line in lines) < 20.0


def test_hidden_states_and_inputs_have_bands() -> None:
    model = ODEFormer(
        known="S' = -b*S*I; I' = b*S*I - g*I", hidden=1, bounds={"b": (0, None), "g": (0, None)}
    )
    model.fit(sir()[:, 1:2], T, variables=["I"])
    b, g = model.summary().constants
    assert b.low < 0.004 < b.high
    assert g.low < 0.1 < g.high
    bands = model.simulate(bands=True)
    truth = SIR.simulate([99.0, 1.0, 0.0], T)[:, [1, 0]]
    assert ((truth >= bands.lower - 0.3) & (truth <= bands.upper + 0.3)).mean() > 0.7
    assert model.forecast(10.0).lost.max() == 0.0


def test_order_two_with_inputs_and_a_constant_that_varies() -> None:
    t = np.linspace(0.0, 6.0, 60)
    forces = [np.sign(np.sin(1.7 * t)), np.cos(t)]
    curves = [
        ODESystem.from_text(f"x' = v; v' = {k}*u - 0.4*v - 2*x", inputs=["u"]).simulate(
            [0.2, 0.0], t, inputs=force[:, None]
        )[:, :1]
        + 0.01 * np.random.default_rng(1).standard_normal((60, 1))
        for k, force in zip((1.0, 1.7), forces, strict=True)
    ]
    model = ODEFormer(known="x'' = k*u - c*x_dot - w*x", order=2, vary=["k"])
    model.fit(curves, [t] * 2, variables=["x"], inputs=[{"u": force} for force in forces])
    assert "x'' = k*u - c*x' - w*x" in str(model.summary())
    assert [one.name for one in model.summary().constants] == ["k", "k", "c", "w"]
    assert (model.simulate(bands=True).upper < 2.0).all()
    other = model.simulate([0.0, 0.0], t, inputs={"u": forces[0], "k": 1.2}, bands=True)
    system = ODESystem.from_text("x' = v; v' = 1.2*u - 0.4*v - 2*x", inputs=["u"])
    truth = system.simulate([0.0, 0.0], t, inputs=forces[0][:, None])
    assert ((truth >= other.lower - 0.01) & (truth <= other.upper + 0.01)).mean() > 0.8
