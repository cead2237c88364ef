"""Inputs, conditions and doses on the command line: columns, tables of their own, held values."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from odefinder import ODEFormer, ODESystem
from odefinder.cli import app as cli
from odefinder.cli.driving import condition_options, dose_options
from odefinder.data import Hold
from odefinder.errors import SettingsError

T = np.linspace(0.0, 12.0, 61)
TANK = ODESystem.from_text("h' = 0.5*q - 0.3*h", inputs=["q"])
STEPS = np.where(T < 4.0, 1.0, np.where(T < 8.0, 3.0, 0.5))
QUICK = ["--no-network", "--budget", "20"]


def invoke(*arguments: Any) -> Any:
    result = CliRunner().invoke(cli.app, list(map(str, arguments)), env={"COLUMNS": "100", "NO_COLOR": "1"})
    assert "Traceback" not in result.output
    return result


def states(printed: str, column: str) -> Any:
    header, *rows = printed.splitlines()
    place = header.split(",").index(column)
    return np.array([float(row.split(",")[place]) for row in rows])


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a tank whose pump keeps each setting until the next."""
    folder = tmp_path_factory.mktemp("tank")
    level = TANK.simulate([0.4], T, inputs={"q": Hold(STEPS)})[:, 0]
    pd.DataFrame({"time": T, "h": level, "q": STEPS}).to_csv(folder / "tank.csv", index=False)
    result = invoke("fit", folder / "tank.csv", "--hold", "q", *QUICK, "--save", folder / "model.json")
    assert result.exit_code == 0, result.output
    assert "h' = 0.5*q - 0.3*h" in result.output
    return folder / "model.json"


def test_simulate_takes_a_table_of_inputs(held: Path) -> None:
    table = held.with_name("inputs.csv")
    pd.DataFrame({"time": [0.0, 5.0], "q": [2.0, 2.0]}).to_csv(table, index=False)
    result = invoke("simulate", held, "--x0", "h=0", "--inputs", table, "--t-end", "5", "--points", "2")
    assert states(result.stdout, "h")[-1] == pytest.approx((1.0 - np.exp(-1.5)) * 1.0 / 0.3, rel=1e-3)
    nothing = held.with_name("no_times.csv")
    pd.DataFrame({"q": [2.0, 2.0], "p": [1.0, 3.0]}).to_csv(nothing, index=False)
    result = invoke("simulate", held, "--inputs", nothing)
    assert result.exit_code == 1
    assert "has no column of times" in result.stderr


def test_inputs_with_times_of_their_own(tmp_path: Path) -> None:
    fine = np.linspace(0.0, 12.0, 481)
    pump = (fine, 1.0 + np.sin(1.3 * fine))
    level = TANK.simulate([0.4], T, inputs={"q": pump})[:, 0]
    pd.DataFrame({"time": T, "h": level}).to_csv(tmp_path / "tank.csv", index=False)
    pd.DataFrame({"time": fine, "q": pump[1]}).to_csv(tmp_path / "pump.csv", index=False)
    result = invoke("fit", tmp_path / "tank.csv", "--input-table", tmp_path / "pump.csv", *QUICK)
    assert "h' = 0.5*q - 0.3*h" in result.output
    steps = pd.DataFrame({"time": [0.0, 6.0, 12.0], "q": [1.0, 0.2, 0.2]})
    steps.to_csv(tmp_path / "steps.csv", index=False)
    held = TANK.simulate([0.4], T, inputs={"q": ([0.0, 6.0, 6.0, 12.0], [1.0, 1.0, 0.2, 0.2])})[:, 0]
    pd.DataFrame({"time": T, "h": held}).to_csv(tmp_path / "held.csv", index=False)
    options = ["--input-table", tmp_path / "steps.csv", "--hold", "q", "--save", tmp_path / "held.json"]
    assert "h' = 0.5*q - 0.3*h" in invoke("fit", tmp_path / "held.csv", *options, *QUICK).output
    driven = ["--inputs", tmp_path / "steps.csv", "--hold", "q", "--points", "61"]
    again = invoke("simulate", tmp_path / "held.json", *driven)
    np.testing.assert_allclose(states(again.stdout, "h"), held, atol=1e-3)
    assert "no such column" in invoke("simulate", tmp_path / "held.json", *driven[:3], "p").stderr
    assert "give its file" in invoke("simulate", tmp_path / "held.json", "--hold", "q").stderr
    wrong = ["--input-table", tmp_path / "pump.csv", "--input", "h"]
    assert "put them into one of the two" in invoke("fit", tmp_path / "tank.csv", *wrong).stderr


def test_doses_in_a_fit_and_in_simulations(tmp_path: Path) -> None:
    drug = ODESystem.from_text("c' = -0.4*c")
    doses = {"c": [(0.0, 5.0), (6.0, 3.0)]}
    amounts = np.where(T == 0.0, 5.0, np.where(np.isclose(T, 6.0), 3.0, 0.0))
    c = drug.simulate([0.0], T, doses=doses)[:, 0]
    table = pd.DataFrame({"time": T, "c": c, "amt": amounts})
    table.to_csv(tmp_path / "doses.csv", index=False)
    model = tmp_path / "model.json"
    result = invoke("fit", tmp_path / "doses.csv", "--input", "amt", *QUICK, "--save", model)
    assert "c' = -0.4*c" in result.output
    fitted = ODEFormer.load(model)
    np.testing.assert_allclose(fitted.simulate()[:, 0], c, atol=1e-3)  # with the doses of the data
    other = drug.simulate([1.0], T, doses={"c": [(2.0, 4.0)]})
    np.testing.assert_allclose(fitted.simulate([1.0], T, doses={"c": [(2.0, 4.0)]}), other, atol=1e-3)
    np.testing.assert_allclose(fitted.simulate([1.0], T, doses={})[-1], np.exp(-4.8), rtol=1e-2)
    printed = invoke("simulate", model, "--x0", "1", "--dose", "c=2:4", "--points", "61").stdout
    np.testing.assert_allclose(states(printed, "c"), other[:, 0], atol=1e-3)
    later = fitted.forecast(4.0, points=5, doses={"c": [(13.0, 10.0)]})
    np.testing.assert_allclose(later.states[-1, 0], c[-1] * np.exp(-1.6) + 10.0 * np.exp(-1.2), rtol=1e-2)


def test_forecasts_under_other_inputs(held: Path) -> None:
    model = ODEFormer.load(held)
    last = model.simulate()[-1, 0]
    later = model.forecast(20.0, points=3, inputs={"q": 3.0})
    steady = 0.5 * 3.0 / 0.3
    assert later.states[0, 0] == pytest.approx(last, rel=1e-6)
    assert later.states[-1, 0] == pytest.approx(steady + (last - steady) * np.exp(-6.0), rel=1e-3)
    assert model.forecast(20.0, points=3).states[-1, 0] < 1.0  # the pump stays as it was


def test_conditions_and_trajectories_of_simulations(tmp_path: Path) -> None:
    growth = ODESystem.from_text("N' = 0.5*c*N*(1 - N/4)", inputs=["c"])
    runs = [growth.simulate([start], T, conditions={"c": c}) for start, c in ((0.3, 0.5), (0.6, 1.5))]
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file, run, c in zip(files, runs, (0.5, 1.5), strict=True):
        pd.DataFrame({"time": T, "N": run[:, 0], "c": c}).to_csv(file, index=False)
    model = tmp_path / "model.json"
    assert invoke("fit", *files, "--condition", "c", *QUICK, "--save", model).exit_code == 0
    second = invoke("simulate", model, "--trajectory", "2", "--points", "61").stdout
    np.testing.assert_allclose(states(second, "N"), runs[1][:, 0], atol=1e-2)
    truth = growth.simulate([0.2], T, conditions={"c": 1.0})[:, 0]
    third = invoke("simulate", model, "--x0", "0.2", "--condition", "c=1", "--points", "61").stdout
    np.testing.assert_allclose(states(third, "N"), truth, atol=1e-2)
    assert "they run from 1 to 2" in invoke("simulate", model, "--trajectory", "3").stderr


def test_texts_become_numbers() -> None:
    assert condition_options(["T=300", "p=1e5"]) == {"T": 300.0, "p": 1e5}
    assert dose_options(["c=0:5", "c=6:3", "d=1:2"]) == {"c": [(0.0, 5.0), (6.0, 3.0)], "d": [(1.0, 2.0)]}
    assert dose_options(["none"]) == {}
    for wrong in ("c=5", "c=a:b", "c"):
        with pytest.raises(SettingsError, match="write --dose"):
            dose_options([wrong])
    with pytest.raises(SettingsError, match="write --condition"):
        condition_options(["T=warm"])
