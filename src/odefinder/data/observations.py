"""The observed trajectories of one system, as every stage of a fit reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odefinder.data.given import Complete, Given
from odefinder.data.roles import Role
from odefinder.expressions.program import CONST, MUL, VAR, Program
from odefinder.expressions.terms import node
from odefinder.numerics.signals import Driving, Signals, driving_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Observations:
    """Trajectories of one system, one after the other; missing entries are NaN.

    D states have equations; velocities and hidden ones are columns of NaN.  K known variables (inputs,
    conditions, time) have none: `known` holds their values at the observed times, `signals` all of them.
    """

    times: Floats  # (N,), strictly increasing within each trajectory
    states: Floats  # (N, D)
    bounds: Ints  # (trajectories + 1,): where each begins, and the end
    roles: tuple[Role, ...] = ()  # of the D + K variables; empty: all are observed states
    known: Floats | None = None  # (N, K)
    signals: tuple[Signals, ...] = ()  # of each trajectory; empty: nothing drives it
    errors: Floats | None = None  # (N, D): standard errors, NaN where they are not known
    least_error: float = 0.0  # mean squared scaled residual below which given errors ask for no better
    resolution: float = 0.0  # mean squared scaled residual that the rounding of the values leaves
    derivative_of: tuple[int, ...] = ()  # (D,): the state whose derivative each state is, or -1; empty: none
    derivative_factors: tuple[float, ...] = ()  # (D,): c in x' = c v, which is 1 unless v was measured
    given: Given | None = None  # what is known of the equations; then programs hold what is found
    origins: tuple[int, ...] = ()  # the trajectory that each is a part of; empty: it is itself
    start_limits: Floats | None = None  # (2, trajectories, D): lowest and highest initial values

    def __post_init__(self) -> None:
        """One layout of all arrays: compiled code is compiled once more, for half a minute, for each."""
        for name in ("times", "states", "bounds", "known", "errors"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.ascontiguousarray(given))

    @classmethod
    def joined(cls, times: Sequence[Floats], states: Sequence[Floats]) -> Observations:
        """From times (n,) and states (n, D) of each trajectory."""
        bounds = np.cumsum([0, *map(len, times)], dtype=np.int64)
        return cls(np.concatenate(times), np.concatenate(states), bounds)

    def __len__(self) -> int:
        """The number of trajectories."""
        return len(self.bounds) - 1

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return self.states.shape[1]

    @property
    def count(self) -> int:
        """The number of observed values: points times variables, without the missing ones."""
        return int(np.isfinite(self.states).sum())

    @cached_property
    def scale(self) -> Floats:
        """The standard deviation of every variable, by which residuals are measured."""
        seen = np.isfinite(self.states).any(axis=0)
        spread = np.zeros(self.dimension)
        spread[seen] = np.nanstd(self.states[:, seen], axis=0)
        return np.where(spread > 0.0, spread, 1.0)

    @cached_property
    def largest(self) -> float:
        """The largest magnitude that was observed, never 0."""
        return max(float(np.nanmax(np.abs(self.states), initial=0.0)), 1e-300)

    @property
    def variables(self) -> int:
        """The number of variables that equations may read: states, then what is known."""
        return self.dimension + (0 if self.known is None else self.known.shape[1])

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """Which states nobody measured, (D,)."""
        roles = self.roles[: self.dimension] or (Role.OBSERVED,) * self.dimension
        return np.array([role != Role.OBSERVED for role in roles])

    @cached_property
    def velocities(self) -> dict[int, int]:
        """For each state whose equation is x' = v, its number and that of v."""
        return {position: number for number, position in enumerate(self.derivative_of) if position >= 0}

    def lineage(self, state: int) -> tuple[int, int]:
        """The observed state that a velocity is a derivative of, and how often its equation is integrated.

        For an observed state that is the state itself, and once.
        """
        times = 1
        while self.unseen[state] and self.derivative_of and self.derivative_of[state] >= 0:
            state, times = self.derivative_of[state], times + 1
        return state, times

    @cached_property
    def integration_constants(self) -> tuple[Floats, ...]:
        """For each state's equation, what constants of integration can explain of what it is compared with.

        (N, times that it is integrated): see `polynomials_of_time`, over what was seen; 0 elsewhere.
        """
        result = []
        for component in range(self.dimension):
            state, depth = self.lineage(component)
            rows = np.flatnonzero(np.isfinite(self.states[:, state]))
            free = np.zeros((len(self.times), depth))
            free[rows] = polynomials_of_time(self.times[rows], self.trajectory_of(rows), depth)
            result.append(free)
        return tuple(result)

    @cached_property
    def closed(self) -> frozenset[int]:
        """The states in whose equations nothing is to be found: those of x' = v, and those that are known."""
        return frozenset(self.velocities) | (frozenset() if self.given is None else self.given.closed)

    def given_equation(self, state: int) -> Program | None:
        """What stands in place of an equation where nothing is to be found: c v where it is x' = c v."""
        if state not in self.closed:
            return None
        if state not in self.velocities:
            return node(CONST)
        velocity = self.velocities[state]
        factor = self.derivative_factors[velocity] if self.derivative_factors else 1.0
        return Program(np.array([MUL, CONST, VAR], np.int8), np.array([0.0, factor, float(velocity)]))

    def equations_of(self, program: Program) -> list[Program]:
        """What was found for each state, without the named constants that may follow."""
        return program.components()[: self.dimension]

    def completed(self, program: Program) -> Complete:
        """The whole system: what was found and what is given."""
        if self.given is None:
            return Complete(program, np.tile(np.arange(len(program.constants)), (len(self), 1)))
        whole = self.given.complete(program)
        if not self.origins:
            return whole
        return Complete(whole.program, np.ascontiguousarray(whole.owners[list(self.origins)]))

    def whole_systems(self, program: Program) -> list[Program]:
        """The whole system with the constants of each trajectory."""
        if self.given is None:
            return [program] * len(self)
        whole, found = self.completed(program), program.constants
        return [whole.of_trajectory(k, found) for k in range(len(self))]

    @cached_property
    def driving(self) -> Driving:
        """The signals of all trajectories, for compiled code."""
        return driving_of(self.signals, len(self))

    def signals_of(self, trajectory: int) -> Signals | None:
        """What drives a trajectory."""
        return self.signals[trajectory] if self.signals else None

    def part(self, rows: Ints, bounds: Ints) -> Observations:
        """Some of the observed times, as other trajectories, each within one of these."""
        own = self.trajectory_of(rows[bounds[:-1]])
        limits = None
        if self.start_limits is not None:  # those of the first part of each
            first = (rows[bounds[:-1]] == self.bounds[own])[:, None]
            limits = np.where(first, self.start_limits[:, own], np.array([-np.inf, np.inf])[:, None, None])
        return replace(
            self,
            times=self.times[rows],
            states=self.states[rows],
            bounds=bounds,
            known=None if self.known is None else self.known[rows],
            signals=tuple(self.signals[k] for k in own) if self.signals else (),
            errors=None if self.errors is None else self.errors[rows],
            origins=tuple(self.origins[k] if self.origins else int(k) for k in own) if self.given else (),
            start_limits=limits,
        )

    def trajectories(self) -> Iterator[tuple[Floats, Floats]]:
        """Times (n,) and states (n, D) of each trajectory."""
        for first, last in self.spans():
            yield self.times[first:last], self.states[first:last]

    def spans(self) -> Iterator[tuple[int, int]]:
        """The first row of each trajectory, and the first after it."""
        return pairwise(self.bounds.tolist())

    def trajectory_of(self, rows: Ints) -> Ints:
        """The number of the trajectory that each of the rows belongs to."""
        return np.searchsorted(self.bounds, rows, side="right") - 1


def polynomials_of_time(times: Floats, trajectory: Ints, depth: int) -> Floats:
    """Polynomials of the time below this degree, orthonormal within each trajectory: (rows, depth)."""
    result = np.zeros((len(times), depth))
    for k in np.unique(trajectory):
        own = np.flatnonzero(trajectory == k)
        powers = (times[own] - times[own[0]])[:, None] ** np.arange(min(depth, len(own)))
        result[own, : powers.shape[1]] = np.linalg.qr(powers)[0]
    return result
