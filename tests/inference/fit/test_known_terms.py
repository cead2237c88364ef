"""The parameter terms: what it means, and contradictions."""

from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer
from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.errors import SettingsError
from odefinder.expressions.parse import parse
from odefinder.expressions.program import Program
from odefinder.expressions.term_rules import TermRule
from odefinder.inference.fit.known_settings import Known, knowledge_of
from odefinder.inference.fit.known_terms import term_rules

T = np.linspace(0.0, 5.0, 30)
X = np.stack([np.exp(-T), 1.0 + T], axis=1)
NAMES = ["x", "y"]


def data() -> Dataset:
    return from_arrays(X, T, NAMES)


def text(expression: str) -> Program:
    return parse(expression, NAMES)


def rule(given: Any) -> TermRule:
    first, second = term_rules({"x": given}, data())
    assert first is not None
    assert second is None
    return first


@pytest.mark.parametrize("given", [["!x*y", "!1"], "!x*y, !1", ["! x*y", "!2"]])
def test_forbidden_terms_are_known_by_their_form(given: Any) -> None:
    own = rule(given)
    for allowed in ("0", "2*x - 3*y", "x*y^2", "sin(x*y)"):
        assert own.allows(text(allowed))
    for forbidden in ("x*y", "2*x - 0.4*x*y", "x*(1.1 - 0.4*y)", "x + 3"):
        assert not own.allows(text(forbidden))


def test_allowed_terms_exclude_all_others() -> None:
    own = rule(["x", "x*y/(K + x)", "sin(w*y)"])
    for allowed in ("0", "-3*x", "x - 2*x*y/(0.7 + x)", "4*sin(3*y)"):
        assert own.allows(text(allowed))
    for other in ("y", "x + 1", "x*y", "x*y/(3 + y)", "sin(3*y + 1)"):
        assert not own.allows(text(other))


def test_a_list_is_about_all_equations_but_those_of_positions() -> None:
    first, second = term_rules("x, y", data())
    assert first == second
    position, velocity = term_rules(["!1"], from_arrays(X[:, :1], T, ["q"]).with_roles(2))
    assert position is None
    assert velocity is not None


def test_a_rule_keeps_the_equations_of_conserved_sums_away() -> None:
    sums = from_arrays(np.stack([np.exp(-T), -np.exp(-T)], axis=1), T, NAMES)
    found = knowledge_of(Known(conserve="x + y", terms={"y": ["x"]}), sums)
    assert found is not None
    assert found.follow == (0,)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"z": ["x"]}, "not one of the variables"),
        ({"x": ["x", "!y"]}, "only one of the two kinds"),
        ({"x": [3]}, "list of terms"),
        ({"x": 3}, "list of terms"),
        ({"x": ["x +"]}, "in terms"),
        ({"x": ["!"]}, "list of terms"),
    ],
)
def test_what_is_no_term_is_said(given: Any, match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        term_rules(given, data())


def test_contradictions_are_said() -> None:
    with pytest.raises(SettingsError, match="known has the whole of it"):
        knowledge_of(Known(known="x' = -k*x", terms={"x": ["x"]}), data())
    with pytest.raises(SettingsError, match="write 'q_dot' or"):
        term_rules({"q": ["q"]}, from_arrays(X[:, :1], T, ["q"]).with_roles(2))
    with pytest.raises(SettingsError, match="the guess for x has a term"):
        ODEFormer(guess="x' = -x; y' = 1", terms={"x": ["!x"]}).fit(X, T, variables=NAMES)
