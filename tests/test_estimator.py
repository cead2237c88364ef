"""ODEFormer: what goes in, what comes out, and that nothing else happens."""

import pickle
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from odefinder import Dataset, ODEFormer, ODESystem, sample
from odefinder.data import from_arrays
from odefinder.errors import DataError, ExpressionError, NoSystemError, SettingsError
from odefinder.expressions.operators import allowed_operators
from odefinder.expressions.program import CONST, Program
from odefinder.inference.choose.search import Search
from odefinder.inference.settings import FindSettings
from odefinder.inference.warmup import prepare

TRUTH = ODESystem.from_text("x' = 2*x - x*y; y' = x*y - y")
T = np.linspace(0.0, 8.0, 100)
X = TRUTH.simulate([1.0, 0.5], T)


def quick(**parameters: Any) -> ODEFormer:
    return ODEFormer(**{"network": False, "time_budget": 20.0, **parameters})


@pytest.fixture(scope="module")
def fitted() -> ODEFormer:
    return quick().fit(X, T, variables=["x", "y"])


@pytest.fixture(scope="module")
def with_network() -> ODEFormer:
    return ODEFormer(time_budget=60.0).fit(sample("hare_lynx"))


# ---------------------------------------------------------------- what is found


def test_finds_a_known_system(fitted: ODEFormer) -> None:
    assert fitted.system_.program.operators() == {"add", "mul"}
    there = [[1.0, 1.0], [3.0, 0.5], [0.2, 4.0]]
    np.testing.assert_allclose(
        fitted.system_.derivative(there), TRUTH.derivative(there), rtol=1e-3, atol=1e-3
    )
    assert fitted.score(X, T) > 0.9999
    other = TRUTH.simulate([2.0, 1.5], T)
    frame = pd.DataFrame({"t": T, "x": other[:, 0], "y": other[:, 1]})
    assert fitted.score(frame) > 0.999
    assert fitted.score(frame[["y", "t", "x"]]) == fitted.score(frame)
    with pytest.raises(SettingsError, match="the variables of the data are a, y, those of the system x, y"):
        fitted.score(frame.rename(columns={"x": "a"}))
    np.testing.assert_allclose(fitted.simulate(), X, rtol=1e-2)
    np.testing.assert_allclose(fitted.simulate({"y": 1.5, "x": 2.0}, T), other, rtol=1e-2)


def test_the_table_of_systems(fitted: ODEFormer) -> None:
    table = fitted.equations_
    assert list(table) == ["complexity", "r2", "front", "criterion", "weight", "source", "errors", "system"]
    assert (table["criterion"].diff()[1:] >= 0.0).all()
    assert table["weight"].between(0.0, 1.0).all()
    assert table["weight"].is_monotonic_decreasing
    assert table["r2"].max() <= 1.0
    assert table["system"][0] is fitted.system_
    assert table["complexity"][0] == fitted.system_.complexity
    assert set(table["source"]) <= {"sparse", "search"}


def test_printed_as_a_table_with_the_chosen_row_marked(fitted: ODEFormer) -> None:
    lines = str(fitted).splitlines()
    assert lines[0] == "100 points of x, y; t from 0 to 8"
    assert lines[2].split() == ["row", "complexity", "R2", "weight", "source", "system"]
    assert lines[3].startswith(">>>>")
    assert str(fitted.system_).splitlines()[0] in lines[3]
    assert repr(fitted) == str(fitted) == fitted._repr_mimebundle_()["text/plain"]
    assert repr(quick(samples=7)) == "ODEFormer(network=False, samples=7, time_budget=20.0)"


def test_another_row_can_be_chosen(fitted: ODEFormer) -> None:
    model = pickle.loads(pickle.dumps(fitted)).choose(1)
    assert model.system_ is model.equations_["system"][1]
    assert model.starts_.shape == (1, 2)
    assert [line[:4] for line in str(model).splitlines()[3:6]].count(">>>>") == 1
    with pytest.raises(SettingsError, match="choose one from 0 to"):
        model.choose(1000)


def test_exports(fitted: ODEFormer) -> None:
    assert fitted.latex() == fitted.system_.latex()
    assert len(fitted.sympy()) == 2
    assert fitted.latex().startswith("\\begin{aligned}")


def test_a_figure(fitted: ODEFormer, tmp_path: Path) -> None:
    fitted.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_the_network_proposes_systems_and_the_result_is_reproducible(with_network: ODEFormer) -> None:
    again = ODEFormer(time_budget=60.0, random_state=0).fit(sample("hare_lynx"))
    assert str(again) == str(with_network)
    pd.testing.assert_frame_equal(
        again.equations_.drop(columns="system"), with_network.equations_.drop(columns="system")
    )
    assert with_network.equations_["r2"][0] > 0.9
    assert "network" in set(with_network.equations_["source"])
    assert with_network.system_.variables == ("hare", "lynx")
    assert (with_network.noise_ > 0.0).all()
    assert with_network.starts_.shape == (1, 2)


# ---------------------------------------------------------------- what goes in


def test_data_frames_keep_their_names_and_missing_entries_are_fine() -> None:
    frame = pd.DataFrame({"time": T, "N": X[:, 0], "P": X[:, 1]})
    frame.loc[[3, 40], "N"] = np.nan
    model = quick().fit(frame)
    assert model.system_.variables == ("N", "P")
    assert model.equations_["r2"][0] > 0.999
    assert "2 of 200 values are missing; the others are used." in model.notes_


def test_several_trajectories_with_their_own_times() -> None:
    starts, clocks = [[1.0, 0.5], [2.0, 2.0]], [T[:60], np.linspace(1.0, 5.0, 45)]
    runs = [TRUTH.simulate(x0, t) for x0, t in zip(starts, clocks, strict=True)]
    model = quick().fit(runs, clocks)
    np.testing.assert_allclose(model.starts_, starts, rtol=1e-2)
    assert len(model.dataset_) == 2
    assert model.score(runs, clocks) > 0.999


def test_more_trajectories_than_the_network_knows() -> None:
    t = np.linspace(0.0, 2.0, 8)
    model = ODEFormer().fit([a * np.exp(-t)[:, None] for a in np.linspace(0.5, 3.0, 140)], t)
    assert str(model.system_) == "x0' = -x0"
    assert model.starts_.shape == (140, 1)


def test_very_many_points_are_thinned_out() -> None:
    t = np.linspace(0.0, 5.0, 20_001)
    model = quick().fit(np.exp(-t), t)
    assert "5000 of 20001 points are used, evenly chosen." in model.notes_
    assert len(model.dataset_.times[0]) == 20_001
    np.testing.assert_allclose(model.system_.derivative([2.0]), [-2.0], rtol=1e-3)


def test_a_dataset_is_taken_as_it_is() -> None:
    data = from_arrays(X, T)
    assert isinstance(data, Dataset)
    assert quick().fit(data).dataset_ is data
    with pytest.raises(SettingsError, match="a Dataset has its own times"):
        quick().fit(data, T)


def test_a_constant_variable() -> None:
    model = quick().fit({"t": T, "x": np.exp(-T), "c": np.full(len(T), 3.0)})
    assert str(model.system_) == "x' = -x\nc' = 0"
    assert "c never changes: c' = 0." in model.notes_


def test_only_the_allowed_operators_occur() -> None:
    model = quick(operators=["sin"]).fit(sample("pendulum"))
    for system in model.equations_["system"]:
        assert system.program.operators() <= {"add", "mul", "sin"}
    assert allowed_operators("sin, /") == {"add", "mul", "sin", "inv"}
    assert {"pow", "pow2", "pow5"} <= (allowed_operators(["^"]) or set())
    with pytest.raises(SettingsError, match="the guess has exp, which operators does not allow"):
        quick(operators=["sin"], guess="x' = -exp(x); y' = x").fit(X, T, variables=["x", "y"])
    with pytest.raises(SettingsError, match="there is no operator 'sine'"):
        quick(operators=["sine"]).fit(X, T)


@pytest.mark.parametrize(
    "guess",
    [
        "y' = x*y - 1.1*y; x' = 1.9*x - x*y",
        {"x": "1.9*x - x*y", "y": "x*y - 1.1*y"},
        [TRUTH, "x' = y; y' = -x"],
    ],
)
def test_a_guess_is_a_start(guess: Any) -> None:
    model = quick(guess=guess, sparse=False).fit(X, T, variables=["x", "y"])
    assert model.equations_["source"][0] == "guess"
    np.testing.assert_allclose(model.system_.derivative([1.0, 2.0]), TRUTH.derivative([1.0, 2.0]), atol=1e-3)


def test_a_guess_about_something_else() -> None:
    with pytest.raises(ExpressionError, match="there is no equation for the variable 'x0'"):
        quick(guess="a' = 1; b' = 2").fit(X, T)
    with pytest.raises(ExpressionError, match="the guess is about x, y, the data about x0, x1"):
        quick(guess=TRUTH).fit(X, T)


def test_more_variables_than_the_network_knows() -> None:
    many = np.exp(-np.outer(T, np.arange(1, 8)) / 8.0)
    model = ODEFormer(time_budget=20.0).fit(many, T)
    assert model.equations_["r2"][0] > 0.999
    assert any("the network knows up to 6 and is skipped" in note for note in model.notes_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_budget": 0}, "time_budget is a number of seconds above 0, or None, not 0"),
        ({"time_budget": "long"}, "time_budget is a number of seconds above 0, or None, not 'long'"),
        ({"samples": 0}, "samples is a whole number from 1 to 1000, not 0"),
        ({"temperature": -1.0}, "temperature is a number above 0"),
        ({"runtime": "tpu"}, "runtime is one of onnx, torch, not 'tpu'"),
        ({"threads": 0.5}, "threads is a whole number"),
        ({"random_state": "x"}, "random_state is a whole number, 0 or more, or None, not 'x'"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ODEFormer(**parameters).fit(X, T)


def test_nothing_to_look_for_or_no_time() -> None:
    with pytest.raises(NoSystemError, match="network and sparse are both off and there is no guess"):
        quick(sparse=False).fit(X, T)
    hurried = quick(time_budget=1e-9).fit(X, T)  # one system, however short the time
    assert any("time budget of 1e-09 s ended the search" in note for note in hurried.notes_)
    with pytest.raises(DataError, match="the times are missing"):
        quick().fit(X)
    with pytest.raises(DataError, match=r"sparse matrix, which is not supported; give X\.toarray"):
        quick().fit(csr_array(X), T)


# ---------------------------------------------------------------- how it ends


def test_ctrl_c_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    prepare()
    monkeypatch.setattr(Search, "prune", interrupted)
    model = quick().fit(X, T)
    assert "The search was interrupted: these are the best systems found so far." in model.notes_
    monkeypatch.setattr(Search, "fit_whole", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick().fit(X, T)


def test_progress_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    quick(progress=True).fit(X, T)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "searching" in shown.err or shown.err.strip() == ""  # a transient line


def test_notes_on_doubtful_results() -> None:
    model = quick().fit(np.random.default_rng(0).normal(size=(40, 1)), np.arange(40.0))
    assert any("describes the data badly" in note for note in model.notes_)


def test_a_note_on_systems_that_run_away() -> None:
    """x' = x^2 from 0.08 is finite until 12.5, from twice as much until 6.25."""
    times = np.linspace(0.0, 10.5, 60)
    for states, expected in ((1.0 / (12.5 - times), True), (np.exp(-times), False)):
        model = quick().fit(states, times)
        assert any("runs away" in note for note in model.notes_) == expected


def test_before_a_fit_there_is_nothing() -> None:
    for use in (
        lambda m: m.latex(),
        lambda m: m.simulate([1], [0, 1]),
        lambda m: m.save("x"),
        lambda m: m.choose(0),
    ):
        with pytest.raises(NotFittedError, match=r"no result yet; call fit\(X, t\)"):
            use(ODEFormer())


# ---------------------------------------------------------------- scikit-learn's own checks


class OnRowNumbers(ODEFormer):
    """scikit-learn's checks give class labels as second argument: here the rows are the times.

    It looks at a guess only, that nothing changes, because the checks come with up to 30 random variables.
    """

    def fit(self, X: Any, y: Any = None) -> ODEFormer:
        return super().fit(X, None if np.ndim(X) != 2 else np.arange(len(X)))

    def score(self, X: Any, y: Any = None) -> float:
        return super().score(X, np.arange(len(X)))

    def _settings(self, dataset: Dataset) -> FindSettings:
        still = Program(np.full(dataset.dimension, CONST, np.int8), np.zeros(dataset.dimension))
        return replace(super()._settings(dataset), guesses=(still,))


EXCEPTIONS = {
    "check_estimator_sparse_array": "a time series is not sparse; the message is our own",
    "check_estimator_sparse_matrix": "a time series is not sparse; the message is our own",
    "check_fit2d_1sample": "our message counts points, not samples",
}


@pytest.mark.filterwarnings("ignore")
def test_what_scikit_learn_expects() -> None:
    model = OnRowNumbers(time_budget=0.2, network=False, sparse=False)
    results = check_estimator(model, on_fail=None, expected_failed_checks=EXCEPTIONS)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXCEPTIONS)
    assert sum(result["status"] == "passed" for result in results) > 20


def test_progress_may_be_a_function() -> None:
    t = np.linspace(0.0, 4.0, 40)
    stages: list[str] = []
    ODEFormer(network=False, progress=stages.append).fit(3.0 * np.exp(-t)[:, None], t)
    assert stages[0] == "preparing"
    assert stages[-1] == "searching"


def test_progress_is_told_of_every_system_that_is_the_best_so_far() -> None:
    class Watch:
        def __init__(self) -> None:
            self.systems: list[ODESystem] = []

        def __call__(self, stage: str) -> None:
            pass

        def better(self, system: ODESystem, starts: Any) -> None:
            assert starts.shape == (1, 1)
            self.systems.append(system)

    t, watch = np.linspace(0.0, 4.0, 50), Watch()
    ODEFormer(network=False, progress=watch).fit(3.0 * np.exp(-t)[:, None], t, variables=["x"])
    assert watch.systems
    assert watch.systems[-1].variables == ("x",)


def test_many_variables_take_no_longer_than_few() -> None:
    times = np.linspace(0.0, 20.0, 60)
    waves = np.sin(times[:, None] * (1.0 + 0.05 * np.arange(120)))
    assert len(quick(time_budget=0.1).fit(waves[:, :2], times).equations_)  # it imports and compiles
    begin = time.perf_counter()
    model = quick(time_budget=0.3).fit(waves, times)
    table = model.equations_
    assert time.perf_counter() - begin < 5.0  # 1.5 budgets and a second, on a machine that does other things
    assert model.early_
    assert len(table) >= 1
    assert np.isnan(table["errors"][0]).all()  # they would take longer than the fit
    assert model._prepared.data.states.size == waves.size  # as the fit read them


def test_thinned_data_are_kept_as_they_were_fitted() -> None:
    times = np.linspace(0.0, 20.0, 30_000)
    model = quick(time_budget=0.2).fit(np.sin(times), times)
    assert len(model._prepared.data.times) == 5000
    assert np.isfinite(model.equations_["r2"][0])
    again = quick(time_budget=0.2).fit(np.exp(-times[:50]), times[:50])
    assert "_prepared" not in vars(again)


def test_a_guess_with_named_constants_leads_to_known() -> None:
    t = np.linspace(0.0, 1.0, 20)
    with pytest.raises(ExpressionError, match=r"unknown name 'k'(.|\n)*known takes constants by name"):
        ODEFormer(guess="x' = -k*x").fit(np.exp(-t)[:, None], t, variables=["x"])


def test_constants_of_a_guess_may_vary() -> None:
    t = np.linspace(0.0, 5.0, 40)
    states = [3.0 * np.exp(-rate * t)[:, None] for rate in (0.5, 1.0, 1.7)]
    model = quick(guess="x' = -k*x", vary=["k"], sparse=False).fit(states, [t] * 3, variables=["x"])
    assert model.system_.inputs == ("k1",)
    assert model.constants_["k1"] == pytest.approx((0.5, 1.0, 1.7), rel=1e-3)
    for wrong in ("q", "x"):
        with pytest.raises(
            SettingsError, match=f"vary names '{wrong}', .* constants of the guess.*they are k"
        ):
            quick(guess="x' = -k*x", vary=[wrong]).fit(states, [t] * 3, variables=["x"])
    with pytest.raises(SettingsError, match="there is only one"):
        quick(guess="x' = -k*x", vary=["k"]).fit(states[0], t, variables=["x"])
    quick(guess="x' = -2*x", vary=[], sparse=False).fit(states[0], t, variables=["x"])  # nothing varies
