"""States of higher order, hidden ones, and their places."""

from typing import Any

import pytest

from odefinder.data.layout import states_of
from odefinder.data.roles import Role
from odefinder.errors import SettingsError

SEEN, V, H = Role.OBSERVED, Role.VELOCITY, Role.HIDDEN


@pytest.mark.parametrize(
    ("observed", "order", "hidden", "names", "roles", "derivative_of"),
    [
        (["x"], 1, 0, ["x"], [SEEN], [-1]),
        (["x"], 2, 0, ["x", "x_dot"], [SEEN, V], [-1, 0]),
        (["x", "y"], 2, 1, ["x", "y", "x_dot", "y_dot", "h1"], [SEEN, SEEN, V, V, H], [-1, -1, 0, 1, -1]),
        (["x", "y"], {"y": 3}, 0, ["x", "y", "y_dot", "y_ddot"], [SEEN, SEEN, V, V], [-1, -1, 1, 2]),
        (["x_dot", "x"], 2, 0, ["x_dot", "x"], [SEEN, SEEN], [1, -1]),
        (["x", "x_dot"], 3, 0, ["x", "x_dot", "x_ddot"], [SEEN, SEEN, V], [-1, 0, 1]),
        (["h1", "x"], 1, 2, ["h1", "x", "h2", "h4"], [SEEN, SEEN, H, H], [-1, -1, -1, -1]),
    ],
)
def test_places(
    observed: list[str],
    order: Any,
    hidden: int,
    names: list[str],
    roles: list[Role],
    derivative_of: list[int],
) -> None:
    layout = states_of(observed, ["h3"], order, hidden)
    assert list(layout.names) == names
    assert list(layout.roles) == roles
    assert list(layout.derivative_of) == derivative_of


class Wordless:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("order", "hidden", "message"),
    [
        (0, 0, "an order is a whole number from 1 to 3, not 0"),
        (4, 0, "not 4"),
        (True, 0, "not True"),
        ({"x": 2.5}, 0, "not 2.5"),
        ({"thetta": 2}, 0, "order names 'thetta', which is not one .*; did you mean 'theta'"),
        (1, -1, "hidden is a whole number from 0 to 6, not -1"),
        (1, 3, "at most 2 states that nobody measured, not of 3; give the equations of the others"),
        (1, 1.5, "not 1.5"),
        (Wordless(), 0, "not something of the type Wordless"),
        (1, Wordless(), "not something of the type Wordless"),
        ({"u": 2}, 0, "u_dot is known, and would be the velocity of u"),
    ],
)
def test_wrong_settings(order: Any, hidden: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        states_of(["theta", "x", "u"], ["u_dot"], order, hidden)
