"""Fitted systems that compete, and how the best of them are compared in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.program import Program
from odefinder.inference.choose.alike import distinct
from odefinder.inference.choose.criterion import RUNAWAY_COST, elsewhere, from_inside, log_structure
from odefinder.inference.choose.weights import weights
from odefinder.inference.fit.refine import FLOOR, Fit
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.sizes import MAX_DIMENSION

COMPARED = 20  # candidates that are followed from places inside the data
SAME = 0.1  # share of the noise by which right-hand sides may differ that are the same function


@dataclass(frozen=True)
class Candidate:
    """A system with fitted constants, and where it came from."""

    fit: Fit
    source: str
    criterion: float  # minus its log-posterior in nats: smaller is better
    starts: float = 0.0  # what its fitted initial values cost
    chance: float | None = None  # log-probability of its outline, if the network was asked; see `rescored`
    elsewhere: Floats | None = None  # its trajectories from elsewhere; likewise


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best criterion first."""
    return sorted(candidates, key=lambda found: (found.criterion, found.fit.error))


def tried_elsewhere(found: Candidate, data: Observations) -> Candidate:
    """The same system, penalized if it runs away from initial values near those of the data."""
    paths = elsewhere(found.fit.program, found.fit.starts, data)
    cost = RUNAWAY_COST if np.isnan(paths).any() and not alarm_rings() else 0.0
    return replace(found, criterion=found.criterion + cost, elsewhere=paths)


def merged(
    best: Sequence[Candidate], programs: Sequence[Program], states: Floats, left: float
) -> list[Candidate]:
    """Candidates whose programs are the same function at the states (N, V) are one.

    It is written in the way that has the best structure, however well it fits.  left: the mean squared
    residual that the true one would leave.
    """
    costs = [-log_structure(program, found.chance) for program, found in zip(programs, best, strict=True)]
    groups = distinct(programs, states, alike_within(left), costs)
    return [replace(best[likeliest], criterion=best[first].criterion) for first, likeliest in groups]


def alike_within(left: float) -> float:
    """By how much right-hand sides may differ, relative to their size, that are the same function."""
    return SAME * float(np.sqrt(left))


def weights_of(
    rescored: Sequence[Candidate],
    data: Observations,
    left: float,
    early: bool,
    states: Floats | None = None,
    exact: float = 0.0,
) -> Floats:
    """The weights of rescored systems; left: the mean squared residual that the true one would leave.

    states (N, D): where to begin other trajectories, in which the systems should agree, too.  exact: see
    `weights.exactness`.
    """
    first = rescored[0]
    excess = float(np.log((first.fit.error + FLOOR) / left))
    paths = [found.elsewhere for found in rescored if found.elsewhere is not None]
    criteria = np.array([found.criterion for found in rescored])
    one_path = len(data) == 1 and data.variables == 1
    inside = None
    comparable = data.dimension <= MAX_DIMENSION and Role.HIDDEN not in data.roles
    if states is not None and comparable:
        inside = [from_inside(found.fit.program, states, data) for found in rescored[:COMPARED]]
        inside = None if alarm_rings() else inside  # no time: none arrives
    return weights(criteria, paths, excess, inside, exact=exact, one_path=one_path, early=early)
