"""The parameters known, fixed, bounds, positive, conserve and vary: what they mean, and contradictions."""

import warnings
from typing import Any

import numpy as np
import pytest

from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.data.units import Scaling
from odefinder.errors import SettingsError
from odefinder.inference.fit.knowledge import Knowledge
from odefinder.inference.fit.known_settings import Known, knowledge_of

T = np.linspace(0.0, 5.0, 30)


def dataset(count: int = 1) -> Dataset:
    """S falls, I rises as much."""
    x = np.stack([np.exp(-T), 1.0 - np.exp(-T)], axis=1)
    return from_arrays([x] * count, [T] * count, ["S", "I"])


def knowledge(**given: Any) -> Knowledge:
    found = knowledge_of(Known(**given), dataset(2))
    assert found is not None
    return found


def test_nothing_given_is_no_knowledge() -> None:
    assert knowledge_of(Known(), dataset()) is None
    assert knowledge_of(Known(fixed={}, positive=[]), dataset()) is None


def test_bounds_and_varying_constants_go_by_name() -> None:
    found = knowledge(known="S' = -b*S*I + c; I' = ?", bounds={"b": (0, None)}, vary=["c"])
    assert found.constants == ("b", "c")
    assert found.bounds == ((0.0, np.inf), (-np.inf, np.inf))
    assert found.varied == (False, True)


def test_the_equation_of_the_least_known_state_follows_from_a_sum() -> None:
    assert knowledge(conserve="S + I").follow == (1,)
    assert knowledge(conserve="S + I", known="I' = b*S*I").follow == (0,)
    assert knowledge(conserve="S + I", known="S' = -b*S; I' = b*S").follow == ()


def test_shares_depend_on_the_units() -> None:
    found = knowledge(conserve="S + I")
    given = found.given(np.empty((0, 2)), Scaling(np.array([10.0, 2.0]), 1.0))
    assert given.sums == {1: (-5.0, 0.0)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"known": "Q' = -b*Q"}, "not one of the variables"),
        ({"known": "S' = -b*S", "fixed": {"g": 9.81}}, "does not occur in known"),
        ({"known": "S' = -b*sin(S)", "fixed": {"i": 1.0}}, "does not occur in known"),
        ({"known": "S' = -b*S", "fixed": [3]}, "a mapping of numbers"),
        ({"known": "S' = -b*S", "bounds": {"c": (0, 1)}}, "not one of the constants"),
        ({"known": "S' = -b*S", "vary": ["c"]}, "not one of the constants"),
        ({"known": "S' = -b*S", "fixed": {"b": 2.0}, "bounds": {"b": (0, 1)}}, "exclude its fixed value"),
        ({"known": "S' = -b*S", "bounds": {"b": (1, 0)}}, "leave nothing"),
        ({"known": "S' = -b*S", "fixed": {"b": 1.0}, "vary": ["b"]}, "b is fixed and is to vary"),
        ({"conserve": "S - 2*I"}, "S - 2\\*I changes by"),
        ({"known": "S' = -b*S", "bounds": {"b": 3}}, "pair"),
        ({"known": "S' = -b*S", "fixed": {"b": "x"}}, "finite number"),
        ({"fixed": {"g": 9.81}}, "give known"),
        ({"vary": np.array(["b", "c"])}, "vary names constants of known; give known"),
        ({"bounds": np.zeros(2)}, "bounds is a mapping such as"),
        ({"positive": ["Q"]}, "not one of the variables"),
        ({"positive": [np.zeros(2)]}, "not one of the variables"),
        ({"conserve": "S + 2*I"}, "data break conserve"),
        ({"conserve": "S*I"}, "not a sum of variables"),
        ({"conserve": [1]}, "conserve is a sum such as"),
        ({"conserve": 5}, "conserve is a sum such as"),
        ({"conserve": "S + Q"}, "conserve names \'Q\'"),
        ({"conserve": ["S + I", "2*S + 2*I"]}, "follow from each other"),
        ({"conserve": "S + I", "known": "S' = -b*S; I' = b*S*I"}, "contradicts known"),
    ],
)  # fmt: skip
def test_contradictions_are_found_before_the_fit(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        knowledge_of(Known(**given), dataset(2))


def test_vary_needs_several_trajectories() -> None:
    with pytest.raises(SettingsError, match="only one"):
        knowledge_of(Known(known="S' = -b*S", vary=["b"]), dataset(1))


def test_known_and_operators_must_agree() -> None:
    with pytest.raises(SettingsError, match="sin, which operators does not allow"):
        knowledge_of(Known(known="S' = -b*sin(S)"), dataset(), frozenset({"add", "mul"}))


def test_positions_of_order_two_have_no_equation_of_their_own() -> None:
    with pytest.raises(SettingsError, match="S'' = "):
        knowledge_of(Known(known="S' = -b*S"), dataset().with_roles(order={"S": 2}))


def test_names_that_nothing_else_lists_are_remembered() -> None:
    known = "S' = -b*S*I + c - d; I' = a*S + ?"
    found = knowledge(known=known, bounds={"b": (0, None)}, vary=["c"], fixed={"a": 1.0})
    assert found.assumed == ("d",)
    assert knowledge(terms={"S": ["S*I/(K + S)", "S*J"], "I": "!q*S"}).assumed == ("K", "J", "q")
    assert knowledge(terms=["!S"]).assumed == ()


def test_a_velocity_is_no_constant() -> None:
    with pytest.raises(SettingsError, match=r"S_dot in known is the derivative of S.*order=2"):
        knowledge(known="S' = -b*S_dot")


def test_a_sum_of_other_names_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"conserve names 's', which is not one.*did you mean 'S'"):
        knowledge(conserve="s + I")


def test_a_state_that_nobody_measured_may_stay_positive() -> None:
    unseen = dataset().with_roles(1, 1, False, ("Q",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        knowledge = knowledge_of(Known(positive=True), unseen)
    assert knowledge is not None
    assert all(knowledge.positive)
