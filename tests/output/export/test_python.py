"""The Python export, executed: it agrees with `derivative` and `simulate`."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder import ODESystem
from odefinder.expressions.program import concatenate, make_program
from odefinder.language.tokens import Vocabulary
from odefinder.prior.examples import EXAMPLE, new_counts
from odefinder.prior.presets import DEFAULT, PAPER, Prior
from odefinder.prior.sampler import fill
from tests.output.export.cases import DRIVEN, DRIVERS, EVERYTHING, HOSTILE, PREY, hostile_system
from tests.programs import programs

pytestmark = pytest.mark.filterwarnings("ignore::odefinder.errors.SimulationWarning")  # held inputs


def executed(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec"), names)
    return names


def assert_same_derivatives(system: ODESystem, points: np.ndarray) -> None:
    """Equal wherever the value does not hang on the last digits of the point."""
    derivative = executed(system.export("python"))["derivative"]
    with np.errstate(all="ignore"):
        expected = system.derivative(points)
        shaken = system.derivative(points * (1 + 1e-13))
        stable = np.abs(shaken - expected) <= 1e-9 * np.abs(expected)
        found = np.array([derivative(0.0, point) for point in points])
    np.testing.assert_allclose(found[stable], expected[stable], rtol=1e-7, atol=1e-290)
    assert not np.isfinite(found[np.isnan(expected)]).any()


@settings(max_examples=150, deadline=None)
@given(st.lists(programs(2), min_size=2, max_size=2), st.integers(0, 1000))
def test_derivatives_of_random_programs(components: list, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(4, 2))
    assert_same_derivatives(ODESystem(concatenate(components), ("x", "y")), points)


@pytest.mark.parametrize("prior", [PAPER, DEFAULT])
def test_derivatives_of_systems_of_the_prior(prior: Prior) -> None:
    examples = np.zeros(80, EXAMPLE)
    layout = Vocabulary.preset("coarse").layout
    fill(examples, new_counts(), seed=3, first=0, prior=prior, layout=layout)
    random = np.random.default_rng(0)
    for example in examples:
        n, dimension, known = (int(example[name]) for name in ("n_nodes", "dimension", "n_known"))
        program = make_program(example["ops"][:n], example["values"][:n])
        inputs = tuple(f"u{j}" for j in range(known))
        system = ODESystem(program, tuple(f"x{j}" for j in range(dimension)), inputs)
        if not known:
            assert_same_derivatives(system, random.normal(size=(3, dimension)))
            continue
        values = dict(zip(inputs, random.normal(size=known), strict=True))
        exported = executed(system.export("python", conditions=values))
        point = random.normal(size=dimension)
        with np.errstate(all="ignore"):
            expected = system.derivative(point, values)
            np.testing.assert_allclose(exported["derivative"](0.0, point), expected, rtol=1e-7, atol=1e-9)


def test_every_operator() -> None:
    assert_same_derivatives(EVERYTHING, np.array([[0.7, 0.4], [-1.3, 0.9], [2.0, -0.6]]))


@pytest.mark.parametrize(
    ("system", "start", "options"),
    [
        (PREY, [30.0, 4.0], {}),
        (DRIVEN, [1.0, 0.0], DRIVERS),
        (PREY, [30.0, 4.0], {"doses": {"lynx": [(0.0, 2.0), (3.25, 5.0)], "hare": [(3.25, -1.0)]}}),
        (DRIVEN, [1.0, 0.0], {**DRIVERS, "doses": {"x": [(2.0, 1.0)]}}),
        (PREY, [30.0, 4.0], {"doses": {"lynx": [(0.0, 2.0)]}}),
    ],
)
def test_trajectories(system: ODESystem, start: list[float], options: dict[str, Any]) -> None:
    times = np.linspace(0.0, 10.0, 201)
    exported = executed(system.export("python", start, times, **options))
    np.testing.assert_array_equal(exported["times"], times)
    found = exported["solve"](exported["times"], exported["start"])
    expected = system.simulate(start, times, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_script_prints_a_table(tmp_path: Path) -> None:
    script = tmp_path / "exported.py"
    script.write_text(PREY.export("python", {"lynx": 4.0, "hare": 30.0}, [0.0, 2.0]), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    header, *rows = done.stdout.splitlines()
    assert header == "t,hare,lynx"
    assert len(rows) == 201
    assert [float(value) for value in rows[0].split(",")] == [0.0, 30.0, 4.0]


def test_explicit_time_may_be_zero_below_a_bar() -> None:
    system = ODESystem.from_text("x' = 1/t", inputs=["t"])
    with np.errstate(divide="ignore"):
        assert executed(system.export("python"))["derivative"](0, [1.0])[0] == np.inf


def test_hostile_names() -> None:
    system = hostile_system()
    start = np.arange(1.0, len(HOSTILE) + 1)
    source = system.export("python", start, [0.0, 1.0])
    assert source.count("stands for") == len([name for name in HOSTILE if f"stands for {name}." in source])
    exported = executed(source)
    expected = system.simulate(start, exported["times"])
    np.testing.assert_allclose(exported["solve"](exported["times"], start), expected, rtol=1e-6)


def test_the_words_of_the_script_may_be_names() -> None:
    """Whatever name occurs in the script, a variable or condition may have it."""
    full = DRIVEN.export("python", [1.0, 0.0], [0.0, 10.0], **DRIVERS, doses={"x": [(2.0, 1.0)]})
    code = re.sub(r'#.*|"[^"]*"', "", full)
    words = sorted(set(re.findall(r"(?<![\w.])[A-Za-z]\w*", code)) - {"t", "x", "v", "u", "e"})
    half = len(words) // 2
    variables, conditions = words[:half], words[half:]
    sides = {name: f"-{number + 1}.5*{name}" for number, name in enumerate(variables)}
    sides[variables[0]] += "".join(f" + 0.1*{name}" for name in conditions) + " + u"
    system = ODESystem.from_text(sides, inputs=[*conditions, "u"])
    options = {
        "inputs": {"u": ([0.0, 1.0], [0.0, 2.0])},
        "conditions": {name: float(number) for number, name in enumerate(conditions)},
        "doses": {variables[1]: [(0.5, 1.0)]},
    }
    start = np.ones(half)
    exported = executed(system.export("python", start, [0.0, 1.0], **options))
    found = exported["solve"](exported["times"], start)
    np.testing.assert_allclose(
        found, system.simulate(start, exported["times"], **options), rtol=1e-5, atol=1e-7
    )


def test_long_lines_are_wrapped_and_numbers_are_exact() -> None:
    terms = " + ".join(f"{0.1 + k / 7}*sin({k / 3 + 0.1}*x)" for k in range(40))
    system = ODESystem.from_text(f"x' = {terms}")
    source = system.export("python")
    assert max(map(len, source.splitlines())) <= 100
    np.testing.assert_array_equal(
        executed(source)["derivative"](0.0, np.array([0.3])), executed(system.python())["f"](0.0, [0.3])
    )


def test_what_was_not_given_is_said() -> None:
    source = DRIVEN.export("python")
    for what in ("start values", "time span", "inputs"):
        assert f"# Nobody gave the {what}" in source
    assert "Nobody" not in DRIVEN.export("python", [1.0, 0.0], [0.0, 10.0], **DRIVERS)
