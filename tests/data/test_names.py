"""Names of columns -> names in equations."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefinder.data.names import chosen_names, did_you_mean, not_one_of, variable_names
from odefinder.errors import SettingsError
from odefinder.expressions.parse import check_names


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["N", "x_1", "β", "lambda", "e", "sin"], ("N", "x_1", "β", "lambda", "e", "sin")),
        (["Hare pelts (thousands)", "x [m]", "% CO2"], ("Hare_pelts", "x", "CO2")),
        (["v (m/s)", "v (km/h)"], ("v_m_s", "v_km_h")),
        (["a b", "a_b", "a-b"], ("a_b_2", "a_b", "a_b_3")),
        (["2nd", "", "(s)", "x²"], ("x2nd", "x1", "s", "x")),
        ([0, 1], ("x0", "x1")),
    ],
)
def test_names(titles: list, expected: tuple[str, ...]) -> None:
    names, notes = variable_names(titles)
    assert names == expected
    assert len(notes) == sum(str(title) != name for title, name in zip(titles, names, strict=True)) * (
        titles != [0, 1]
    )


@given(st.lists(st.text(max_size=6), max_size=5, unique_by=str.strip))
def test_any_titles_give_proper_names(titles: list[str]) -> None:
    names, _ = variable_names(titles)
    assert check_names(names) == names
    assert len(names) == len(titles)


def test_the_nearest_name() -> None:
    assert did_you_mean("Voltge", ["voltage", "current"]) == "; did you mean 'voltage'?"
    assert did_you_mean("u", ["voltage", 3]) == ""


def test_a_name_that_is_none_of_the_variables() -> None:
    assert not_one_of("thetta", ["theta", "u"]) == (
        "which is not one of the variables theta, u; did you mean 'theta'?"
    )
    assert not_one_of("z", ["theta"]) == "which is not one of the variables theta"


def test_variables_are_names() -> None:
    assert chosen_names(None) is None
    assert chosen_names("x") == ["x"]
    assert chosen_names(np.array(["x", "y"])) == ["x", "y"]
    assert chosen_names((0, ("a", "b"))) == [0, ("a", "b")]


@pytest.mark.parametrize("given", [5, np.array(1.0), [np.array([1.0, 2.0])], [["x"]], [("a", [])], b"x"])
def test_arrays_and_lists_are_no_names(given: Any) -> None:
    with pytest.raises(SettingsError, match="variables is a list of names, not"):
        chosen_names(given)
