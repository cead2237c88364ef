"""Tasks: the paper's protocol, seeds that depend on nothing else, and sets of one's own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder.bench.sets import TrueSystem, load_set, set_title
from odefinder.bench.tasks import choose_systems, make_tasks, task_seed
from odefinder.data.corruption import corrupt
from odefinder.errors import DataError, SettingsError
from odefinder.expressions.canonical import skeleton

ODEBENCH = load_set("odebench")
TEXTBOOK = load_set(str(Path(__file__).parents[2] / "benchmarks" / "sets" / "textbook.json"))
DECAY = {
    "id": "decay",
    "equations": ["-k * x"],
    "variables": ["x"],
    "parameters": {"k": 0.5},
    "initial_values": [[3.0], [1.0]],
}


def test_every_initial_value_in_every_cell() -> None:
    tasks = list(make_tasks("odebench", ODEBENCH[:3], sigmas=(0.0, 0.05), rhos=(0.0, 0.5)))
    assert len(tasks) == 3 * 2 * 4
    assert [(task.sigma, task.rho) for task in tasks[::6]] == [(0, 0), (0, 0.5), (0.05, 0), (0.05, 0.5)]
    assert [(task.system, task.initial) for task in tasks[:4]] == [("1", 1), ("1", 2), ("2", 1), ("2", 2)]
    assert len({task.seed for task in tasks}) == len(tasks)


def test_only_the_first_initial_values_of_each_system() -> None:
    tasks = make_tasks("odebench", ODEBENCH[:3], initials=1)
    assert [(task.system, task.initial) for task in tasks] == [("1", 1), ("2", 1), ("3", 1)]
    assert len(list(make_tasks("odebench", ODEBENCH[:3], initials=9))) == 3 * 2


def test_data_are_those_of_the_protocol() -> None:
    (first, second) = make_tasks("odebench", ODEBENCH[23:24], sigmas=(0.05,), rhos=(0.5,), seed=3)
    np.testing.assert_array_equal(first.t, np.linspace(0.0, 10.0, 150))
    np.testing.assert_array_equal(first.clean[0], ODEBENCH[23].starts[0])
    np.testing.assert_array_equal(first.other, second.clean)
    np.testing.assert_array_equal(second.other, first.clean)  # the next one, around
    t, x = first.observed()
    expected = corrupt(first.t, first.clean, sigma=0.05, rho=0.5, seed=first.seed)
    np.testing.assert_array_equal(t, expected[0])
    np.testing.assert_array_equal(x, expected[1])
    assert len(t) == 75


def test_a_seed_is_its_own_and_stays() -> None:
    """Written down: whoever changes it changes every published figure."""
    assert task_seed(0, "odebench", "1", 1, 0.0, 0.0) == 171425940
    assert task_seed(0, "odebench", "1", 1, 0, 0) == task_seed(0, "odebench", "1", 1, 0.0, 0.0)
    alone = next(iter(make_tasks("odebench", ODEBENCH[6:7], sigmas=(0.05,), rhos=(0.5,))))
    among = make_tasks("odebench", ODEBENCH[:9], sigmas=(0.0, 0.05), rhos=(0.0, 0.5))
    assert alone.seed in {task.seed for task in among}


@pytest.mark.parametrize(("sigma", "rho", "message"), [(-1, 0, "sigma"), (0, 1, "rho"), (0, -0.5, "rho")])
def test_cells_that_make_no_sense(sigma: float, rho: float, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        list(make_tasks("odebench", ODEBENCH[:1], sigmas=(sigma,), rhos=(rho,)))


def test_choosing_systems() -> None:
    def chosen(text: str | None) -> list[str]:
        return [system.id for system in choose_systems(ODEBENCH, text)]

    assert len(chosen(None)) == 63
    assert chosen("5, 1,62-63") == ["1", "5", "62", "63"]
    assert [s.id for s in choose_systems(load_set("strogatz"), "lv,vdp")] == ["lv", "vdp"]
    assert [s.id for s in choose_systems(TEXTBOOK, "sprott-b-chua-cubic,lorenz-84")] == [
        "sprott-b", "chua-cubic", "lorenz-84",
    ]  # fmt: skip
    for wrong in ("64", "5-1", "x", "1-x", ","):
        with pytest.raises(SettingsError, match=r"there is no system|names no system"):
            choose_systems(ODEBENCH, wrong)


def test_textbook_systems_are_none_of_the_benchmarks() -> None:
    published = {skeleton(system.program) for system in (*ODEBENCH, *load_set("strogatz"))}
    assert len(TEXTBOOK) == 60
    assert not published & {skeleton(system.program) for system in TEXTBOOK}


def test_strogatz_has_100_points_and_four_initial_values() -> None:
    tasks = list(make_tasks("strogatz", load_set("strogatz")))
    assert len(tasks) == 28
    assert {task.clean.shape for task in tasks} == {(100, 2)}


def test_systems_that_cannot_be_integrated_are_left_out() -> None:
    """The paper's prior has some: its coarse integration steps over singularities."""
    systems = load_set("synthetic-paper", cases=9)
    assert all(np.isfinite(path).all() for one in systems for path in one.trajectories)
    assert [int(one.id) for one in systems] != list(range(1, len(systems) + 1))


def test_synthetic_systems_have_one_fit_each() -> None:
    systems = load_set("synthetic", cases=2)
    tasks = list(make_tasks("synthetic", systems))
    assert len(tasks) == len(systems)
    assert {len(task.variables) for task in tasks} == set(range(1, 7))
    assert all(not np.array_equal(task.clean[0], task.other[0]) for task in tasks)
    np.testing.assert_array_equal(tasks[3].clean, load_set("synthetic", cases=2)[3].trajectories[0])


def test_no_set_needs_torch() -> None:
    code = (
        "import sys; from odefinder.bench.sets import load_set; import odefinder.bench.runner; "
        "load_set('synthetic', cases=1); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- a file of one's own


def write(folder: Path, content: Any) -> Path:
    path = folder / "own.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read(folder: Path, content: Any) -> list[TrueSystem]:
    return load_set(str(write(folder, content)))


def test_own_systems(tmp_path: Path) -> None:
    whole = {
        "id": 7, "name": "predators", "equations": "x' = a*x - x*y; y' = x*y - y", "parameters": {"a": 2},
        "initial_values": [[1, 2], [2, 1], [3, 3]], "t_end": 5, "points": 50,
    }  # fmt: skip
    short = {"id": "linear", "equations": ["-x1", "x0"], "initial_values": [[1, 0], [0, 2]]}
    decay, predators, linear = read(tmp_path, [DECAY, whole, short])
    np.testing.assert_allclose(decay.trajectories[0][:, 0], 3.0 * np.exp(-0.5 * decay.t), rtol=1e-8)
    assert (predators.id, predators.name, predators.system.variables) == ("7", "predators", ("x", "y"))
    np.testing.assert_array_equal(predators.t, np.linspace(0.0, 5.0, 50))
    assert len(list(make_tasks("own", [predators]))) == 3
    np.testing.assert_allclose(linear.trajectories[0][:, 1], np.sin(linear.t), atol=1e-7)
    assert set_title(str(tmp_path / "own.json")) == "own"


def test_the_published_file_is_one_of_these(tmp_path: Path) -> None:
    from odefinder.bench import systems

    content = json.loads((Path(systems.__file__).parent / "odebench.json").read_text())
    own = read(tmp_path, content[:8])
    assert [system.program for system in own] == [system.program for system in ODEBENCH[:8]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"equations": ["-k * y"]}, "unknown name 'y'"),
        ({"equations": []}, "'equations' is a list of right-hand sides"),
        ({"equations": ["-x", "x"]}, "there are 2 equations for 1 variables"),
        ({"initial_values": [[1.0, 2.0], [2.0, 1.0]]}, "a number for each variable"),
        ({"initial_values": 3}, "'initial_values' is a list of lists"),
        ({"initial_values": [[1.0]]}, "two different initial values are needed"),
        ({"initial_values": [[1.0], [1.0]]}, "two different initial values are needed"),
        ({"equations": ["x^3"]}, r"cannot be integrated from \[3.0\] up to t = 10"),
        ({"parameters": [1]}, "'parameters' is an object of numbers"),
        ({"parameters": {"k": "a"}}, "'parameters'/k is a finite number"),
        ({"t_end": -1}, "'t_end' is a positive number"),
        ({"points": 3}, "'points' is a whole number from 10"),
        ({"dimension": 2}, "'dimension' is 2, but there are 1 equations"),
        ({"variables": "x"}, "'variables' is a list of names"),
        ({"intial_values": []}, "did you mean 'initial_values'"),
        ({"id": None}, "'id' is text or a number"),
    ],
)
def test_wrong_entries_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good = {**DECAY, "id": "good"}
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, [good, {**DECAY, **change}])
    assert "own.json, entry 2" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("{}", "must hold a list of systems"),
        ("[]", "must hold a list of systems"),
        ("[3]", r"entry 1: a system is an object"),
        ('[{"id": 1}]', r"entry 1 \(id 1\): 'equations' is missing"),
        ([DECAY, DECAY], r"entry 2 \(id 'decay'\): its id occurs twice"),
    ],
)
def test_wrong_files(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, content)


def test_no_such_set() -> None:
    with pytest.raises(DataError, match="there is no set 'odebensch': give odebench, strogatz, synthetic,"):
        load_set("odebensch")
