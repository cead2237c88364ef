"""Exports to languages whose interpreters are not at hand, by form: balanced, and every name is declared."""

import importlib
import json
import re
from typing import Any

import numpy as np
import pytest

from odefinder import ODESystem
from odefinder.errors import DataError, ExpressionError, SettingsError
from odefinder.output.export import TARGETS
from tests.output.export.cases import DRIVEN, DRIVERS, EVERYTHING, HOSTILE, PREY, hostile_system

pytestmark = pytest.mark.filterwarnings("ignore::odefinder.errors.SimulationWarning")  # held inputs

COMMENTS = {"julia": "#", "matlab": "%", "r": "#", "stan": "//", "modelica": "//"}
CODE = pytest.mark.parametrize("target", list(COMMENTS))
DECLARED = {  # how each language gives a value to a name
    "julia": r"^ *(?:const )?(\w+) = |\(; ([\w, ]+)\) =",
    "matlab": r"^ *(\w+) = |^for (\w+) =|^ *\[(.*)\] = ",
    "r": r"^ *(\w+) <- ",
    "stan": r"(?:real|vector|vector\[\d+\]|real<lower=0>|\] real) (\w+)\b|int<?.*>? (\w+)(?: =|;)",
    "modelica": r"Real (\w+)",
}


def code(target: str, text: str) -> str:
    """The text without comments and strings."""
    return re.sub(rf"{COMMENTS[target]}.*|\"[^\"\n]*\"", "", text)


def words(target: str) -> list[str]:
    """The reserved words."""
    module = importlib.import_module(f"odefinder.output.export.{target}")
    return list(dict.fromkeys(module.WORDS.split()))


def names_read(target: str, text: str) -> set[str]:
    """The names in the text that are neither declared there nor words of the language."""
    source = code(target, text)
    declarations = " ".join(match.group() for match in re.finditer(DECLARED[target], source, re.MULTILINE))
    names = re.findall(r"(?<![\w.'])[A-Za-z]\w*", source)
    return set(names) - set(re.findall(r"\w+", declarations)) - set(words(target))


OTHERS = {  # names of packages, options and columns, which cannot be mistaken for variables
    "julia": "DifferentialEquations derivative reltol abstol saveat tstops callback",
    "matlab": "RelTol AbsTol",
    "r": "deSolve data rule ties y var time value method rtol atol length out",
    "stan": "",
    "modelica": "experiment StartTime StopTime Tolerance",
}


def exported(target: str, system: ODESystem, **options: Any) -> str:
    start = np.ones(system.dimension)
    return system.export(target, start, [0.0, 10.0], **options)


@CODE
@pytest.mark.parametrize(
    ("system", "options"), [(PREY, {}), (EVERYTHING, {}), (DRIVEN, DRIVERS), (hostile_system(), {})]
)
def test_code_is_balanced_and_every_name_declared(
    target: str, system: ODESystem, options: dict[str, Any]
) -> None:
    text = exported(target, system, **options)
    source = code(target, text)
    for opening, closing in ("()", "[]", "{}"):
        assert source.count(opening) == source.count(closing)
    assert source.isascii()
    assert max(map(len, text.splitlines())) <= 120
    unknown = names_read(target, text) - set(OTHERS[target].split())
    assert {name for name in unknown if not re.fullmatch(r"e\d*|f", name)} == set()


@CODE
def test_no_reserved_word_is_a_variable(target: str) -> None:
    """Variables with all the reserved words as names: each is renamed, and a comment says so."""
    names = [word for word in words(target) if word.isidentifier()]
    text = exported(target, ODESystem.from_text({name: f"-0.5*{name}" for name in names}))
    assert [name for name in names if f" stands for {name}." not in text] == []


@CODE
def test_constants_read_back_exactly(target: str) -> None:
    numbers = [1 / 3, 1e-17, 6.02214076e23, 0.1 + 0.2, 5e-324]
    system = ODESystem.from_text(
        "x' = " + " + ".join(f"{number!r}*x^{2 + k}.5" for k, number in enumerate(numbers))
    )
    found = {
        float(text) for text in re.findall(r"\d[\d.]*(?:e[+-]?\d+)?", code(target, exported(target, system)))
    }
    assert {*numbers, 2.5, 3.5, 4.5, 5.5, 6.5} <= found


@CODE
def test_long_formulas_and_tables_are_wrapped(target: str) -> None:
    terms = " + ".join(f"{0.1 + k / 7}*sin({k / 3 + 0.1}*x)" for k in range(40))
    system = ODESystem.from_text(f"x' = {terms} + u", inputs=["u"])
    t = np.linspace(0.0, 10.0, 200)
    text = system.export(target, [1.0], t, {"u": np.sin(t)})
    assert max(map(len, text.splitlines())) <= 120
    wrapped = [line for line in text.splitlines() if line.rstrip(". ").endswith(("+", "-"))]
    assert wrapped
    assert all(line.endswith(" ...") for line in wrapped) == (target == "matlab")


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ("stan", "latex", "sympy")])
def test_doses(target: str) -> None:
    text = exported(target, PREY, doses={"lynx": [(0.0, 2.0), (6.125, 50.5)]})
    assert "6.125" in text
    assert "50.5" in text


def test_stan_has_no_doses_and_says_so() -> None:
    with pytest.raises(SettingsError, match=r"Stan's solvers do not support doses.*sbml, julia"):
        exported("stan", PREY, doses={"lynx": [(1.0, 2.0)]})


def test_stan_proposes_what_was_found_as_initial_values() -> None:
    text = PREY.export("stan", [30.0, 4.0], [0.0, 20.0])
    comment = "".join(line.removeprefix("//") for line in text.split("functions {")[0].splitlines()[2:])
    initial = json.loads(comment)
    assert [initial[f"k{k}"] for k in (1, 2, 3, 4)] == [0.4428, 0.0234, 0.03, 1.008]
    assert initial["start"] == [30.0, 4.0]
    assert text.isascii()
    assert hostile_system().export("stan").isascii()


def test_modelica_sets_a_variable_in_one_clause_only() -> None:
    text = exported("modelica", PREY, doses={"lynx": [(1.0, 2.0), (3.0, 2.0)]})
    assert text.count("\n  when ") == 1
    assert text.count("\n  elsewhen ") == 1


def test_modelica_has_no_infinity_and_says_so() -> None:
    with pytest.raises(SettingsError, match="no number for infinity"):
        ODESystem.from_text("x' = x/0").export("modelica")


def test_matlab_stays_real() -> None:
    text = ODESystem.from_text("x' = sqrt(x) + log(x) + x^1.5 + x^2").export("matlab")
    assert "realsqrt(x) + reallog(x) + realpow(x, k1) + x^2" in text


def test_text_is_read_back() -> None:
    for system in (PREY, EVERYTHING, DRIVEN, hostile_system()):
        again = ODESystem.from_text(system.export("text"), inputs=system.inputs)
        assert again.to_text() == system.to_text()


def test_latex_is_what_the_system_says() -> None:
    for system in (PREY, EVERYTHING, DRIVEN, hostile_system()):
        assert system.export("latex") == system.latex() + "\n"


def test_unknown_targets_and_wrong_options() -> None:
    with pytest.raises(SettingsError, match=r"did you mean 'julia'\?; choose one of text, latex"):
        PREY.export("juila")
    with pytest.raises(DataError, match="start has shape"):
        PREY.export("python", [1.0])
    with pytest.raises(SettingsError, match="last time, 3, must be after the first, 3"):
        PREY.export("python", times=[3.0])
    with pytest.raises(DataError, match="inputs that were not given: w"):
        DRIVEN.export("python", conditions={"mass": 1.0}, inputs={"u": 1.0})


@pytest.mark.parametrize("name", ["x'; import os", 'x"', "x\ny", "x#", "<x>", "x y", "x*/", "x\u2028y", ""])
def test_names_that_could_be_code_never_arrive(name: str) -> None:
    saved = PREY.to_dict() | {"variables": [name, "lynx"]}
    with pytest.raises(ExpressionError, match="cannot name a variable"):
        ODESystem.from_dict(saved)


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ("text", "latex")])
def test_hostile_names_only_show_in_comments(target: str) -> None:
    text = hostile_system().export(target)
    unseen = re.sub(r"(#|//|%).*|<p>.*?</p>| name=\"\w+\"", "", text)
    assert unseen.isascii()
    assert all(name not in unseen for name in HOSTILE if not name.isascii())
