"""The choice among fitted systems, from the observed data alone.

One criterion for all candidates, wherever they come from, in units of twice a log-probability: how well the
system fits, how likely its structure is, and whether it runs away from other initial values.  The structural
prior comes from the network, which scores all candidates and not only its own, and from expression size.
Without a network, a Bayesian information criterion takes its place.
The weights were chosen on synthetic systems, where they matter little.  The network's score does matter: with
sigma 0.05 and rho 0.5 the chosen system generalizes in 55 of 100 cases, without it in 49.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.refine import FLOOR, Fit, fit_constants
from odefinder.numerics.integrate import Status, integrate

# A wrong system often fits only from initial values of its own, so the error from smoothed ones counts too:
# as much as this many observations.
START_WEIGHT = 20.0
# How much of the information criterion's cost of size is added to the network's score: the network saw few
# short datasets in training.
SIZE_SHARE = 0.5
# The likelihood trusts its assumptions about the noise too much, so next to the network's score only this
# share of it counts.  Compared with counting it in full, of 367 synthetic noisy cases 12 were gained (they
# generalize only this way) and 3 were lost.
LIKELIHOOD_SHARE = 0.5
# Calibrated: 65 % of 402 synthetic noisy cases generalize, and with this spread the first system's weight is
# 0.64 on average.
WEIGHT_SPREAD = 2.0
# A system is trusted less if it runs away from initial values that the data might have had.  Of 578 noisy
# cases (synthetic and textbook systems) this gained 5, which generalize only with it, and lost 1.
NEARBY = (0.5, 2.0)
RUNAWAY_COST = 12.0
FAR = 1e3  # times the largest observed value: a trajectory that gets this far has run away
LEAST_PER_NODE = -4.0  # log-probability below which the network is not trusted: it may lack the word


def start_error(fit: Fit, data: Observations, starts: Floats) -> float:
    """The mean squared scaled residual from other initial values (trajectories, D), such as smoothed ones."""
    if not np.isfinite(fit.error):
        return np.inf
    return fit_constants(fit.program, data, starts=starts, iterations=0).error


def runs_away(program: Program, starts: Floats, data: Observations) -> bool:
    """Whether a system that starts at half or twice the initial values runs away within the time of the data.

    starts: (trajectories, D).
    """
    size = float(np.nanmax(np.abs(data.states), initial=0.0)) or 1.0
    for (times, _), start in zip(data.trajectories(), starts, strict=True):
        for factor in NEARBY:
            _, status = integrate(
                program, factor * start, times, rtol=1e-4, atol=1e-6 * size, max_steps=2000, bound=FAR * size
            )
            if status != Status.OK:
                return True
    return False


def criterion(
    fit: Fit, data: Observations, *, from_smoothed: float | None = None, log_probability: float | None = None
) -> float:
    """N log(error) + the cost of the structure; smaller is better.

    from_smoothed: the `start_error` from smoothed initial values, under noise.  log_probability: of the
    system, according to the network; values with and without it cannot be compared.
    """
    if not np.isfinite(fit.error):
        return np.inf
    n, nodes = data.count, len(fit.program)
    value = n * float(np.log(fit.error + FLOOR))
    if from_smoothed is not None:
        ratio = (min(from_smoothed, 1e3) + FLOOR) / (fit.error + FLOOR)
        value += START_WEIGHT * float(np.log(ratio))
    size = (len(fit.program.constants) + nodes / 2) * float(np.log(n))
    if log_probability is None:
        return value + size
    return LIKELIHOOD_SHARE * (value + SIZE_SHARE * size) - 2.0 * max(log_probability, LEAST_PER_NODE * nodes)


def best_fit(fits: Sequence[Fit], data: Observations, starts: Floats | None = None) -> Fit | None:
    """The fit with the smallest criterion; None if no system could be integrated.

    starts: smoothed initial values, under noise.
    """

    def value(fit: Fit) -> tuple[float, float]:
        smoothed = None if starts is None else start_error(fit, data, starts)
        return criterion(fit, data, from_smoothed=smoothed), fit.error

    return min((fit for fit in fits if np.isfinite(fit.error)), key=value, default=None)


def relative_weights(criteria: Floats) -> Floats:
    """How plausible each candidate is relative to the others; the weights sum to 1."""
    relative = np.exp(-0.5 * (criteria - criteria.min()) / WEIGHT_SPREAD)
    return relative / relative.sum()


def on_front(sizes: Sequence[float], errors: Sequence[float]) -> list[bool]:
    """Which candidates are on the Pareto front: no other is as good in both measures and better in one."""
    pairs = list(zip(sizes, errors, strict=True))
    return [
        not any(
            size <= own_size and error <= own_error and (size, error) != (own_size, own_error)
            for size, error in pairs
        )
        for own_size, own_error in pairs
    ]
