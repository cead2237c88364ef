"""What is typed into the fields of a fit."""

import pytest

from odefinder import ODEFormer
from odefinder.errors import SettingsError
from odefinder.web.options import OptionError, available, option_in, parameters, typed


def test_only_what_the_estimator_has_is_offered() -> None:
    assert set(available()) <= set(ODEFormer().get_params())
    assert {"time_budget", "order", "operators", "network"} <= set(available())
    assert {"weights", "threads", "progress", "runtime"} & set(available()) == set()  # no paths from the page


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("2", 2), (2, 2), ("theta=2", {"theta": 2}), ("x=1, theta = 2", {"x": 1, "theta": 2})],
)
def test_orders(typed: object, meant: object) -> None:
    assert parameters({"order": typed}) == {"order": meant}


def test_constants_and_their_bounds() -> None:
    given = {"fixed": {"g": 9.81}, "bounds": {"b": (0.0, 2.0), "c": (None, 1.0)}}
    assert typed(given) == {"fixed": "g=9.81", "bounds": "b=0:2, c=:1"}
    assert parameters(typed(given)) == given


def test_what_the_command_line_has_is_there_too() -> None:
    given = {"positive": "all", "vary": "k, r", "terms": "x = x, x*y; y = !y^2"}
    meant = {"positive": True, "vary": ["k", "r"], "terms": {"x": "x, x*y", "y": "!y^2"}}
    assert parameters(given) == meant
    assert parameters({"terms": "x, x*y"}) == {"terms": "x, x*y"}
    assert parameters({"operators": "x = sin, pow2; y = inv"}) == {
        "operators": {"x": "sin, pow2", "y": "inv"}
    }


@pytest.mark.parametrize(
    ("message", "option"),
    [
        ("there is no operator 'cosh'; choose from add", "operators"),
        ("fixed names constants of known; give known", "fixed"),
        ("there is no equation for the variable 'y'", "guess"),
        ("this is about nothing", None),
    ],
)
def test_which_option_a_sentence_is_about(message: str, option: str | None) -> None:
    assert option_in(message) == option


def test_a_mistake_names_its_field() -> None:
    with pytest.raises(OptionError) as caught:
        parameters({"fixed": "g"})
    assert caught.value.option == "fixed"


@pytest.mark.parametrize(
    "given",
    [
        {"weights": "/etc/passwd"},
        ["order"],
        {"order": "two"},
        {"order": "x=y"},
        {"fixed": "g"},
        {"bounds": "b=1"},
    ],
)
def test_what_is_refused(given: object) -> None:
    with pytest.raises(SettingsError):
        parameters(given)
