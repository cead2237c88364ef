"""Lyapunov exponents of a system: how fast neighbouring trajectories part.

A frame of D directions is carried along a trajectory by the variational equations, which the engine solves
together with the states.  After each short window it is made orthonormal again (QR), and the logarithms of
the lengths are added up; their mean per unit of time is the spectrum (Benettin et al., 1980).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.errors import SettingsError
from odefinder.expressions.program import Program
from odefinder.limits.deadline import Deadline
from odefinder.numerics.evaluate import evaluate, evaluate_gradients, jacobian
from odefinder.numerics.integrate import Status, integrate_with_sensitivities

Floats = NDArray[np.float64]

PERIODS = 300.0  # over which exponents are averaged, unless told otherwise
TRANSIENT = 30.0  # periods that the state and the frame have to settle
BLOCKS = 20  # of the mean: their scatter gives its error
# Shortest direction relative to the longest after a window.  Below the first, its rounding errors would
# count and the window is halved; above the second, the next window is longer.
SHORTEST, LONG = 1e-8, 1e-3
LONGEST_WINDOW = 0.5  # periods
MOST_HALVINGS = 40
# The step size follows the states alone, and so misses a direction in which the state has come to rest.
# Liouville's formula notices: volumes grow as the trace of the Jacobian says, here up to this relative error.
VOLUME = 0.1
NODES = 9
SIMPSON = np.array([1.0, 4.0, 2.0, 4.0, 2.0, 4.0, 2.0, 4.0, 1.0]) / 24.0  # weights at the nodes of a window
# A state that would move by less than this in a period, relative to the largest seen, is at rest.  From there
# on the integrator's steps would no longer know the speed of the deviations, but the eigenvalues do.
REST = 1e-6
SURE = 3.0  # standard errors
RUNAWAY = 10.0  # largest value of the second half relative to the first, beyond which motion has no bound


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The Lyapunov exponents of a system along one trajectory, largest first, per unit of time."""

    exponents: Floats  # (D,)
    errors: Floats  # (D,): standard errors of these means
    duration: float  # the time that they are averaged over
    period: float  # as it was given
    status: Status  # not OK: the trajectory ended early
    bounded: bool = True  # False: it grows on and on, so that neighbours part without chaos

    @property
    def largest(self) -> float:
        return float(self.exponents[0])

    @property
    def time(self) -> float:
        """The Lyapunov time, in which neighbours part by a factor of e; infinite unless chaotic."""
        return 1.0 / self.largest if self.chaotic else np.inf

    @property
    def dimension(self) -> float:
        """The Kaplan-Yorke dimension of the attractor."""
        return kaplan_yorke(self.exponents)

    @property
    def chaotic(self) -> bool:
        """Whether neighbours part faster than they do on a torus, where their distance grows as the time."""
        if self.status != Status.OK or not self.bounded or not np.isfinite(self.errors[0]):
            return False
        neutral = np.log1p(self.duration / self.period) / self.duration
        return self.largest > neutral + SURE * float(self.errors[0])

    def __str__(self) -> str:
        if self.status != Status.OK:
            return f"no Lyapunov exponents: {self.status.message}"
        if not np.isfinite(self.largest):
            return "no Lyapunov exponents: the time budget was too small"
        if not self.bounded:
            return "not chaotic: it grows without bound"
        if not self.chaotic:
            return f"not chaotic: the largest Lyapunov exponent is {self.largest:.2g}"
        return f"chaotic: neighbouring trajectories part by a factor of e every {self.time:.2g} time units"


def lyapunov_spectrum(
    program: Program,
    x0: ArrayLike,
    period: float,
    *,
    periods: float = PERIODS,
    transient: float = TRANSIENT,
    seconds: float = np.inf,
) -> Spectrum:
    """The exponents along the trajectory from x0.

    period: the time scale of the system, such as its mean period (`records.mean_period`);
    periods: how many to average over; transient: how many to leave out before; seconds: a time budget, after
    which the mean over what was done is returned.
    """
    if not 0.0 < period < np.inf or not 0.0 < periods < np.inf or not 0.0 <= transient < np.inf:
        raise SettingsError(
            f"period, periods and transient are positive, not {period}, {periods}, {transient}"
        )
    walk = _Walk(program, np.array(x0, dtype=np.float64), period)
    deadline = Deadline(seconds)
    for _ in walk.windows(transient, deadline):
        pass
    logs, times, sizes = [], [], []
    for grown, time in walk.windows(periods, deadline):
        logs.append(grown)
        times.append(time)
        sizes.append(float(np.abs(walk.state).max()))
    if walk.rates is not None:
        return Spectrum(walk.rates, np.zeros_like(walk.rates), periods * period, period, Status.OK)
    half = len(sizes) // 2
    bounded = half == 0 or max(sizes[half:]) <= RUNAWAY * max(sizes[:half])
    means = _means(np.array(logs).reshape(-1, len(walk.state)), np.array(times))
    return Spectrum(*means, sum(times), period, walk.status, bounded)


def kaplan_yorke(exponents: ArrayLike) -> float:
    """The dimension at which volumes neither grow nor shrink, interpolated between whole dimensions."""
    ordered = np.sort(np.asarray(exponents, dtype=np.float64))[::-1]
    if not np.isfinite(ordered).all():
        return np.nan
    sums = np.cumsum(ordered)
    whole = int(np.count_nonzero(np.cumprod(sums >= 0.0)))
    if whole in (0, len(ordered)):
        return float(whole)
    return float(whole + sums[whole - 1] / -ordered[whole])


class _Walk:
    """A state and a frame on their way along a trajectory."""

    def __init__(self, program: Program, state: Floats, period: float):
        self.program, self.state, self.frame, self.period = program, state, np.eye(len(state)), period
        self.window = 0.5 * LONGEST_WINDOW * period
        self.largest = float(np.abs(state).max())
        self.status = Status.OK
        self.rates: Floats | None = None  # the exponents of a stable state of rest, once it is reached

    def windows(self, periods: float, deadline: Deadline) -> Iterator[tuple[Floats, float]]:
        """Go on for this time; yields the logarithms of the growth (D,) and the time of each window."""
        left, halvings = periods * self.period, 0
        while left > 1e-9 * self.period and not deadline.over and not self._rests():
            time = min(self.window, left)
            scale = float(np.abs(self.state).max()) + 1e-12
            nodes = np.linspace(0.0, time, NODES)
            states, derivatives, self.status = integrate_with_sensitivities(
                self.program, self.state, nodes, constants=False, initial=True, atol=1e-10 * scale
            )
            if self.status != Status.OK:
                return
            frame, triangle = np.linalg.qr(derivatives[-1] @ self.frame)
            lengths = np.abs(np.diag(triangle))
            grown = np.log(np.maximum(lengths, np.finfo(float).tiny))
            ratio = lengths.min() / lengths.max()
            fine = ratio > SHORTEST and self._keeps_volume(states, time, float(grown.sum()))
            if not fine and halvings < MOST_HALVINGS:
                self.window, halvings = 0.5 * time, halvings + 1
                continue
            if ratio > LONG:
                self.window = min(1.5 * self.window, LONGEST_WINDOW * self.period)
            self.state, self.frame = states[-1], frame
            self.largest = max(self.largest, float(np.abs(self.state).max()))
            left, halvings = left - time, 0
            yield grown, time

    def _keeps_volume(self, states: Floats, time: float, grown: float) -> bool:
        """Whether the logarithm of the volume has grown by the integral of the Jacobian's trace."""
        traces = np.trace(evaluate_gradients(self.program, states).jacobian, axis1=1, axis2=2)
        expected = float(SIMPSON @ traces) * time
        return abs(grown - expected) <= VOLUME * (1.0 + abs(expected))

    def _rests(self) -> bool:
        """Whether a stable state of rest is reached; `rates` then holds the real parts of its eigenvalues."""
        if self.rates is None:
            speed = float(np.abs(evaluate(self.program, self.state[None])).max())
            if speed * self.period <= REST * self.largest:
                rates = np.sort(np.linalg.eigvals(jacobian(self.program, self.state)).real)[::-1]
                if rates[0] * self.period <= REST:
                    self.rates = rates
        return self.rates is not None


def _means(logs: Floats, times: Floats) -> tuple[Floats, Floats]:
    """The means over all windows, largest first, and their errors from the means over blocks."""
    dimension = logs.shape[1]
    if len(logs) == 0:
        return np.full(dimension, np.nan), np.full(dimension, np.nan)
    exponents = logs.sum(axis=0) / times.sum()
    errors = np.full(dimension, np.inf)
    if len(logs) >= BLOCKS:
        ends = np.cumsum(times)
        block = np.minimum((BLOCKS * ends / ends[-1]).astype(int), BLOCKS - 1)
        sums = np.zeros((BLOCKS, dimension))
        np.add.at(sums, block, logs)
        spans = np.bincount(block, weights=times, minlength=BLOCKS)
        means = sums[spans > 0.0] / spans[spans > 0.0, None]
        errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    order = np.argsort(-exponents)
    return exponents[order], errors[order]
