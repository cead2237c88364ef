"""`odefinder fit`, `simulate`, `demo` and `doctor`: what they print, write and return."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from odefinder import ODESystem
from odefinder.cli import app as cli
from odefinder.cli import doctor as doctor_file
from odefinder.cli import show
from odefinder.data import sample_path
from odefinder.estimator import ODEFormer
from odefinder.network import files

QUICK = ["--no-network", "--budget", "20"]


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(cli.app, list(map(str, arguments)), env={"COLUMNS": "100", "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of x' = -x, y' = x - 2 y, with a column that is not a variable."""
    t = np.linspace(0.0, 4.0, 60)
    x = ODESystem.from_text("x' = -x; y' = x - 2*y").simulate([3.0, 0.0], t)
    path = tmp_path_factory.mktemp("data") / "decay.csv"
    pd.DataFrame({"Time (h)": t, "x": x[:, 0], "y": x[:, 1], "note": "a"}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def saved(data: Path) -> Path:
    path = data.with_name("model.json")
    result = invoke("fit", data, "--variables", "x,y", *QUICK, "--save", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def noisy(data: Path) -> Path:
    """The same with noise, so that several systems explain it."""
    table = pd.read_csv(data)
    table[["x", "y"]] += 0.02 * np.random.default_rng(1).normal(size=(len(table), 2))
    path = data.with_name("noisy.csv")
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def uncertain(noisy: Path) -> Path:
    path = noisy.with_name("uncertain.json")
    result = invoke("fit", noisy, "--variables", "x,y", *QUICK, "--save", path)
    assert result.exit_code == 0, result.output
    return path


def test_the_standard_input(data: Path) -> None:
    arguments = ["fit", "-", "--variables", "x,y", *QUICK]
    result = CliRunner().invoke(cli.app, arguments, input=data.read_bytes())
    assert result.exit_code == 0, result.output
    assert "y' = x - 2*y" in result.stdout


def test_what_cannot_be_written_is_an_error(data: Path, tmp_path: Path) -> None:
    for options in (["--save", tmp_path], ["--plot", tmp_path]):
        result = invoke("fit", data, "--variables", "x,y", *options)
        assert result.exit_code == 1
        assert str(tmp_path) in result.output
    (tmp_path / "fit.png").mkdir()
    result = invoke("fit", data, "--variables", "x,y", *QUICK, "--plot", tmp_path / "fit.png")
    assert result.exit_code == 1
    assert "cannot write" in result.stderr


def test_plain_text_in_a_pipe(data: Path, tmp_path: Path) -> None:
    figure = tmp_path / "fit.png"
    result = invoke("fit", data, "--variables", "x, y", *QUICK, "--plot", figure)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "60 points of x, y; Time (h) from 0 to 4"
    assert re.fullmatch(r">>>> +0 +\d+ +>0\.9999 +[\d.]+ +\w+ +x' = -x", lines[3])
    assert re.fullmatch(r" +y' = x - 2\*y", lines[4])
    assert f"Wrote {figure}." in result.stderr
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_all_systems(noisy: Path) -> None:
    result = invoke("fit", noisy, "--variables", "x,y", *QUICK)
    assert re.search(r"\nand \d+ more\n", result.stdout)
    result = invoke("fit", noisy, "--variables", "x,y", *QUICK, "--all")
    assert " more" not in result.stdout
    assert result.stdout.count("x' = ") > 6


def test_json(data: Path) -> None:
    result = invoke("fit", data, "--variables", "x,y", "--time", "Time (h)", *QUICK, "--json")
    content = json.loads(result.stdout)
    assert content["variables"] == ["x", "y"]
    assert [equation[:5] for equation in content["equations"]] == ["x' = ", "y' = "]
    assert content["r2"] > 0.9999
    assert content["starts"] == [pytest.approx([3.0, 0.0], abs=1e-3)]
    assert ODESystem.from_dict(content["systems"][0]["system"]).variables == ("x", "y")
    assert set(content) >= {"latex", "complexity", "weight", "noise", "notes", "chosen"}


def test_a_terminal_gets_a_table(uncertain: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    show.print_result(ODEFormer.load(uncertain))
    shown = capsys.readouterr().out
    assert "╭" in shown
    assert ">>>>" in shown
    assert "--all shows them" in shown
    assert Console().is_terminal


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nofile.csv"], 1, "odefinder: there is no file nofile.csv"),
        (["{data}"], 1, "odefinder: {data}: the column 'note' has text"),
        (["{data}", "--time", "T"], 1, "odefinder: there is no column 'T' for time"),
        (["{data}", "--variables", "x,y", "--plot", "a.gif"], 1, "odefinder: figures cannot be written to"),
        (["{data}", "--variables", "x,y", "--save", "no/m.json"], 1, "odefinder: there is no folder no"),
        (["{data}", "--variables", "x", "--operators", "sine"], 1, "odefinder: there is no operator 'sine'"),
        (["{data}", "--variables", "x", "--guess", "x' = "], 1, "odefinder: in the equation of x"),
        (["{data}", "--variables", "x", "--budget", "0"], 1, "odefinder: budget is a number of seconds"),
        (["{data}", "--budget", "long"], 2, "Usage:"),
        ([], 2, "Usage:"),
    ],
)
def test_what_goes_wrong(data: Path, arguments: list[str], code: int, message: str) -> None:
    result = invoke("fit", *(word.replace("{data}", str(data)) for word in arguments))
    assert result.exit_code == code
    assert result.stderr.startswith(message.replace("{data}", str(data)))
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_ctrl_c_before_anything_was_found() -> None:
    code = (
        "import odefinder.inference.find as find, time;"
        "find.prepare = lambda report: (print('ready', flush=True), time.sleep(60));"
        "from odefinder.cli.app import main; main()"
    )
    command = [sys.executable, "-c", code, "fit", str(sample_path("hare_lynx")), "--no-network"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.strip() == "Stopped."


# ---------------------------------------------------------------- simulate


def test_errors_of_the_constants(noisy: Path) -> None:
    options = ("--variables", "x", "--no-network", "--no-sparse", "--guess", "x' = -x", "--no-round")
    result = invoke("fit", noisy, *options, "--errors")
    assert result.exit_code == 0, result.output
    assert "std. error" in result.output
    content = json.loads(invoke("fit", noisy, *options, "--json").stdout)
    (constant,) = content["constants"]
    assert constant["low"] < constant["value"] < constant["high"]
    assert constant["error"] > 0.0
    assert not constant["rounded"]


def test_simulate_with_bands(uncertain: Path) -> None:
    result = invoke("simulate", uncertain, "--points", 5, "--bands")
    assert result.stdout.splitlines()[0] == "Time,x,x_lower,x_upper,y,y_lower,y_upper"


def test_simulate_prints_csv(saved: Path) -> None:
    result = invoke("simulate", saved, "--x0", "y=1,x=0", "--t-start", "0", "--t-end", "1", "--points", "3")
    assert result.exit_code == 0, result.output
    header, *rows = result.stdout.splitlines()
    assert header == "Time,x,y"
    values = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    np.testing.assert_allclose(values[:, 0], [0.0, 0.5, 1.0])
    np.testing.assert_allclose(values[:, 2], np.exp(-2.0 * values[:, 0]), atol=1e-3)


def test_simulate_writes_a_file_that_can_be_fitted(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = invoke("simulate", saved, "--x0", "1,2", "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.strip() == f"Wrote 200 points to {out}."
    assert len(pd.read_csv(out)) == 200
    assert invoke("fit", out, *QUICK).exit_code == 0


def test_simulate_another_row_from_the_fitted_start(uncertain: Path) -> None:
    result = invoke("simulate", uncertain, "--row", "1", "--points", "2")
    assert float(result.stdout.splitlines()[1].split(",")[1]) == pytest.approx(3.0, abs=0.1)
    wrong = invoke("simulate", uncertain, "--row", "999")
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith("odefinder: there is no row 999 in equations_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x0", "1"], "odefinder: --x0 1 is not understood; give a number for every variable: x=1,y=1"),
        (["--x0", "x=1,z=1"], "odefinder: --x0 x=1,z=1 is not understood"),
        (["--x0", "a,b"], "odefinder: --x0 a,b is not understood"),
        (["--t-end", "-1"], "odefinder: the last time, -1, must be after the first, 0"),
        (["--out", "no/where.csv"], "odefinder: cannot write no/where.csv: No such file or directory"),
    ],
)
def test_what_goes_wrong_in_simulate(saved: Path, arguments: list[str], message: str) -> None:
    result = invoke("simulate", saved, *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(message)


# ---------------------------------------------------------------- demo and doctor


def test_demo(tmp_path: Path) -> None:
    result = invoke("demo", "--out", tmp_path / "demo.png")
    assert result.exit_code == 0, result.output
    assert "21 points of hare, lynx; year from 1900 to 1920" in result.stdout
    assert ">>>>" in result.stdout
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert invoke("demo", "--sample", "x").exit_code == 1


def test_demo_by_name(tmp_path: Path) -> None:
    listed = invoke("demo", "list")
    assert all(name in listed.stdout for name in ("hare_lynx", "single_pendulum", "emps"))
    result = invoke("demo", "ball_drop", "--out", tmp_path / "ball.png")
    assert result.exit_code == 0
    assert "ball_drop.csv --error h=0.1 --order 2 --plot" in result.stdout
    assert "h'' =" in result.stdout
    assert "there are hare_lynx" in invoke("demo", "wolves").output


def test_one_error_for_all_values(tmp_path: Path) -> None:
    path = tmp_path / "drop.csv"
    path.write_text("t (s),h (m)\n" + "".join(f"{k / 10},{20 - 0.05 * k * k}\n" for k in range(12)))
    model = tmp_path / "model.json"
    result = invoke("fit", path, "--error", "h=0.1", "--order", "2", "--no-network", "--save", model)
    assert result.exit_code == 0
    np.testing.assert_array_equal(ODEFormer.load(model).dataset_.errors[0][:, 0], 0.1)


def test_doctor() -> None:
    result = invoke("doctor")
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["ok"] * 7
    assert re.search(r"weights .*MiB, sha256 [0-9a-f]{16}\.\.\. as released", result.stdout)
    assert re.search(r"self-test .* found in \d+\.\d s", result.stdout)


def test_doctor_finds_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WEIGHTS", tmp_path)
    result = invoke("doctor", "--no-test")
    assert result.exit_code == 1
    assert re.search(r"WRONG +weights +this copy of odefinder comes without weights", result.stdout)
    assert doctor_file.FAILED == 1


# ---------------------------------------------------------------- dates, units and several files


def test_dates_in_and_dates_out(tmp_path: Path) -> None:
    hours = pd.date_range("2024-01-01", periods=48, freq="h")
    table = pd.DataFrame({"date": hours, "x": 5.0 * np.exp(-np.arange(48) / 24.0)})
    for name, level in (("a", 1.0), ("b", 2.0)):
        table.assign(x=level * table["x"]).to_csv(tmp_path / f"{name}.csv", index=False)
    files_ = [tmp_path / "a.csv", tmp_path / "b.csv"]
    model = tmp_path / "model.json"
    result = invoke("fit", *files_, "--time-unit", "days", *QUICK, "--save", model, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["schema"], found["points"], found["trajectories"]) == (1, 96, 2)
    assert found["time"] == {"name": "date", "unit": "days", "origin": "2024-01-01"}
    assert found["equations"] == ["x' = -x"]
    out = invoke(
        "simulate", model, "--t-start", "2024-01-02", "--t-end", "2024-01-04", "--x0", "1", "--points", "3"
    )
    assert out.stdout.splitlines()[:3] == ["date,x", "2024-01-02,1", "2024-01-03,0.3678794411"]
    wrong = invoke("simulate", model, "--t-end", "soon")
    assert wrong.exit_code == 1
    assert "--t-end" in wrong.stderr
    loaded = ODEFormer.load(model)
    np.testing.assert_allclose(
        loaded.simulate([1.0], ["2024-03-01", "2024-03-02"])[:, 0], [1.0, np.exp(-1.0)], 1e-6
    )
    assert loaded.score(table.iloc[::2]) > 0.999  # in steps of two hours, read on the clock of the fit
