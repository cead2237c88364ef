"""The one objective: every fitted system has a log-posterior in nats, from the observed data alone.

    log posterior = TEMPERATURE * (log likelihood + initial values) + log prior of the structure

and the criterion is minus that, so smaller is better.  It is the same for exact and for noisy data:

- Likelihood: Gaussian errors whose level is unknown and takes its most likely value, N/2 log(mean squared
  residual + floor); the floor is the accuracy of the integration.  Where the noise differs between variables
  or points, or was given, residuals are weighted by it (`fit/noise.py`).  The level is not below that of
  given errors: whoever gives them does not ask for a system that is closer to the data.
- Initial values: Student's t with four degrees of freedom around the smoothed ones.  A wrong system often
  fits only from exactly those that were fitted to it, so START_COUNT observations should be explained from
  the smoothed ones, too.  Interpolated initial values are not fitted.
- Structure: what the network thinks of the equations apart from their constants, and a price for constants,
  nodes and waves; without a network, a description length (`description.py`).  A system that runs away from
  initial values that the data might have had is trusted less.

The figures below were measured with `benchmarks/calibration.py` on synthetic and textbook systems under both
kinds of noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.form import pinned
from odefinder.expressions.program import WAVES, Program
from odefinder.inference.choose.description import OWN_SQUARE_COST, description, own_squares
from odefinder.inference.fit.refine import FLOOR, Fit, fit_constants, given_constants, steps_at_knots
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.integrate import Status, integrate
from odefinder.simulation.domain import held_at_the_end, leaves_domain

# The likelihood assumes independent errors of one shape and a system without any approximation, so it is
# surer than it should be.
TEMPERATURE = 0.5
# What a nat of the network, a constant and a node count, and that there is a wave at all.  On the candidates
# of 214 noisy fits, 9 more generalize than with half of a log-probability that included the constants and
# half of the description (12 gained, 3 lost).  Nodes and waves came later: of 244 noisy fits 6 are gained and
# 2 lost, and 7 and 2 for the true structure; any price of constants from 2 to 4 is as good.  Without a price
# for waves, half of one is more often taken for the parabola of logistic growth.
NETWORK, CONSTANT, NODE, WAVE = 0.67, 3.0, 0.3, 2.0
LEAST_PER_NODE = -4.0  # log-probability below which the network is not trusted: it may lack the word
FREEDOM = 4.0  # degrees of freedom of the distribution of initial values
# Without these, 10 of 263 noisy fits (synthetic and textbook) lost their reconstruction, and none gained it.
# On the candidates of 295 other fits, 8 lose none; with 20, two fewer generalize.
START_COUNT = 8.0
NOTHING = 1.0  # mean squared scaled residual of a system that explains nothing
# Of 578 noisy cases (synthetic and textbook) this gained 5, which generalize only with it, and lost 1.
RUNAWAY_COST = 6.0
NEARBY = (0.5, 2.0)
INSIDE = 8  # places in the range of the data from which candidates are compared
LOOKS = 40  # times at which trajectories from elsewhere are compared
FAR = 1e3  # times the largest observed value: a trajectory that gets this far has run away


def log_likelihood(error: float, count: float, least: float = 0.0) -> float:
    """Of `count` observations with this mean squared scaled residual, at the most likely noise level.

    least: the level of errors that were given with the data.
    """
    if not np.isfinite(error):
        return -np.inf
    level = max(error, least) + FLOOR
    return -0.5 * count * (float(np.log(level)) - max(least - error, 0.0) / level)


def log_starts(fit: Fit, data: Observations, estimate: StateEstimate) -> float:
    """What fitted initial values cost, compared with the smoothed ones of the estimate; 0 if not fitted."""
    known = estimate.start_errors > 0.0
    if not known.any() or not np.isfinite(fit.error):
        return 0.0
    distance = (fit.starts - estimate.starts)[known] / estimate.start_errors[known]
    prior = -0.5 * (FREEDOM + 1.0) * float(np.log1p(distance**2 / FREEDOM).sum())
    starts = np.where(data.unseen, fit.starts, estimate.starts)
    smoothed = fit_constants(fit.program, data, starts=starts, iterations=0).error
    worse = max(min(smoothed, NOTHING), fit.error)
    least = data.least_error
    return prior + log_likelihood(worse, START_COUNT, least) - log_likelihood(fit.error, START_COUNT, least)


def log_structure(
    program: Program, log_probability: float | None = None, constants: int | None = None
) -> float:
    """Log prior of the structure; log_probability: of its outline according to the network, if it was asked.

    constants: how many are fitted, where that is not their number in the program.
    """
    if log_probability is None:
        return -description(program, constants)
    count = len(program.constants) - pinned(program.ops) if constants is None else constants
    network = max(log_probability, LEAST_PER_NODE * len(program))
    wave = bool(np.isin(program.ops, WAVES).any())
    price = CONSTANT * count + NODE * len(program) + WAVE * wave
    return NETWORK * network - price - OWN_SQUARE_COST * own_squares(program)


def criterion(
    fit: Fit, data: Observations, starts: float = 0.0, log_probability: float | None = None
) -> float:
    """Minus the log-posterior in nats, without the cost of running away; smaller is better.

    starts: see `log_starts`.
    """
    if not np.isfinite(fit.error):
        return np.inf
    explained = TEMPERATURE * (log_likelihood(fit.error, data.count, data.least_error) + starts)
    free = len(fit.program.constants) - int(given_constants(fit.program, data).sum())
    free -= pinned(fit.program.ops)
    return -explained - log_structure(data.completed(fit.program).program, log_probability, free)


def best_fit(fits: Sequence[Fit], data: Observations, estimate: StateEstimate | None = None) -> Fit | None:
    """The fit with the smallest criterion; None if no system could be integrated."""

    def value(fit: Fit) -> tuple[float, float]:
        starts = 0.0 if estimate is None else log_starts(fit, data, estimate)
        return criterion(fit, data, starts), fit.error

    return min((fit for fit in fits if np.isfinite(fit.error)), key=value, default=None)


def elsewhere(program: Program, starts: Floats, data: Observations) -> Floats:
    """Trajectories from half and twice the initial values (trajectories, D), within the time of the data.

    (2 trajectories, points, states that are not hidden); NaN where the system runs away.  One that comes to
    the end of its formula's domain does not: it stays there.
    """
    roles = data.roles[: data.dimension] or (Role.OBSERVED,) * data.dimension
    hidden = np.array([role == Role.HIDDEN for role in roles])  # twice an unknown value means nothing
    paths = np.full((len(NEARBY) * len(starts), LOOKS, data.dimension), np.nan)
    systems = data.whole_systems(program)
    for k, ((times, _), start) in enumerate(zip(data.trajectories(), starts, strict=True)):
        looks = np.linspace(times[0], times[-1], LOOKS)
        for j, factor in enumerate(NEARBY):
            near = np.where(hidden, 1.0, factor) * start
            paths[len(NEARBY) * k + j] = _followed(systems[k], near, looks, k, data)
    return paths[:, :, ~hidden]


def from_inside(program: Program, states: Floats, data: Observations) -> Floats:
    """Trajectories (INSIDE, points, D) from places in the range of the states (N, D), as in `elsewhere`.

    They are driven as the first observed trajectory is, and as long.
    """
    low, high = states.min(axis=0), states.max(axis=0)
    places = low + (high - low) * np.random.default_rng(0).random((INSIDE, data.dimension))
    times, _ = next(iter(data.trajectories()))
    looks = np.linspace(times[0], times[-1], LOOKS)
    system = data.whole_systems(program)[0]
    return np.array([_followed(system, place, looks, 0, data) for place in places])


def _followed(system: Program, start: Floats, looks: Floats, trajectory: int, data: Observations) -> Floats:
    """The states (points, D) at some times; NaN where the system runs away."""
    size = float(np.nanmax(np.abs(data.states), initial=0.0)) or 1.0
    signals = data.signals_of(trajectory)
    steps = 2000 + steps_at_knots(data)
    path, status = integrate(
        system, start, looks, signals=signals, rtol=1e-4, atol=1e-6 * size, max_steps=steps, bound=FAR * size
    )
    if status == Status.OK:
        return path
    if leaves_domain(system, looks, path, status, signals):  # an empty tank stays so
        return held_at_the_end(path)
    return np.full((len(looks), data.dimension), np.nan)


def runs_away(program: Program, starts: Floats, data: Observations) -> bool:
    """Whether a system that starts at half or twice the initial values runs away within the time of the data.

    starts: (trajectories, D).
    """
    return bool(np.isnan(elsewhere(program, starts, data)).any())


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
