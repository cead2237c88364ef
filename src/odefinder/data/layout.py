"""Which states a fit has: those that were observed, velocities of those of higher order, hidden ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from odefinder.data.names import not_one_of
from odefinder.data.roles import Role
from odefinder.edge.rules import shown
from odefinder.errors import SettingsError

HIGHEST_ORDER = 3
MOST_HIDDEN, MOST_UNKNOWN = 6, 2  # hidden states, and those of them whose equations are not given
_ENDINGS = ("_dot", "_ddot")  # of the names of first and second derivatives


def derivative_name(name: str, order: int) -> str:
    """What the derivative of a state is called: theta_dot, theta_ddot; of order 0 it is the state itself."""
    if order > len(_ENDINGS):
        raise SettingsError(
            f"{name} has {order} derivatives; equations of order {HIGHEST_ORDER} at most are read"
        )
    return name + ("", *_ENDINGS)[order]


class Layout(NamedTuple):
    """The states of a fit."""

    names: tuple[str, ...]
    roles: tuple[Role, ...]
    derivative_of: tuple[int, ...]  # the number of the state whose derivative each is, or -1


def states_of(
    observed: Sequence[str],
    known: Collection[str],
    order: Any,
    hidden: Any,
    hidden_names: Sequence[str] = (),
) -> Layout:
    """The states, given the names of what was observed and of what is known without equations.

    The velocity of `theta` is called `theta_dot`, its derivative `theta_ddot`.  If one of this name was
    observed, it is this velocity.  Hidden states have the names that they are given, or h1, h2, ...
    """
    names, roles = list(observed), [Role.OBSERVED] * len(observed)
    derivative_of = [-1] * len(observed)
    for position, (name, its_order) in enumerate(zip(observed, _orders(order, observed), strict=True)):
        below = position
        for ending in _ENDINGS[: its_order - 1]:
            velocity = name + ending
            if velocity in known:
                raise SettingsError(
                    f"{velocity} is known, and would be the velocity of {name}, too; rename one of them"
                )
            if velocity not in names:
                names.append(velocity)
                roles.append(Role.VELOCITY)
                derivative_of.append(-1)
            place = names.index(velocity)
            derivative_of[place] = below
            below = place
    if isinstance(hidden, bool) or not isinstance(hidden, Integral) or not 0 <= int(hidden) <= MOST_HIDDEN:
        raise SettingsError(f"hidden is a whole number from 0 to {MOST_HIDDEN}, not {shown(hidden)}")
    called = [name for name in hidden_names if name not in {*names, *known}]
    if len(called) > int(hidden):
        raise SettingsError(
            f"there are equations of {', '.join(called)}, which nobody measured (the data have "
            f"{', '.join(names)}); give hidden={len(called)}, or use the names of the data"
        )
    if int(hidden) - len(called) > MOST_UNKNOWN:
        raise SettingsError(
            f"odefinder looks for the equations of at most {MOST_UNKNOWN} states that nobody measured, not "
            f"of {int(hidden) - len(called)}; give the equations of the others with known"
        )
    free = (f"h{number}" for number in range(1, 10**6) if f"h{number}" not in {*names, *known, *called})
    names += called + [next(free) for _ in range(int(hidden) - len(called))]
    roles += [Role.HIDDEN] * int(hidden)
    derivative_of += [-1] * int(hidden)
    return Layout(tuple(names), tuple(roles), tuple(derivative_of))


def _orders(order: Any, names: Sequence[str]) -> list[int]:
    """The order of every observed variable; velocities that are among them have order 1."""
    if isinstance(order, Mapping):
        for name in order:
            if name not in names:
                raise SettingsError(f"order names {name!r}, {not_one_of(str(name), names)}")
        orders = [order.get(name, 1) for name in names]
    else:
        velocities = {name + ending for name in names for ending in _ENDINGS}
        orders = [1 if name in velocities else order for name in names]
    for one in orders:
        if isinstance(one, bool) or not isinstance(one, Integral) or not 1 <= int(one) <= HIGHEST_ORDER:
            raise SettingsError(f"an order is a whole number from 1 to {HIGHEST_ORDER}, not {shown(one)}")
    return [int(one) for one in orders]
