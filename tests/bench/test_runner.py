"""Runs: every fit once, whatever happens; the same seed gives the same table."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from odefinder.bench import runner
from odefinder.bench.lines import ResultFile
from odefinder.bench.methods import METHODS
from odefinder.bench.protocol import MEASURED
from odefinder.bench.report import write_report
from odefinder.bench.results import read_results
from odefinder.bench.runner import Plan, run
from odefinder.errors import DataError, SettingsError
from tests.bench import hostile

HERE = Path(__file__).parents[2]


def plan(*names: str, **settings: Any) -> Plan:
    methods = tuple(METHODS.get(name) or hostile.ALL.get(name) or hostile.ABSENT for name in names)
    return Plan(**{"methods": methods, "systems": "1,24", "time_limit": 10.0, **settings})


def table(folder: Path) -> str:
    """Everything but the times."""
    write_report(folder)
    report = (folder / "report.md").read_text().split("## Times")[0]
    return pd.read_csv(folder / "results.csv").drop(columns=list(MEASURED)).to_csv() + report


def lines(folder: Path) -> list[bytes]:
    return (folder / "results.jsonl").read_bytes().splitlines()


def test_the_oracle_is_right_in_every_cell(tmp_path: Path) -> None:
    """Among them the chaotic and stiff systems, which loose tolerances get wrong."""
    cells = {"sigmas": (0.0, 0.05), "rhos": (0.0, 0.5)}
    results = run(plan("oracle", systems="1,35,55,56,61,63", **cells), tmp_path, jobs=2).results
    assert len(results) == 6 * 2 * 4
    assert all(result.status == "ok" and result.same_structure for result in results)
    assert all(result.reconstruction > 0.999 and result.generalization > 0.999 for result in results)
    write_report(tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert "| oracle | 0.05 | 0.5 | 12 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | " in report
    assert "--set odebench --methods oracle --sigma 0,0.05 --rho 0,0.5 --systems 1,35,55,56,61,63" in report
    assert "## Failures" not in report
    parquet = pd.read_parquet(tmp_path / "results.parquet")
    csv = pd.read_csv(tmp_path / "results.csv", dtype={"system": str}, keep_default_na=False)
    assert csv["equations"].tolist() == parquet["equations"].tolist()
    assert csv["system"].tolist()[:12:2] == ["1", "35", "55", "56", "61", "63"]


def test_a_run_survives_its_methods(tmp_path: Path) -> None:
    names = ["hang", "segfault", "leave", "fail", "eat", "nothing", "blow_up", "absent", "fine", "oracle"]
    summary = run(plan(*names, systems="1", time_limit=3.0, memory_limit=0.25), tmp_path, jobs=2)
    kinds = {(result.method, result.status) for result in summary.results}
    assert kinds == {
        ("hang", "timeout"), ("segfault", "crash"), ("leave", "crash"), ("fail", "crash"), ("eat", "memory"),
        ("nothing", "invalid"), ("blow_up", "diverged"), ("absent", "not run"), ("fine", "ok"),
        ("oracle", "ok"),
    }  # fmt: skip
    assert len(summary.results) == 2 * len(names)
    write_report(tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert "| hang | 0 | 0 | 2 | 0.0 | 0.0 | 0.0 | 0.0 | 0.0 | - | 2 timeout |" in report
    assert (
        "| fail | crash | 2 | 1 from 1: ZeroDivisionError: of the method, <object object at 0x...>" in report
    )
    assert "| absent | not run: Absent needs no_such_module; there is no way to get it |" in report


def test_what_could_not_run_is_run_when_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {r.status for r in run(plan("absent"), tmp_path).results} == {"not run"}
    count = len(lines(tmp_path))
    run(plan("absent"), tmp_path)
    assert len(lines(tmp_path)) == count
    monkeypatch.setattr(hostile, "ABSENT", hostile.Method("absent", "Absent", hostile.fine))
    assert {r.status for r in run(plan("absent"), tmp_path).results} == {"ok"}


def test_killed_and_started_again(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    asked = plan("slow", "fail", sigmas=(0.05,), rhos=(0.0, 0.5), systems="1-3")
    run(asked, whole, jobs=2)
    code = (
        "import sys; from pathlib import Path; from tests.bench.test_runner import plan, run\n"
        "run(plan('slow', 'fail', sigmas=(0.05,), rhos=(0.0, 0.5), systems='1-3'), Path(sys.argv[1]), jobs=2)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, killed], cwd=HERE)
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline and not (
        (killed / "results.jsonl").exists() and len(lines(killed)) > 5
    ):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    done = len(lines(killed))
    assert 5 < done < 24
    with (killed / "results.jsonl").open("ab") as file:
        file.write(b'{"method": "slow", "sys')  # a line that a kill cut off
    summary = run(asked, killed, jobs=2)
    assert (summary.asked, summary.done_before) == (24, done)
    assert table(killed) == table(whole)
    keys = Counter(
        (entry["method"], entry["system"], entry["initial"], entry["rho"])
        for entry in map(json.loads, lines(killed))
    )
    assert len(keys) == 24
    assert set(keys.values()) == {1}  # no fit was repeated
    before = (killed / "results.jsonl").read_bytes()
    run(asked, killed)
    assert (killed / "results.jsonl").read_bytes() == before


def test_nothing_is_left_running_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc").exists():
        pytest.skip("needs /proc")
    pids = tmp_path / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    code = (
        "import sys; from tests.bench.test_runner import plan, run\n"
        "run(plan('hang_with_children', time_limit=60.0), sys.argv[1])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path / "out"], cwd=HERE)
    wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    process.kill()
    process.wait()
    wait_for(lambda: not any(running(int(pid)) for pid in pids.read_text().split()), 10.0)


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_ctrl_c_keeps_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execute, calls = runner.execute, iter(range(100))

    def interrupting(*arguments: Any) -> Any:
        result = execute(*arguments)
        if next(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return result

    monkeypatch.setattr(runner, "execute", interrupting)
    with pytest.raises(
        KeyboardInterrupt, match=r"Stopped: 2 of 4 fits are done and kept in .*The same command"
    ):
        run(plan("oracle"), tmp_path)
    monkeypatch.undo()
    assert run(plan("oracle"), tmp_path).done_before == 2
    assert len(lines(tmp_path)) == 4


def test_an_error_of_ours_is_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(runner, "execute", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        run(plan("oracle"), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed is 0 there, 1 here"),
        ({"set": "strogatz", "systems": "lv"}, "set is odebench there, strogatz here"),
        ({"time_limit": 5.0}, "time_limit is 10.0 there, 5.0 here"),
    ],
)
def test_settings_are_not_mixed(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    run(plan("oracle", systems="1"), tmp_path)
    with pytest.raises(SettingsError, match=message):
        run(plan("oracle", **{"systems": "1", **change}), tmp_path)


def test_a_folder_grows_by_methods_cells_and_systems(tmp_path: Path) -> None:
    run(plan("oracle", systems="1"), tmp_path)
    run(plan("fine", systems="1-2", sigmas=(0.01,)), tmp_path)
    results = read_results(tmp_path)
    assert [(r.method, r.sigma, r.system, r.initial) for r in results] == [
        ("fine", 0.01, "1", 1), ("fine", 0.01, "1", 2), ("fine", 0.01, "2", 1), ("fine", 0.01, "2", 2),
        ("oracle", 0.0, "1", 1), ("oracle", 0.0, "1", 2),
    ]  # fmt: skip
    assert len(json.loads((tmp_path / "run.json").read_text())["commands"]) == 2
    other = hostile.Method("fine", "Fine", hostile.fine, settings={"beam": 3})
    with pytest.raises(
        SettingsError, match=r"results of fine with other settings: \{\} there, \{'beam': 3\} here"
    ):
        run(Plan(methods=(other,), systems="1", time_limit=10.0), tmp_path)


def test_folders_that_are_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SettingsError, match="holds other files"):
        run(plan("oracle"), tmp_path)
    with pytest.raises(SettingsError, match="is a file"):
        run(plan("oracle"), tmp_path / "notes.txt")
    with pytest.raises(DataError, match=r"has no run.json"):
        write_report(tmp_path)


def test_a_damaged_line(tmp_path: Path) -> None:
    run(plan("oracle", systems="1"), tmp_path)
    content = lines(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(b"\n".join([content[0][:-9], content[1], b""]))
    with pytest.raises(DataError, match=r"line 1 of .* is damaged; remove the line"):
        run(plan("oracle", systems="1"), tmp_path)


def test_two_runs_at_once(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    run(plan("oracle", systems="1"), tmp_path)
    with (
        ResultFile(tmp_path / "results.jsonl"),
        pytest.raises(SettingsError, match="another run is writing to"),
    ):
        run(plan("oracle", systems="1"), tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"methods": ()}, "at least one method"),
        ({"sigmas": ()}, "at least one sigma"),
        ({"time_limit": 0.0}, "time limit"),
        ({"memory_limit": 0.1}, "memory limit"),
        ({"seed": -1}, "seed"),
    ],
)
def test_plans_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        plan("oracle", **settings)


@pytest.mark.parametrize("options", [{"jobs": 0}, {"backend": "ray"}, {"address": "tcp://127.0.0.1:1"}])
def test_options_that_make_no_sense(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        run(plan("oracle"), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_dask_with_an_address(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    asked = plan("oracle", "segfault", "slow", systems="1")
    run(asked, tmp_path / "here")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        run(asked, tmp_path / "there", backend="dask", address=cluster.scheduler_address)
    assert table(tmp_path / "here") == table(tmp_path / "there")


def test_dask_makes_a_local_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    results = run(plan("oracle", systems="1"), tmp_path, backend="dask", jobs=1).results
    assert [result.status for result in results] == ["ok", "ok"]
