"""The main path of a fit: the budget and Ctrl-C reach the network, which reads the data once."""

import gc
import pkgutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder.data import Dataset, from_arrays
from odefinder.errors import CheckpointError
from odefinder.inference.choose.search import Search
from odefinder.inference.find import find
from odefinder.inference.proposals import outlines_of, proposals_of, runtime_of
from odefinder.inference.remarks import CUT_SHORT, INTERRUPTED
from odefinder.inference.settings import FindSettings, default_budget
from odefinder.inference.warmup import prepare
from odefinder.network.onnx_runtime import OnnxRuntime, OnnxSequences
from odefinder.system import ODESystem

T = np.linspace(0.0, 6.0, 60)
DECAY: Dataset = from_arrays(np.exp(-T), T)


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    prepare()


COMPILED = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from odefinder.data import from_arrays
from odefinder.inference.propose.decode import Decoding
from odefinder.inference.find import find
from odefinder.inference.settings import FindSettings
from odefinder.inference.warmup import prepare

def versions():
    names = [name for name in sys.modules if name.startswith("odefinder")]
    found = [value for name in names for value in vars(sys.modules[name]).values()]
    return {f.py_func.__name__: len(f.signatures) for f in found if isinstance(f, Dispatcher)}

prepare()
before = versions()
t = np.linspace(0.0, 6.0, 20)
noisy = np.exp(-t) + 0.05 * np.random.default_rng(0).normal(size=20)
columns = np.asfortranarray(np.column_stack([np.ones(20), np.exp(-t), np.exp(-0.5 * t)]))
gaps = np.where(np.arange(60).reshape(20, 3) % 7 == 0, np.nan, columns)
for x in (np.exp(-t), noisy, columns, columns[:, 1:], columns[:, ::-1], gaps):
    find(from_arrays(x, t), FindSettings(time_budget=20.0, decoding=Decoding(samples=5)))
print({name for name, count in versions().items() if count > before.get(name, 0)} or "nothing")
"""


def test_nothing_is_left_to_compile_when_the_clock_runs() -> None:
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "nothing"


def before_each_token(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> list[int]:
    """Do something before the network writes a token, of which the place is given; the tokens so far."""
    places: list[int] = []
    draw = OnnxSequences.draw

    def acting(sequences: OnnxSequences, *arguments: Any) -> Any:
        places.append(len(places))
        act(places[-1])
        return draw(sequences, *arguments)

    monkeypatch.setattr(OnnxSequences, "draw", acting)
    return places


@pytest.mark.perf
def test_a_slow_network_keeps_to_its_share_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    before_each_token(monkeypatch, lambda place: time.sleep(0.05))
    begin = time.perf_counter()
    result = find(DECAY, FindSettings(time_budget=0.5, sparse=False))
    assert time.perf_counter() - begin < 5.0  # all tokens would be 128 * 0.05 s and more
    assert result.explanations[0].source in {"network", "search"}
    assert sum("The time budget of 0.5 s ended the search early" in note for note in result.notes) == 1


def test_there_is_one_system_however_short_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    places = before_each_token(monkeypatch, lambda place: None)
    assert find(DECAY, FindSettings(time_budget=1e-6, sparse=False)).explanations
    assert len(places) < 60  # none, if reading the data took all the time


def test_ctrl_c_while_the_network_writes_goes_on_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(place: int) -> None:
        if place == 3:
            signal.raise_signal(signal.SIGINT)

    places = before_each_token(monkeypatch, interrupt)
    result = find(DECAY, FindSettings())
    assert len(places) == 4
    assert CUT_SHORT in result.notes
    assert str(result.explanations[0].system) == "x0' = -x0"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_around(_: Search) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    before_each_token(monkeypatch, lambda place: place or signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(Search, "search_around", search_around)
    noisy = from_arrays(np.exp(-T) + 0.05 * np.random.default_rng(0).normal(size=len(T)), T)
    with pytest.raises(KeyboardInterrupt):
        find(noisy, FindSettings())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    "where",
    [
        "find.estimated",
        "outcome.as_fitted",
        "outcome.remarks",
        "explanations.claim",
        "explanations.round_constants",
    ],
)
def test_ctrl_c_at_any_moment_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """In estimating, judging and writing remarks as well as in the search."""
    states = np.exp(-T)
    states[20] += 0.8
    original, asked = pkgutil.resolve_name(f"odefinder.inference.{where}"), []

    def interrupted(*given: Any, **more: Any) -> Any:
        if not asked:
            asked.append(signal.raise_signal(signal.SIGINT))
        return original(*given, **more)

    monkeypatch.setattr(f"odefinder.inference.{where}", interrupted)
    result = find(from_arrays(states, T), FindSettings(network=False))
    assert asked
    assert np.isfinite(result.explanations[0].r2)


@pytest.mark.parametrize("stage", ["run", "rescored", "weights", "combine", "_fit", "fit_polynomials"])
def test_ctrl_c_in_the_search_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    original, asked = getattr(Search, stage), []

    def interrupted(*given: Any, **more: Any) -> Any:
        if not asked:
            asked.append(signal.raise_signal(signal.SIGINT))
        return original(*given, **more)

    monkeypatch.setattr(Search, stage, interrupted)
    result = find(DECAY, FindSettings(network=False))
    assert asked
    assert np.isfinite(result.explanations[0].r2)
    if stage not in ("rescored", "weights"):
        assert result.early
        assert INTERRUPTED in result.notes


def test_the_network_reads_the_data_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    encode = OnnxRuntime.encode
    monkeypatch.setattr(OnnxRuntime, "encode", lambda *given: calls.append(1) or encode(*given))
    find(DECAY, FindSettings())
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("states", "with_outlines", "without"),
    [
        (np.exp(-T), ["16"], ["16"]),  # a polynomial leaves nothing
        (np.exp(-T) + 0.05 * np.sin(40.0 * T), ["16", "outlines"], ["50"]),  # like noise
        # No autonomous law in x alone.
        (np.exp(-T) + 0.05 * np.sin(T), ["16", "outlines"], ["16", "34"]),
    ],
)
def test_the_network_writes_on_only_where_nothing_is_exact(
    monkeypatch: pytest.MonkeyPatch, states: np.ndarray, with_outlines: list[str], without: list[str]
) -> None:
    asked = []

    def systems(*given: Any, how: FindSettings, **more: Any) -> Any:
        asked.append(str(how.decoding.samples))
        return proposals_of(*given, how=how, **more)

    def outlines(*given: Any) -> Any:
        asked.append("outlines")
        return outlines_of(*given)

    monkeypatch.setattr("odefinder.inference.find.proposals_of", systems)
    monkeypatch.setattr("odefinder.inference.find.outlines_of", outlines)
    for writes, expected in ((True, with_outlines), (False, without)):
        asked.clear()
        monkeypatch.setattr(runtime_of(None, "onnx", 1), "writes_outlines", writes)
        find(from_arrays(states, T), FindSettings(time_budget=60.0))
        assert asked == expected


def test_damaged_weights_do_not_stay_in_memory(tmp_path: Path) -> None:
    """The error goes at once, and with it what was read, which may be hundreds of megabytes."""
    weights = tmp_path / "w.safetensors"
    weights.write_bytes(b"no weights")
    gc.disable()
    try:
        with pytest.raises(CheckpointError) as raised:
            find(DECAY, FindSettings(weights=weights))
        error = weakref.ref(raised.value)
        del raised
        assert error() is None
    finally:
        gc.enable()


def test_a_note_on_smooth_data_that_are_not_explained() -> None:
    """A force that depends on time, without a trace of noise: no system in x alone follows it."""
    beating = from_arrays(np.sin(2.0 * T) + 0.6 * np.sin(3.3 * T), T)
    assert any(
        "misses clear" in note or "badly" in note for note in find(beating, FindSettings(network=False)).notes
    )
    assert not any("misses clear" in note for note in find(DECAY, FindSettings(network=False)).notes)


def test_the_default_budget_grows_with_the_dimension() -> None:
    assert [default_budget(dimension) for dimension in (1, 3, 4, 6, 20)] == [10.0, 10.0, 20.0, 40.0, 60.0]


def test_a_search_without_time_is_never_sure() -> None:
    enough = find(DECAY, FindSettings(network=False))
    none = find(DECAY, FindSettings(network=False, time_budget=1e-9))
    assert enough.explanations[0].weight > 0.5 >= none.explanations[0].weight
    assert not enough.notes
    assert none.early
    assert not enough.early
    assert "time budget" in none.notes[0]


def test_single_outliers_are_left_out() -> None:
    states = np.exp(-T)
    states[[20, 41]] += [0.8, -0.5]
    outcome = find(from_arrays(states, T), FindSettings(network=False))
    assert str(outcome.explanations[0].system) == "x0' = -x0"
    assert outcome.notes[0].startswith("2 values are far from a smooth curve")


def test_the_square_of_a_velocity_does_not_end_the_search() -> None:
    """On one orbit it makes up for an exponential force exactly, by the conservation of energy."""
    toda = ODESystem.from_text("x' = v; v' = 1.7 - 1.7*exp(0.9*x)")
    t = np.linspace(0.0, 12.0, 150)
    found = find(from_arrays(toda.simulate([0.8, 0.1], t), t, ["x", "v"]), FindSettings(time_budget=60.0))
    assert found.explanations[0].system == toda
