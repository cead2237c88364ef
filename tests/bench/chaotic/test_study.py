"""The study from end to end with quick methods: judged, written, resumed, summed up."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from odefinder.bench.chaotic import stlsq, study
from odefinder.bench.chaotic.coefficients import coefficient_error
from odefinder.bench.chaotic.data import StudyData, study_data
from odefinder.bench.chaotic.scores import Truth, chaos_scores
from odefinder.bench.chaotic.study import StudyTask, read_results, run, study_flows, summary, write_table
from odefinder.errors import DataError, SettingsError
from odefinder.expressions.program import Program
from odefinder.system import ODESystem

SET = Path(__file__).parents[3] / "benchmarks" / "sets" / "chaotic.json"
(LORENZ,) = study_flows(SET, "lorenz")
DATA = study_data(LORENZ)


def true_systems(data: StudyData, noise: float, seconds: float) -> Sequence[Program]:
    return [data.flow.program]


def broken(data: StudyData, noise: float, seconds: float) -> Sequence[Program]:
    raise RuntimeError("no luck")


@pytest.fixture(autouse=True)
def _quick_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "METHODS", {"truth": true_systems, "broken": broken})


def tasks(method: str, *noises: float) -> list[StudyTask]:
    return [StudyTask(SET, method, "lorenz", noise, 0, 1.0) for noise in noises]


def test_the_truth_is_found(tmp_path: Path) -> None:
    (result,) = run(tasks("truth", 0.0), tmp_path / "out.jsonl")
    assert (result.status, result.error, result.same_structure, result.found) == ("ok", 0.0, True, True)
    assert result.scores is not None
    assert result.scores["exponent"] == pytest.approx(0.9, abs=0.15)
    assert result.scores["dimension"] == pytest.approx(2.06, abs=0.02)
    assert result.scores["distance"] < 2.0 * result.scores["reference"] < 0.2
    assert result.scores["window_r2"] > 0.9999
    assert result.scores["valid_time"] > 0.7 * result.scores["most_valid_time"] > 5.0


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "sub" / "out.jsonl"
    assert len(list(run(tasks("broken", 0.0, 1.0), out))) == 2
    assert list(run(tasks("broken", 0.0, 1.0), out)) == []
    with out.open("ab") as file:
        file.write(b'{"method": "cut o')
    assert [result.status for result in read_results(out)] == ["RuntimeError: no luck"] * 2
    out.write_bytes(b"damaged\n")
    with pytest.raises(DataError, match="line 1"):
        read_results(out)


def test_the_summary_has_the_published_figures(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    list(run([*tasks("truth", 0.0), *tasks("broken", 0.0, 5.0)], out))
    results = read_results(out)
    write_table(results, tmp_path / "tables" / "study.csv")
    table = (tmp_path / "tables" / "study.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 4
    assert table[1].startswith("truth,lorenz,0.0,0,1.0,ok,0,True,")
    assert "RuntimeError: no luck,inf,False" in table[2]
    header, truth, failed, weak, *_ = summary(results)
    assert header.split()[-4:] == ["0", "0.1", "1", "5"]
    assert truth.split() == ["truth", "1", "of", "1", "-", "-", "-"]
    assert failed.split() == ["broken", "0", "of", "1", "-", "-", "0", "of", "1"]
    assert weak.split()[-10:] == ["65", "of", "70", "64", "of", "70", "50", "of", "70", "-"]


def test_flows_by_name() -> None:
    assert len(study_flows(SET)) == 70
    with pytest.raises(SettingsError, match="no polynomial flow 'thomas'"):
        study_flows(SET, "thomas")


def test_the_studys_own_method_finds_lorenz() -> None:
    models = stlsq.fit(DATA.t, DATA.observed(0.0), DATA.test, 0)
    assert len(models) == 10
    assert np.mean([coefficient_error(model, LORENZ.program) for model in models]) < 0.1


def test_scores_of_a_model_that_runs_away() -> None:
    scores = chaos_scores(
        ODESystem.from_text(["x^2 + 1", "y", "z"], ["x", "y", "z"]).program, DATA, Truth.of(LORENZ)
    )
    assert (scores.window_r2, scores.distance, scores.exponent) == (None, 1.0, None)
    assert scores.valid_time < 1.0
