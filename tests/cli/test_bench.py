"""`odefinder bench`: what it prints, writes and returns."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from odefinder.bench import runner
from odefinder.bench.methods import METHODS
from odefinder.cli import app as cli
from tests.bench import hostile


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(
        cli.app, ["bench", *map(str, arguments)], env={"COLUMNS": "100", "NO_COLOR": "1"}
    )


def test_a_run_prints_its_table_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(METHODS, "absent", hostile.ABSENT)
    command = ["--set", "odebench", "--methods", "oracle,absent", "--systems", "1,24", "--sigma", "0,0.05"]
    result = invoke(*command)
    assert result.exit_code == 0, result.output
    assert re.search(r"^oracle +0.05 +0 +4 +100.0 +100.0 +100.0 +0$", result.stdout, re.MULTILINE)
    assert "not run: Absent needs no_such_module; there is no way to get it" in result.stdout
    assert "Wrote bench-odebench/results.csv" in result.stderr
    report = (tmp_path / "bench-odebench" / "report.md").read_text()
    assert str(tmp_path) not in report
    again = invoke(*command)
    assert "8 of 8 fits were there already." in again.stdout
    (tmp_path / "bench-odebench" / "report.md").unlink()
    result = invoke("report", "bench-odebench")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "bench-odebench" / "report.md").read_text() == report
    result = invoke("figures", "bench-odebench", "--out", "drawn", "--format", "svg")
    assert result.exit_code == 0, result.output
    assert "Wrote drawn/accuracy.svg, drawn/cost.svg" in result.stdout
    assert (tmp_path / "drawn" / "predictions-oracle-s0.05-r0.svg").exists()


def test_own_systems(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    entry = {"id": "decay", "equations": ["-k*x"], "variables": ["x"], "parameters": {"k": 0.5},
             "initial_values": [[3.0], [1.0]]}  # fmt: skip
    own.write_text(json.dumps([entry]))
    out = tmp_path / "out"
    result = invoke("--set", own, "--methods", "oracle", "--out", out, "--jobs", "2")
    assert result.exit_code == 0, result.output
    frame = pd.read_csv(out / "results.csv")
    assert frame["equations"].tolist() == ["x' = -0.5*x"] * 2
    assert str(tmp_path) not in (out / "report.md").read_text() + (out / "run.json").read_text()
    entry["parameters"] = {"k": 0.6}
    own.write_text(json.dumps([entry]))
    result = invoke("--set", own, "--methods", "oracle", "--out", out)
    assert result.exit_code == 1
    assert "systems_sha256 is" in result.stderr


def test_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "absent", hostile.ABSENT)
    result = invoke("list")
    assert result.exit_code == 0, result.output
    assert re.search(r"^odefinder-opt +odefinder \(opt\) +can run here$", result.stdout, re.MULTILINE)
    assert "odefinder-decode-" not in result.stdout
    assert re.search(
        r"^absent +Absent +Absent needs no_such_module; there is no", result.stdout, re.MULTILINE
    )


def test_export(tmp_path: Path) -> None:
    out = tmp_path / "csv"
    result = invoke("export", out, "--systems", "1,63", "--sigma", "0,0.05", "--rho", "0.5")
    assert result.stdout == f"Wrote 8 trajectories into {out}.\n"
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*.csv"))
    assert names[:4] == [f"sigma-0.05_rho-0.5/{name}.csv" for name in ("01_1", "01_2", "63_1", "63_2")]
    frame = pd.read_csv(out / names[2])
    assert list(frame.columns) == ["t", "x0", "x1", "x2", "x3"]
    assert len(frame) == 75


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "orcale"], "odefinder: there is no method 'orcale'; did you mean 'oracle'?"),
        (["--methods", "zzz"], "odefinder: there is no method 'zzz'; choose from odefinder,"),
        (["--methods", ","], "odefinder: give at least one method"),
        (["--sigma", "low"], "odefinder: --sigma takes numbers with commas"),
        (["--rho", "1"], "odefinder: rho is the share of points to drop"),
        (["--set", "nowhere.json"], "odefinder: there is no set 'nowhere.json'"),
        (["--set", "synthetic", "--cases", "0"], "odefinder: cases is the number of synthetic systems"),
        (["--systems", "99"], "odefinder: there is no system '99' in this set; its systems are 1, 2,"),
        (["--time-limit", "0"], "odefinder: the time limit is a number of seconds above 0"),
        (["report", "nowhere"], "odefinder: nowhere has no run.json"),
        (["figures", "nowhere"], "odefinder: nowhere has no run.json"),
    ],
)
def test_what_goes_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt("Stopped: 1 of 3 fits are done.")

    monkeypatch.setattr(runner, "run", interrupted)
    result = invoke("--methods", "oracle", "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert result.stderr.strip() == "Stopped: 1 of 3 fits are done."


def test_help() -> None:
    assert "list | report | merge | figures | export" in invoke("--help").stdout
    assert "list | report | merge | figures | export" in invoke().output
