"""The table of constants."""

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.errors import SettingsError
from odefinder.output.numbers import with_error

T = np.linspace(0.0, 12.0, 120)


@pytest.fixture(scope="module")
def model() -> ODEFormer:
    truth = ODESystem.from_text("theta' = v; v' = -2.3*sin(theta) - 0.2*v")
    angle = truth.simulate([1.8, 0.0], T)[:, :1]
    angle += 0.02 * np.random.default_rng(1).normal(size=angle.shape)
    guess = "theta' = theta_dot; theta_dot' = -2*sin(theta) - 0.3*theta_dot"
    return ODEFormer(network=False, sparse=False, order=2, guess=guess).fit(angle, T, variables=["theta"])


def test_it_has_equations_constants_and_starts(model: ODEFormer) -> None:
    text = str(model.summary())
    assert "theta'' = " in text
    assert "k1*theta'" in text
    assert "sin(k" in text  # a factor of 1 that was rounded has an error, too
    assert "[0.025" in text
    assert "rounded" in text
    assert "noise (standard deviation): theta 0.0" in text
    assert max(map(len, text.splitlines())) < 100


def test_it_is_data_too(model: ODEFormer) -> None:
    frame = model.summary(level=0.9).frame()
    fitted = frame[~frame["given"]]
    assert fitted["name"].tolist() == ["k1", "k2", "k3"]
    assert ((fitted["low"] < fitted["value"]) & (fitted["value"] < fitted["high"])).all()
    assert (fitted["error"] > 0.0).all()
    wider = model.summary(level=0.99).frame()[~frame["given"]]
    assert (wider["high"] >= fitted["high"]).all()
    with pytest.raises(SettingsError, match="level"):
        model.summary(level=1.5)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.4428, 0.0123, "0.443(12)"),
        (1.0, 0.0996, "1.00(10)"),
        (123.456, 7.0, "123.5(70)"),
        (0.03, 0.0007, "0.03000(70)"),
        (1.234e-7, 2e-9, "1.234(20)e-7"),
        (4.5e8, 3e7, "4.50(30)e8"),
        (2.5, np.inf, "2.5"),
        (2.0, 0.0, "2"),
    ],
)
def test_numbers_with_errors(value: float, error: float, text: str) -> None:
    assert with_error(value, error) == text


def test_latex_with_errors(model: ODEFormer) -> None:
    plain, text = model.latex(), model.latex(errors=True)
    assert "(" in text.replace(r"\left(", "")
    assert text.count("&=") == plain.count("&=") == 1
    assert r"\ddot{\theta} &=" in text  # that theta_dot is its velocity was given
    assert r"\dot{\theta}" in text


def test_errors_in_the_table_of_systems(model: ODEFormer) -> None:
    row = model.equations_.iloc[0]
    assert row["errors"].shape == row["system"].constants.shape
    assert (row["errors"] > 0.0).all()


def test_without_rounding_no_constant_is_simple() -> None:
    x = np.exp(-0.5 * T)[:, None] + 0.01 * np.random.default_rng(0).normal(size=(120, 1))
    simple = {"network": False, "sparse": False, "guess": "x0' = -x0"}
    rounded = ODEFormer(**simple).fit(x, T).summary().constants
    exact = ODEFormer(**simple, round_constants=False).fit(x, T).summary().constants
    assert [one.rounded for one in rounded] == [True]
    assert [one.rounded for one in exact] == [False]
    assert rounded[0].error == pytest.approx(exact[0].error, rel=0.01)
    assert rounded[0].low == pytest.approx(exact[0].low, rel=0.01)
