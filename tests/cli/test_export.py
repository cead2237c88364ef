"""`odefinder export`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from odefinder import ODEFormer, ODESystem
from odefinder.cli import app as cli
from odefinder.output.export import TARGETS

DECAY = ODESystem.from_text("x' = -x; y' = x - 2*y")


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(cli.app, list(map(str, arguments)), env={"COLUMNS": "100", "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    t = np.linspace(2.0, 6.0, 60)
    x = [DECAY.simulate(start, t) for start in ([3.0, 0.0], [1.0, 2.0])]
    path = tmp_path_factory.mktemp("models") / "model.json"
    ODEFormer(network=False).fit(x, [t, t], variables=["x", "y"]).save(path)
    return path


@pytest.mark.parametrize("target", list(TARGETS))
def test_every_target(target: str, model: Path) -> None:
    result = invoke("export", model, "--to", target)
    assert result.exit_code == 0, result.output
    assert result.stdout == ODEFormer.load(model).export(target)


def test_the_help_names_every_target() -> None:
    shown = invoke("export", "--help").stdout
    assert [target for target in TARGETS if target not in shown] == []


def test_start_values_and_times_of_the_trajectory(model: Path) -> None:
    result = invoke("export", model, "--to", "python", "--trajectory", 2)
    names: dict[str, Any] = {"__name__": "exported"}
    exec(result.stdout, names)
    np.testing.assert_allclose(names["start"], [1.0, 2.0], atol=1e-6)
    assert (names["times"][0], names["times"][-1]) == (2.0, 6.0)
    assert "Nobody" not in result.stdout


def test_another_row(model: Path) -> None:
    fitted = ODEFormer.load(model)
    last = len(fitted.equations_) - 1
    result = invoke("export", model, "--to", "text", "--row", last)
    assert result.stdout == fitted.choose(last).export("text")


def test_a_file_is_written_as_a_whole(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.jl"
    path.write_text("old", encoding="utf-8")
    result = invoke("export", model, "--to", "Julia", "--out", path)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert path.read_text(encoding="utf-8") == ODEFormer.load(model).export("julia")
    assert [one.name for one in tmp_path.iterdir()] == ["model.jl"]


def test_the_file_of_a_system(tmp_path: Path) -> None:
    path = tmp_path / "system.json"
    DECAY.save(path)
    result = invoke("export", path, "--to", "sbml")
    assert result.exit_code == 0, result.output
    assert result.stdout == DECAY.export("sbml")
    assert "leave out --row" in invoke("export", path, "--to", "sbml", "--row", 0).output


def test_mistakes_say_what_to_do(model: Path, tmp_path: Path) -> None:
    for arguments, message in [
        ((model, "--to", "fortran"), "choose one of text, latex, python, sympy, julia"),
        ((tmp_path / "none.json", "--to", "sbml"), "there is no file"),
        ((model, "--to", "sbml", "--out", tmp_path), "is a folder; give the path of a file"),
        ((model, "--to", "sbml", "--out", tmp_path / "no" / "file"), "choose another path"),
        ((model, "--to", "sbml", "--trajectory", 3), "there is no trajectory 3; they run from 1 to 2"),
        ((model, "--to", "sbml", "--row", 1000), "there is no row 1000"),
    ]:
        result = invoke("export", *arguments)
        assert result.exit_code == 1
        assert message in result.output
    assert list(tmp_path.iterdir()) == []
