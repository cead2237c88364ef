"""Long records in a fit: chaotic ones are searched over windows, regular ones are fitted as ever."""

from pathlib import Path

import numpy as np
import pytest

from odefinder import ODEFormer, ODESystem
from odefinder.data.observations import Observations
from odefinder.expressions.form import Form
from odefinder.inference import find as module
from odefinder.inference.choose.search import Search
from odefinder.inference.long_records import OVER_WINDOWS, chaos_notes
from odefinder.inference.remarks import Explanation
from odefinder.inference.warmup import prepare, prepare_windows
from odefinder.numerics.r2 import variance_weighted_r2

LORENZ = ODESystem.from_text("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z")


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    prepare()
    prepare_windows()


def test_lorenz_with_noise_is_in_the_first_row_with_a_note(tmp_path: Path) -> None:
    t = np.linspace(0.0, 4.0, 300)
    states = LORENZ.simulate([-9.8, -15.0, 20.5], t)
    states += 0.03 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    model = ODEFormer(network=False, time_budget=60.0).fit(states, t, variables=["x", "y", "z"])
    lines = [line.split("=")[1] for line in model.system_.to_text(2).splitlines()]
    assert [len(line.replace("- ", "+ ").split("+")) for line in lines] == [2, 3, 2]
    assert any("part by a factor of e every" in note for note in model.notes_)
    assert OVER_WINDOWS in model.notes_
    table = model.equations_
    assert table.r2_windows[0] > 0.99
    again = variance_weighted_r2(states, model.simulate(model.starts_[0], t))
    assert table.r2[0] == pytest.approx(again)
    assert "over windows" in str(model)
    model.save(tmp_path / "lorenz.json")
    assert str(ODEFormer.load(tmp_path / "lorenz.json")) == str(model)
    assert model.score(states, t, measure="lyapunov_exponent") == pytest.approx(0.9, abs=0.15)


def test_chaos_of_a_system_whose_constants_differ_between_trajectories() -> None:
    varied = ODESystem.from_text("x' = s*(y - x); y' = x*(r - z) - y; z' = x*y - 8/3*z", inputs=["r", "s"])
    starts = np.array([[-9.8, -15.0, 20.5], [1.0, 2.0, 20.0]])
    constants = {"r": (28.0, 15.0), "s": (10.0, 9.0)}
    best = Explanation(varied, starts, 0.99, 0.0, 0.5, "sparse", constants)
    t = np.linspace(0.0, 4.0, 300)
    data = Observations(t, LORENZ.simulate(starts[0], t), np.array([0, 300]))
    assert any("part by a factor of e" in note for note in chaos_notes(best, data, 0.75))


def test_a_regular_record_is_fitted_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("windows are for chaotic records")

    monkeypatch.setattr(module, "outcome_of_windows", never)
    t = np.linspace(0.0, 30.0, 200)
    wolf = ODESystem.from_text("x' = 1.1*x - 0.4*x*y; y' = 0.3*x*y - 0.9*y")
    states = wolf.simulate([3.0, 2.0], t)
    model = ODEFormer(network=False, time_budget=20.0).fit(states, t, variables=["x", "y"])
    assert sorted(model.system_.program.constants.tolist()) == pytest.approx([-0.9, -0.4, 0.3, 1.1], rel=1e-3)
    assert not any("factor of e" in note for note in model.notes_)


def test_what_windows_find_joins_the_plain_search(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[str] = []
    monkeypatch.setattr(module, "search_windows", lambda *_: False)
    monkeypatch.setattr(module, "convincing_systems", lambda _: [Form.of(LORENZ.program)])
    fit_whole = Search.fit_whole
    monkeypatch.setattr(
        Search,
        "fit_whole",
        lambda self, forms, source: offered.append(source) or fit_whole(self, forms, source),
    )
    t = np.linspace(0.0, 4.0, 200)
    states = LORENZ.simulate([-9.8, -15.0, 20.5], t)
    ODEFormer(network=False, time_budget=1.0).fit(states, t, variables=["x", "y", "z"])
    assert offered[:2] == ["guess", "sparse"]
