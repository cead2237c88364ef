"""Roles: what a column of a dataset is.

Observed states are scored.  Velocities and hidden states have equations but no values.  Inputs, conditions
and time have values but no equations: the right-hand sides read them.  In every program the variables come
in this order: observed, velocities, hidden (these are the states), then inputs, conditions, time.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a column is."""

    OBSERVED = "observed"  # a measured state
    VELOCITY = "velocity"  # the derivative of a state of order 2 or 3, not measured; x' = v is fixed
    HIDDEN = "hidden"  # a state nobody measured
    INPUT = "input"  # a known signal u(t)
    CONDITION = "condition"  # known, and constant within a trajectory
    TIME = "time"  # t itself

    @property
    def is_known(self) -> bool:
        """Whether equations may read it, and it has none."""
        return self in (Role.INPUT, Role.CONDITION, Role.TIME)


TIME_NAME = "t"  # an input of this name is the time itself

# What the network is told about a column: SEEN is also the code of columns that do not exist.
SEEN, UNSEEN, KNOWN = 0, 1, 2
