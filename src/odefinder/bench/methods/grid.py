"""The paper's search over hyper-parameters, and its way to combine the fronts of single equations.

"The model is fitted on the first 70 % and scored on the remaining 30 % of a trajectory" (appendix on
baselines).  The score here, for every method, is the R2 of the *integrated trajectory*: from the first of the
held-out points on, against the observed (noisy) states.  The authors' code uses this score for the functional
methods; for SINDy it uses the R2 of the predicted derivatives, which rewards smoothing for its own sake
(SINDy (poly) at sigma .05, rho .5: 9.5 % of 42 fits reconstruct by that score, 20.6 % of 126 by this one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import TypeVar

import numpy as np

from odefinder.bench.methods.derivatives import ORDERS, WINDOWS, check, derivatives
from odefinder.bench.methods.method import Floats
from odefinder.errors import NoSystemError, OdefinderError
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.propose.sparse import smallest_sums
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.r2 import variance_weighted_r2

FITTED = 0.7  # share of the points that the models of the search see
FEWEST = 4  # points in either part; with fewer there is no basis for a search
COMBINATIONS = 2000  # of equations that are integrated at most
COMBINATIONS_SEARCHED = 300  # the same for each setting of a search

DERIVATIVES: tuple[tuple[int, int | None], ...] = tuple(product(ORDERS, WINDOWS))  # (order, window)

Front = Sequence[tuple[float, Program]]  # error and equation: the candidates of one component
Setting = TypeVar("Setting")


def observed_r2(program: Program, t: Floats, x: Floats) -> float:
    """R2 on observed states (N, D) of the trajectory from the first of them; -inf if there is none.

    Tolerances are loose and steps few: this ranks thousands of candidates, many of them stiff by accident.
    """
    scale = float(np.abs(x).max()) + 1e-12
    path, status = integrate(
        program, x[0], t, rtol=1e-6, atol=1e-8 * scale, max_steps=3000, bound=1e4 * scale
    )
    return variance_weighted_r2(x, path) if status == Status.OK else -np.inf


def most_accurate(programs: Iterable[Program], t: Floats, x: Floats) -> Program:
    """The system whose trajectory is nearest to the observed one; the earlier one where two are equal."""
    best, best_score = None, -np.inf
    for program in dict.fromkeys(programs):
        score = observed_r2(program, t, x)
        if best is None or score > best_score:
            best, best_score = program, score
    if best is None:
        raise NoSystemError("no candidate was left to choose from")
    return best


def cartesian(fronts: Sequence[Front], t: Floats, x: Floats, count: int = COMBINATIONS) -> Program:
    """The best of all combinations of one equation per component, by the trajectory on the observed data.

    If there are more than `count` combinations, those with the smallest summed errors are tried.  Errors must
    be comparable between components, such as unexplained shares of the variance.
    """
    if not all(fronts):
        raise NoSystemError("no equation was found for some component")
    return most_accurate((concatenate(chosen) for chosen in smallest_sums(fronts, count)), t, x)


def unexplained(target: Floats, prediction: Floats) -> float:
    """The share of a target's variance that a prediction leaves unexplained; inf if it is not finite."""
    if not np.isfinite(prediction).all():
        return np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(((target - target.mean()) ** 2).sum())
        share = float(((target - prediction) ** 2).sum()) / (spread + 1e-300)
    return share if np.isfinite(share) else np.inf


def search(
    settings: Sequence[Setting],
    fit: Callable[[Floats, Floats, Setting], Program],
    t: Floats,
    x: Floats,
    refit: Callable[[Floats, Floats, Setting], Program] | None = None,
) -> Program:
    """The system of the best setting, fitted to the whole trajectory.

    A setting that cannot be fitted (`OdefinderError`) is left out; if the best one cannot be fitted to the
    whole trajectory, the next best takes its place.  Of equal scores the earlier setting wins: list simple
    ones first.  refit: how the whole trajectory is fitted, if that should get a larger budget.
    """
    check(t, x)
    count = int(FITTED * len(t))
    ranked = list(settings)
    if count >= FEWEST and len(t) - count >= FEWEST:
        scores: dict[Program, float] = {}
        scored: list[tuple[float, int]] = []
        for index, setting in enumerate(settings):
            try:
                program = fit(t[:count], x[:count], setting)
            except OdefinderError:
                continue
            if program not in scores:
                scores[program] = observed_r2(program, t[count:], x[count:])
            scored.append((-scores[program], index))
        ranked = [settings[index] for _, index in sorted(scored)]
    for setting in ranked:
        try:
            return (refit or fit)(t, x, setting)
        except OdefinderError:
            continue
    raise NoSystemError("no combination of hyper-parameters could be fitted to this trajectory")


def search_equations(
    fronts: Callable[[Floats, Floats, bool], Sequence[Front]], t: Floats, x: Floats
) -> Program:
    """The best combination of equations after the search over finite differences: for functional methods.

    fronts: takes states and their derivatives (N, D), and whether this is the last fit (of the whole
    trajectory); returns the candidates of every component.
    """

    def fit(last: bool, times: Floats, observed: Floats, how: tuple[int, int | None]) -> Program:
        states, slopes = derivatives(times, observed, *how)
        count = COMBINATIONS if last else COMBINATIONS_SEARCHED
        return cartesian(fronts(states, slopes, last), times, observed, count)

    return search(DERIVATIVES, partial(fit, False), t, x, partial(fit, True))
