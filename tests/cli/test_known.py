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
    }
    assert known_options(None, None, None, "all", None, None)["positive"] is True


@pytest.mark.parametrize(
    ("fixed", "bounds"), [(["g"], None), (["g=x"], None), (None, ["b=3"]), (None, ["b=a:"])]
)
def test_what_is_no_number_is_said(fixed: list[str] | None, bounds: list[str] | None) -> None:
    with pytest.raises(SettingsError, match="write"):
        known_options(None, fixed, bounds, None, None, None)
