"""Every door with hostile input: a result or one of our errors.  `make fuzz` tries a thousand of each.

Fits themselves are in test_hostile_input.py.
"""

import contextlib
import io
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odefinder import ODEFormer, ODESystem
from odefinder.bench.sets import load_set
from odefinder.data import from_arrays, read
from odefinder.data.names import read_time_title, split_unit, variable_names
from odefinder.data.observations import Observations
from odefinder.data.tables import from_frame
from odefinder.errors import OdefinderError
from odefinder.expressions.lines import read_equations
from odefinder.expressions.printing import latex_name
from odefinder.inference.choose.search import Search
from odefinder.inference.fit.states import estimate_states

EXAMPLES = int(os.environ.get("ODEFINDER_FUZZ", "20"))
fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
SYSTEM = ODESystem.from_text("x' = y; y' = -x")
T = np.arange(8.0)
X = np.exp(-0.3 * T)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4)
    | st.sampled_from([10**400, -(10**400), 1e308, "\ud800", "1", "x" * 999, 1j, ..., len, Path("/dev/zero")])
    | st.sampled_from([np.array([1.0, 2.0]), np.array([])])
)  # fmt: skip
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
formula = st.lists(
    st.sampled_from(
        ["x", "y", "2", "1e999", "0.5", "sin", "(", ")", "+", "-", "*", "/", "^", "|", "=", "'", ";", "\n",
         "#", "e", "²", "9" * 400, "__import__", ".", "dx/dt", "\ud800", "t", " "]
    ),
    max_size=14,
).map("".join)  # fmt: skip
cells = st.sampled_from(["", "1", "-2.5", "nan", "1e999", "a", '"', "2024-01-01", "12:30", "1,5", "\0", "é"])


@contextlib.contextmanager
def ours() -> Any:
    """A result or one of our errors with a message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = "fine"
        try:
            yield
        except OdefinderError as error:
            said = str(error)
        assert said.strip()


@fuzzed
@given(text=formula | st.text(max_size=40))
def test_formulas(text: str) -> None:
    with ours():
        system = ODESystem.from_text(text)
        assert ODESystem.from_json(system.to_json()) == system
        system.latex()
        system.to_text()
        system.python()


@fuzzed
@given(thing=anything, place=st.integers(0, 5))
def test_constructors(thing: Any, place: int) -> None:
    calls: list[Any] = [
        lambda: ODESystem.from_text(thing), lambda: ODESystem.from_text("x' = a*x", constants=thing),
        lambda: ODESystem.from_text(["x"], thing), lambda: ODESystem.from_dict(thing),
        lambda: ODESystem.from_json(thing), lambda: ODESystem.from_sympy(thing),
    ]  # fmt: skip
    with ours():
        calls[place]()


@fuzzed
@given(
    thing=anything,
    name=st.sampled_from(["rtol", "atol", "max_steps", "x0", "t", "digits", "name", "save", "inputs"]),
)
def test_parameters(thing: Any, name: str) -> None:
    with ours(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if name in ("rtol", "atol", "max_steps", "inputs"):
            SYSTEM.simulate([1.0, 0.0], [0.0, 1.0], **{name: thing})
        elif name in ("x0", "t"):
            SYSTEM.simulate(*((thing, [0.0, 1.0]) if name == "x0" else ([1.0, 0.0], thing)))
        elif name == "digits":
            SYSTEM.latex(thing)
            SYSTEM.to_text(thing)
        elif name == "name":
            SYSTEM.python(thing)
        else:
            SYSTEM.save(thing)
            ODESystem.load(thing)


named = st.dictionaries(
    st.sampled_from(["x", "y", "b", "x(0)", "u", "", "\ud800"]), anything | formula, max_size=3
)


@fuzzed
@given(
    thing=anything | formula | st.lists(formula, max_size=3) | named,
    name=st.sampled_from(
        [*ODEFormer().get_params(), "inputs", "conditions", "errors", "variables", "trajectory"]
    ),
)
def test_parameters_of_a_fit(thing: Any, name: str) -> None:
    given = {"network": False, "time_budget": 0.05}
    with ours():
        if name in ODEFormer().get_params():
            model = ODEFormer(**{**given, name: thing})
            model.fit({"x": X, "y": X[::-1]}, T)
        else:
            model = ODEFormer(**given).fit({"x": X, "y": X[::-1]}, T, **{name: thing})
        assert str(model)


@fuzzed
@given(
    values=st.dictionaries(
        st.sampled_from(["t", "time", "x", "id", "", 0, None, "x sd", "date"]),
        st.lists(anything, min_size=5, max_size=5)
        | arrays.arrays(arrays.scalar_dtypes(), 5)
        | st.just(np.arange(5.0)),
        max_size=4,
    ),
    t=st.none() | st.just(np.arange(5.0)) | st.sampled_from(["t", "x", 0]) | st.lists(anything, max_size=5),
    variables=st.none() | st.lists(st.sampled_from(["x", "t", 0, "nope"]), max_size=2) | anything,
)
def test_frames(values: Any, t: Any, variables: Any) -> None:
    try:
        frame = pd.DataFrame({name: pd.Series(list(one)) for name, one in values.items()})
    except Exception:  # pandas itself refuses it
        return
    with ours():
        from_arrays(frame, t, variables)


@fuzzed
@given(
    rows=st.lists(st.lists(cells, min_size=1, max_size=4), max_size=8),
    header=st.lists(st.sampled_from(["t", "a", "b", "", "_" * 400, "a (s)", "#"]), max_size=4),
    delimiter=st.sampled_from([",", ";", "\t", " ", "|"]),
    ending=st.sampled_from([".csv", ".txt", ""]),
)
def test_text_files(rows: Any, header: Any, delimiter: str, ending: str) -> None:
    text = "\n".join(delimiter.join(row) for row in [header, *rows])
    _reads(text.encode(), ending)


@fuzzed
@given(
    content=st.binary(max_size=200), ending=st.sampled_from([".npy", ".npz", ".parquet", ".json", ".csv"]),
    flips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=3),
    mend=st.booleans(),
)  # fmt: skip
def test_binary_files(content: bytes, ending: str, flips: list[tuple[int, int]], mend: bool) -> None:
    if mend and ending in (".npy", ".npz"):
        file = io.BytesIO()
        (np.save if ending == ".npy" else np.savez_compressed)(file, np.linspace(0.0, 1.0, 12).reshape(6, 2))
        damaged = bytearray(file.getvalue())
        for place, value in flips:
            damaged[place % len(damaged)] = value
        content = bytes(damaged)
    _reads(content, ending)


@fuzzed
@given(path=anything, unit=st.none() | anything)
def test_paths(path: Any, unit: Any) -> None:
    with ours(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        read(path, time_unit=unit)


@fuzzed
@given(content=plain)
def test_json_files(content: Any) -> None:
    _reads(json.dumps(content).encode(), ".json")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.json"
        path.write_text(json.dumps([content]))
        with ours():
            load_set(str(path))


def _reads(content: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder, ours():
        path = Path(folder) / f"f{ending}"
        path.write_bytes(content)
        read(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("fuzz") / "m.json"
    t = np.linspace(0.0, 3.0, 12)
    ODEFormer(time_budget=0.2, network=False).fit(np.exp(-t), t).save(path)
    return dict(json.loads(path.read_text()))


@fuzzed
@given(data=st.data())
def test_saved_models(saved: dict[str, Any], data: st.DataObject) -> None:
    content = json.loads(json.dumps(saved))
    at, depth = content, data.draw(st.integers(1, 5))
    for level in range(depth):
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys[:20]))
        if level == depth - 1 or not isinstance(at[key], (dict, list)):
            at[key] = data.draw(plain)
            break
        at = at[key]
    with tempfile.TemporaryDirectory() as folder, ours():
        path = Path(folder) / "m.json"
        path.write_text(json.dumps(content))
        model = ODEFormer.load(path)
        repr(model), model.latex(), model.simulate()
        model.save(path)


@pytest.mark.parametrize("unit", ["_", " ", "a", "1", "(", "a_", "_ ", "()", "/", "a1", "'", "x'=", "d", ";"])
def test_regular_expressions_are_linear(unit: str) -> None:
    """What is not would take hours for these."""
    for text in (unit * (100_000 // len(unit)), "x" + unit * (100_000 // len(unit)) + "!"):
        split_unit(text)
        read_time_title(text)
        variable_names([text])
        latex_name(text)
        with ours():
            read_equations(text)
        with ours():
            ODESystem.from_text([text], ["x"])


# ---------------------------------------------------------------- what campaigns have found


class Evil:
    def __bool__(self) -> bool:
        raise RuntimeError("no truth")


@pytest.mark.parametrize(
    "parameters",
    [
        {"operators": np.array(1.0)},
        {"guess": np.array(1.0)},
        {"progress": np.array([1.0, 2.0])},
        {"progress": np.array([])},
        {"progress": object},
        {"progress": lambda: None},
        {"progress": Evil()},
    ],
)
def test_parameters_that_pose_as_something_else(parameters: dict[str, Any]) -> None:
    with pytest.raises(OdefinderError):
        ODEFormer(network=False, time_budget=0.1, **parameters).fit(X, T)


def test_names_and_lists_that_are_none() -> None:
    model = ODEFormer(network=False, time_budget=0.1)
    with pytest.raises(OdefinderError):
        model.fit(X, T, variables=np.array(1.0))
    with pytest.raises(OdefinderError):
        model.fit_many(np.array(1.0))
    levels = pd.MultiIndex.from_arrays([T, T])
    with pytest.raises(OdefinderError):
        model.fit(pd.DataFrame({"x": X}), levels)
    with pytest.raises(OdefinderError, match="variables is a list"):
        from_frame(pd.DataFrame({"t": T, "x": X}), variables=5)  # type: ignore[arg-type]
    assert from_frame(pd.DataFrame({"t": T, object: X})).dimension == 1


def test_lists_within_lists() -> None:
    """They may be deep, or hold themselves."""
    endless: list[Any] = []
    endless.append(endless)
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for nested in (endless, deep):
        for values, times in ((nested, T), (X[:, None], nested), ([nested], [nested])):
            with pytest.raises(OdefinderError):
                from_arrays(values, times)


def test_garbage_from_the_network_is_worth_nothing() -> None:
    """Weights of noise may say NaN."""
    data = Observations.joined([T], [X[:, None]])
    search = Search(data, estimate_states(data), log_prior=lambda programs: np.full(len(programs), np.nan))
    search.run([])
    found = search.rescored()
    assert np.isfinite([one.criterion for one in found]).all()
