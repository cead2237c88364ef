"""What is typed into the fields of a fit."""

import pytest

from odefinder import ODEFormer
from odefinder.errors import SettingsError
from odefinder.web.options import available, parameters


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


@pytest.mark.parametrize("given", [{"weights": "/etc/passwd"}, ["order"], {"order": "two"}, {"order": "x=y"}])
def test_what_is_refused(given: object) -> None:
    with pytest.raises(SettingsError):
        parameters(given)
