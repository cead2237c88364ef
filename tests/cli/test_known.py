"""The options about what is known."""

import pytest

from odefinder.cli.known import known_options
from odefinder.errors import SettingsError


def test_options_become_parameters() -> None:
    options = known_options("x' = -k*x + ?", ["g=9.81"], ["k=0:", "b=:2"], "x, y", ["x + y"], "k")
    assert options == {
        "known": "x' = -k*x + ?",
        "fixed": {"g": 9.81},
        "bounds": {"k": (0.0, None), "b": (None, 2.0)},
        "positive": ["x", "y"],
        "conserve": ["x + y"],
        "vary": ["k"],
        "terms": None,
    }
    assert known_options(None, None, None, "all", None, None)["positive"] is True


@pytest.mark.parametrize(
    ("fixed", "bounds"), [(["g"], None), (["g=x"], None), (None, ["b=3"]), (None, ["b=a:"])]
)
def test_what_is_no_number_is_said(fixed: list[str] | None, bounds: list[str] | None) -> None:
    with pytest.raises(SettingsError, match="write"):
        known_options(None, fixed, bounds, None, None, None)


def test_terms_are_about_one_equation_or_about_all() -> None:
    def terms(*given: str) -> object:
        return known_options(None, None, None, None, None, None, given)["terms"]

    assert terms("x=x,x*y", "y=!x^2") == {"x": "x,x*y", "y": "!x^2"}
    assert terms("!1") == "!1"
    with pytest.raises(SettingsError, match="twice"):
        terms("x=x", "x=y")
    with pytest.raises(SettingsError, match="write --terms"):
        terms("x=x", "y")
