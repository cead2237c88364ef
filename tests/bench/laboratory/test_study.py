"""The study: results are kept, runs go on where they stopped, and misses of all kinds count."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from odefinder.bench.laboratory import ours, study
from odefinder.bench.laboratory.entries import chosen
from odefinder.bench.laboratory.judging import NotSupported
from odefinder.bench.laboratory.study import LabResult, execute, jobs_of, read_results, run, table
from odefinder.bench.laboratory.tasks import LabTask, make_task
from odefinder.errors import DataError, SettingsError
from tests.bench.laboratory.test_entries import LABORATORY, PATH, named

RESULT = LabResult("sindy", "toda", 0, 0.0, 0, "order 2", "ok", 0.99, 0.4, "x' = x_dot", 0.2)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    jobs = jobs_of(PATH, chosen(LABORATORY, "foucault,endemic"), ["sindy"], [0.0])
    out = tmp_path / "runs" / "lab.jsonl"
    first = list(run(jobs[:3], out))
    assert [result.status for result in first] == ["ok", "ok", "not supported"]
    with out.open("a") as file:
        file.write('{"method": "cut o')
    assert len(list(run(jobs, out))) == 1
    assert {result.key for result in read_results(out)} == {job.key for job in jobs}


def test_a_failure_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(task: LabTask) -> Any:
        raise RuntimeError("no idea")

    monkeypatch.setitem(study.METHODS, "sindy", broken)
    result = execute(jobs_of(PATH, [named("toda")], ["sindy"], [0.0])[0])
    assert result.status == "RuntimeError: no idea"
    assert result.forecast is None


def test_a_model_that_cannot_be_judged_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def unjudged(*_: object) -> Any:
        raise DataError("the model reads k1, but this experiment knows P")

    monkeypatch.setattr(study, "judge", unjudged)
    result = execute(jobs_of(PATH, [named("toda")], ["sindy"], [0.0])[0])
    assert result.status == "DataError: the model reads k1, but this experiment knows P"
    assert result.scores == (None, None)


def test_the_table_has_shares_errors_and_what_is_missing() -> None:
    results = [
        RESULT,
        replace(RESULT, split=1, other=0.95),
        replace(RESULT, system="mems", status="not supported", forecast=None, other=None),
        replace(RESULT, system="mems", split=1, status="DataError: x", forecast=None, other=None),
    ]
    row = table(results)[-1]
    assert row == "| order 2 | sindy | clean | 4 | 50 ± 50 | 25 ± 25 | 0.20 | 1 not supported, 1 failed |"


def test_unknown_methods_and_foreign_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no method 'magic'; they are odefinder, sindy"):
        jobs_of(PATH, LABORATORY, ["magic"], [0.0])
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(DataError, match=r"line 1 of .*not a result of this study"):
        read_results(tmp_path / "other.jsonl")


def test_ours_says_which_parameter_the_estimator_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        def __init__(self, time_budget: float, random_state: int):
            pass

        def fit(self, X: Any) -> Any:
            raise AssertionError("not to be reached")

    monkeypatch.setattr(ours, "ODEFormer", Plain)
    for name, parameter in [("toda", "order"), ("endemic", "hidden"), ("car", "inputs")]:
        with pytest.raises(NotSupported, match=f"no parameter {parameter}"):
            ours.fit(make_task(named(name), 0))


def test_ours_hands_over_the_data_and_the_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    class Complete:
        system_, starts_ = named("driven-beam").system, [[0.0, 0.0]]

        def __init__(self, time_budget: float, random_state: int, order: int = 1):
            given.update(order=order)

        def fit(self, X: Any, inputs: Any = None) -> "Complete":
            given.update(data=X)
            return self

    monkeypatch.setattr(ours, "ODEFormer", Complete)
    task = make_task(named("driven-beam"), 0)
    assert ours.fit(task).system is Complete.system_
    assert given == {"order": 2, "data": task.dataset}


def test_the_committed_report_shows_the_committed_rows() -> None:
    folder = PATH.parents[2] / "docs" / "results" / "laboratory"
    results = read_results(folder / "laboratory.jsonl")
    jobs = jobs_of(PATH, LABORATORY, ["odefinder", "sindy"], [0.0, 0.03])
    assert {result.key for result in results} == {job.key for job in jobs}
    assert "\n".join(table(results)) in (folder / "report.md").read_text()
