"""Stiff systems: an implicit method for those the compiled explicit integrator cannot follow.

SciPy's Radau, driven step by step with our compiled right-hand side and exact Jacobian.  Against LSODA at
rtol = 1e-8 (Van der Pol, Robertson, Oregonator) it is 12 to 30 times slower, but 35 to 860 times more
accurate, and stays under a second.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import Radau
from scipy.linalg import LinAlgWarning

from odefinder.expressions.program import Program, check_system
from odefinder.limits.alarm import alarm_rings
from odefinder.numerics.evaluate import eval_system, jacobian
from odefinder.numerics.integrate import Status
from odefinder.numerics.knots import values_at
from odefinder.numerics.signals import NO_SIGNALS, Signals

METHOD = "Radau"
EPSILON = float(np.finfo(np.float64).eps)


class _BudgetSpentError(Exception):
    """Leaves SciPy's step from within; never reaches the caller."""


def integrate_stiff(
    program: Program,
    x0: NDArray[Any],
    t: NDArray[Any],
    rtol: float = 1e-8,
    atol: float = 1e-10,
    *,
    signals: Signals | None = None,
    max_evaluations: int = 100_000,
    bound: float = 1e12,
) -> tuple[NDArray[np.float64], Status]:
    """As `integrate`: states (N, D) at the strictly increasing times t; rows not reached are NaN.

    The method starts again at every knot of the signals.  The budget counts evaluations of the right-hand
    side (about 20 microseconds each, with all that SciPy does around them), which every loop of the method
    needs: it cannot run for ever.
    """
    x0 = np.ascontiguousarray(x0, dtype=np.float64)
    t = np.ascontiguousarray(t, dtype=np.float64)
    driven = NO_SIGNALS if signals is None else signals
    check_system(program, len(x0), len(x0) + driven.before.shape[1])
    out = np.full((len(t), len(x0)), np.nan)
    out[0] = x0
    if len(t) == 1:
        return out, Status.OK
    work = _Integration(program, t, max(rtol, 100 * EPSILON), atol, bound, max_evaluations, out)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        try:
            return out, work.run(x0, driven)
        except _BudgetSpentError:
            return out, Status.TOO_MANY_STEPS


class _Integration:
    """One trajectory on its way; fills in the rows of `out`."""

    def __init__(
        self,
        program: Program,
        t: NDArray[Any],
        rtol: float,  # not below SciPy's own limit
        atol: float,
        bound: float,
        budget: int,
        out: NDArray[Any],
    ):
        self.program, self.t, self.out = program, t, out
        self.rtol, self.atol, self.bound, self.budget = rtol, atol, bound, budget
        self.stack = np.empty(len(program))
        self.line = _Line(0.0, np.zeros(0), np.zeros(0))
        self.row = 1  # the next to be filled in

    def run(self, x: NDArray[Any], signals: Signals) -> Status:
        """From knot to knot; doses come just after one, so rows at the same time do not have them."""
        t, knots = self.t, signals.knots
        inside = knots[(knots > t[0]) & (knots < t[-1])]
        edges = np.concatenate([t[:1], inside, t[-1:]])
        after, before = values_at(signals, edges), values_at(signals, edges, before=True)
        step = None
        for k in range(len(edges) - 1):
            here, there = edges[k], edges[k + 1]
            self.line = _Line(here, after[k], (before[k + 1] - after[k]) / (there - here))
            if signals.doses.shape[1]:
                x = x + signals.doses[knots == here].sum(axis=0)
            if not np.isfinite(self.derivative(here, x)).all():
                return Status.NOT_FINITE if k == 0 else Status.STEP_TOO_SMALL
            if step is not None:
                step = min(step, there - here)
            status, x, step = self.follow(here, there, x, step)
            if status != Status.OK:
                return status
        return Status.OK

    def derivative(self, now: float, x: NDArray[Any]) -> NDArray[Any]:
        self.budget -= 1
        if self.budget < 0 or alarm_rings():
            raise _BudgetSpentError
        out = np.empty(self.out.shape[1])
        variables = np.concatenate([x, self.line.at(now)])
        eval_system(self.program.ops, self.program.values, len(self.program), variables, self.stack, out)
        return out

    def slopes(self, now: float, x: NDArray[Any]) -> NDArray[Any]:
        # Newton's method needs no exact Jacobian, but a finite one: sqrt(x) has none at 0.
        exact = jacobian(self.program, np.concatenate([x, self.line.at(now)]))
        return np.nan_to_num(exact, nan=0.0, posinf=0.0, neginf=0.0)

    def start(self, now: float, end: float, x: NDArray[Any], step: float | None) -> Radau:
        return Radau(
            self.derivative, now, x, end, rtol=self.rtol, atol=self.atol, jac=self.slopes, first_step=step
        )

    def follow(
        self, now: float, end: float, x: NDArray[Any], step: float | None
    ) -> tuple[Status, NDArray[Any], float]:
        """Step to the end of a piece: how that went, the state there, and the length of the last step."""
        t, out = self.t, self.out
        solver = self.start(now, end, x, step)
        while solver.t < end:
            try:
                solver.step()
            except ValueError:
                # SciPy's error estimate has left the domain of the formula: again from here, shorter.
                shorter = 0.25 * solver.h_abs
                if not shorter >= 10 * EPSILON * max(abs(solver.t), 1e-8 * (t[-1] - t[0])):
                    return Status.STEP_TOO_SMALL, solver.y, shorter
                solver = self.start(solver.t, end, solver.y, min(shorter, end - solver.t))
                continue
            if solver.status == "failed":
                return Status.STEP_TOO_SMALL, solver.y, solver.h_abs
            reached = int(np.searchsorted(t, solver.t, side="right"))
            if reached > self.row:
                states = solver.dense_output()(t[self.row : reached]).T
                outside = np.flatnonzero(~(np.abs(states) <= self.bound).all(axis=1))
                n_good = outside[0] if len(outside) else len(states)
                out[self.row : self.row + n_good] = states[:n_good]
                if len(outside):
                    return Status.DIVERGED, solver.y, solver.h_abs
                self.row = reached
            if not (np.abs(solver.y) <= self.bound).all():
                return Status.DIVERGED, solver.y, solver.h_abs
        return Status.OK, solver.y, solver.h_abs


class _Line(NamedTuple):
    """The signals between two knots."""

    start: float
    values: NDArray[Any]
    slopes: NDArray[Any]

    def at(self, now: float) -> NDArray[Any]:
        return self.values + (now - self.start) * self.slopes
