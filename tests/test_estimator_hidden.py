"""Fits with states that nobody measured."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from odefinder import ODEFormer
from odefinder.data import read
from odefinder.errors import SettingsError
from odefinder.system import ODESystem

TIMES = np.linspace(0.0, 20.0, 120)
SYSTEM = ODESystem.from_text("prey' = 1.2*prey - 0.6*prey*p; p' = 0.4*prey*p - 0.8*p")
EPIDEMIC = ODESystem.from_text("I' = 0.002*S*I - 0.45*I; S' = -0.002*S*I")
DAYS = np.linspace(0.0, 15.0, 30)
INFECTED = EPIDEMIC.simulate([3.0, 760.0], DAYS)[:, :1]


@pytest.fixture(scope="module")
def prey() -> NDArray[np.float64]:
    return SYSTEM.simulate([3.0, 1.0], TIMES)[:, :1]


@pytest.fixture(scope="module")
def model(prey: NDArray[np.float64]) -> ODEFormer:
    return ODEFormer(hidden=1, network=False, time_budget=30).fit(prey, TIMES, variables=["prey"])


def test_the_predator_is_found_in_a_readable_gauge(model: ODEFormer) -> None:
    texts = [" ".join(str(system).split()) for system in model.equations_["system"][:4]]
    assert any("prey' = 1.2*prey - prey*h1 h1' = 0.4*prey*h1 - 0.8*h1" in text for text in texts)
    assert model.system_.variables == ("prey", "h1")
    assert any("h1 was not measured" in note for note in model.notes_)


def test_simulate_score_save_and_plot(model: ODEFormer, prey: NDArray[np.float64], tmp_path: Path) -> None:
    assert model.simulate()[:, 0] == pytest.approx(prey[:, 0], rel=1e-2)
    other = SYSTEM.simulate([1.5, 2.0], TIMES)[:, :1]
    assert model.score(other, TIMES) > 0.99
    model.save(tmp_path / "model.json")
    again = ODEFormer.load(tmp_path / "model.json")
    assert again.hidden == 1
    assert str(again) == str(model)
    model.plot(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_single_variable_that_rises_and_falls_gets_advice(prey: NDArray[np.float64]) -> None:
    plain = ODEFormer(network=False, time_budget=3).fit(prey, TIMES, variables=["prey"])
    assert any("order=2" in note and "hidden=1" in note for note in plain.notes_)


def test_growth_gets_no_such_advice() -> None:
    growth = 1.0 / (1.0 + 9.0 * np.exp(-TIMES))
    plain = ODEFormer(network=False, time_budget=3).fit(growth[:, None], TIMES)
    assert not any("hidden=1" in note for note in plain.notes_)


@pytest.mark.parametrize("wrong", [-1, 1.5, "one", 99, True])
def test_numbers_that_hidden_cannot_be(wrong: object, prey: NDArray[np.float64]) -> None:
    with pytest.raises(SettingsError, match="hidden is"):
        ODEFormer(hidden=wrong).fit(prey, TIMES)


def test_an_epidemic_of_which_only_the_infected_are_counted() -> None:
    known = "S' = -b*S*I; I' = b*S*I - g*I"
    model = ODEFormer(hidden=1, known=known).fit(INFECTED, DAYS, variables=["I"])
    assert model.system_.variables == ("I", "S")
    assert model.constants_ == pytest.approx({"b": 0.002, "g": 0.45}, rel=1e-3)
    assert model.starts_[0] == pytest.approx([3.0, 760.0], rel=1e-3)
    assert not any("not determine" in note for note in model.notes_)


def test_what_the_infected_do_not_tell_is_said() -> None:
    known = "S' = -c*b*S*I; I' = b*S*I - g*I"
    model = ODEFormer(hidden=1, known=known).fit(INFECTED, DAYS, variables=["I"])
    assert any("b" in note and "determine" in note for note in model.notes_)


def test_states_of_known_that_are_not_hidden_enough(prey: NDArray[np.float64]) -> None:
    model = ODEFormer(hidden=1, known="p' = -p; q' = p - q")
    with pytest.raises(SettingsError, match="hidden=2"):
        model.fit(prey, TIMES, variables=["prey"])


def test_the_command_line(prey: NDArray[np.float64], tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from odefinder.cli.app import app

    file = tmp_path / "prey.csv"
    np.savetxt(file, np.column_stack([TIMES, prey]), delimiter=",", header="t,prey", comments="")
    assert read(file).variables == ("prey",)
    done = CliRunner().invoke(app, ["fit", str(file), "--hidden", "1", "--no-network", "--budget", "8"])
    assert done.exit_code == 0, done.output
    assert "h1'" in done.output
