"""`odefinder bench --set` with a file of laboratory systems."""

from pathlib import Path

from typer.testing import CliRunner

from odefinder.cli.app import app
from tests.bench.laboratory.test_entries import PATH


def test_a_laboratory_set_has_its_own_table(tmp_path: Path) -> None:
    options = ["--methods", "sindy", "--sigma", "0,0.03", "--systems", "foucault", "--out", str(tmp_path)]
    first = CliRunner().invoke(app, ["bench", "--set", str(PATH), *options])
    assert first.exit_code == 0, first.output
    assert "| order 2 | sindy | clean | 2 | 100 ± 0 | 100 ± 0 |" in first.stdout
    assert "| order 2 | sindy | 3% | 2 |" in first.stdout
    again = CliRunner().invoke(app, ["bench", "--set", str(PATH), *options])
    assert again.stdout == first.stdout  # nothing was left to do


def test_dropped_points_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "--set", str(PATH), "--rho", "0.5", "--out", str(tmp_path)])
    assert result.exit_code != 0
    assert "leave out --rho" in result.output
