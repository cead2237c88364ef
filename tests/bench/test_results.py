"""Folders of results: several runs become one."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from odefinder.bench.protocol import Result, Status
from odefinder.bench.report import write_report
from odefinder.bench.results import merge_runs, read_results, read_run
from odefinder.errors import SettingsError


def result(method: str, system: str, generalization: float) -> Result:
    return Result(
        method=method, set="odebench", system=system, name="", dimension=1, initial=1, sigma=0.0, rho=0.0,
        seed=1, status=Status.OK, message="", reconstruction=1.0, generalization=generalization,
        same_structure=False, complexity=3, equations="x' = x", wall_s=1.0, cpu_s=1.0, memory_mb=1.0,
    )  # fmt: skip


def folder(path: Path, version: str, *results: Result, **settings: object) -> Path:
    path.mkdir()
    content = {
        "format": 1, "odefinder": version, "set": "odebench", "systems_sha256": "0", "seed": 0,
        "time_limit": 10.0, "memory_limit": 4.0, "methods": {one.method: {} for one in results},
        "commands": [f"odefinder bench {version}"], "versions": {"odefinder": version}, "processors": 2,
    }  # fmt: skip
    (path / "run.json").write_text(json.dumps(content | settings))
    (path / "results.jsonl").write_text("".join(json.dumps(asdict(one)) + "\n" for one in results))
    return path


def test_later_runs_count_where_both_have_a_fit(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", "0.1", result("ours", "1", 0.1), result("theirs", "1", 0.2))
    new = folder(tmp_path / "new", "0.2", result("ours", "1", 0.9), result("ours", "2", 0.8))
    both = tmp_path / "both"
    assert merge_runs([old, new], both) == 3
    found = {(one.method, one.system): one.generalization for one in read_results(both)}
    assert found == {("ours", "1"): 0.9, ("ours", "2"): 0.8, ("theirs", "1"): 0.2}
    run = read_run(both)
    assert run["odefinder"] == "0.2"
    assert set(run["methods"]) == {"ours", "theirs"}
    assert [part["versions"]["odefinder"] for part in run["parts"]] == ["0.1", "0.2"]
    write_report(both)
    report = (both / "report.md").read_text()
    assert "- 2 fits of ours, theirs: 2 processors; odefinder 0.1." in report
    assert "odefinder bench 0.1\nodefinder bench 0.2" in report


def test_what_was_merged_before_keeps_its_parts(tmp_path: Path) -> None:
    runs = [folder(tmp_path / name, name, result("ours", name, 0.5)) for name in "123"]
    merge_runs(runs[:2], tmp_path / "two")
    merge_runs([tmp_path / "two", runs[2]], tmp_path / "three")
    assert [part["versions"]["odefinder"] for part in read_run(tmp_path / "three")["parts"]] == list("123")
    assert len(read_results(tmp_path / "three")) == 3


def test_runs_with_other_settings_are_refused(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", "0.1", result("ours", "1", 0.5))
    other = folder(tmp_path / "other", "0.1", result("ours", "1", 0.5), seed=7)
    with pytest.raises(SettingsError, match=r"other cannot be merged with .*one: seed is 7 there and 0 here"):
        merge_runs([one, other], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(SettingsError, match="give a new or empty folder"):
        merge_runs([one], other)
