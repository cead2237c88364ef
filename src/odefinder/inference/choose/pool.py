"""The pool of all fitted systems, one per structure, and the choice among them.

All systems share one criterion, whichever estimate they come from.  In the end the network has a say, systems
that run away elsewhere are penalized, and those that are the same function on the data are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odefinder.data.given import STAYS, Complete
from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.alike import too_fast
from odefinder.inference.choose.candidates import Candidate, in_order, merged, tried_elsewhere, weights_of
from odefinder.inference.choose.criterion import RUNAWAY_COST, criterion, log_starts
from odefinder.inference.choose.description import own_squares
from odefinder.inference.choose.weights import exactness
from odefinder.inference.fit.refine import FLOOR, Fit, given_constants
from odefinder.inference.fit.states import StateEstimate
from odefinder.limits.alarm import no_alarm
from odefinder.limits.deadline import Deadline

RESCORED, ASKED_FIRST = 50, 12  # systems whose structure the network scores, and how many of them at first
BEST_PER_NODE = -0.1  # log-probability of an outline: one in a hundred candidates has more
SURE = 5.0  # standard errors by which what is left exceeds the noise
AS_GOOD = 2.0  # factor by which a slower wave may leave more
# Nats for leaving nothing of exact data, which the likelihood does not see: it stops at the accuracy of most
# fits.  Of exact first systems 166 of 167 were right, of others 20 of 30 (docs/accuracy.md).
EXACTLY = 4.0
LITTLE = 0.5  # share of the noise: where less is left, there was no such noise


class Pool:
    """The systems found so far for one set of data, in canonical units."""

    def __init__(
        self,
        data: Observations,
        estimate: StateEstimate,
        log_prior: Callable[[Sequence[Program]], Floats] | None = None,
    ):
        """log_prior: gives the log-probability of systems according to the network; `rescored` uses it."""
        self.data = data
        self.estimate = estimate
        self.log_prior = log_prior
        self.found: dict[bytes, Candidate] = {}
        self.better: Callable[[Fit], None] = lambda fit: None  # told of every fit that is the best so far

    def store(self, key: bytes, fit: Fit, source: str) -> None:
        """Keep a fitted system if it is the best of its structure, the key, and no wave is too fast."""
        known = self.found.get(key)
        if known is not None and not self._better(fit, known.fit):
            return
        if self._too_fast(fit) and (known is not None or not self._all_known):
            return
        origin = source if known is None else known.source
        with no_alarm() if np.isfinite(fit.error) else nullcontext():  # it was found in time
            starts = log_starts(fit, self.data, self.estimate)
        best, found = self._best_criterion(), self._criterion_of(fit, starts)
        self.found[key] = Candidate(fit, origin, found, starts)
        if found < best:
            self.better(fit)

    @property
    def _all_known(self) -> bool:
        """Whether nothing is to be found but constants; then there is no other system."""
        return len(self.data.closed) == self.data.dimension

    def _better(self, fit: Fit, known: Fit) -> bool:
        """Whether a fit replaces another one of the same structure."""
        if self._all_known and self._too_fast(known):  # a slower wave through the same points
            return fit.error < AS_GOOD * known.error + FLOOR
        return fit.error < known.error

    def _too_fast(self, fit: Fit) -> bool:
        """Whether a wave with fitted constants is faster than the data can tell."""
        if self.data.given is None:
            return too_fast(fit.program, self._along(fit), self.data.bounds)
        whole, fitted = self._fitted_in(fit.program)
        return too_fast(whole.program, self._along(fit), self.data.bounds, fitted)

    def _fitted_in(self, program: Program) -> tuple[Complete, NDArray[np.bool_]]:
        """The whole system of what was found, and which of its constants are fitted."""
        whole = self.data.completed(program)
        owners, fixed = whole.owners[0], given_constants(program, self.data)
        return whole, (owners != STAYS) & ~(fixed[owners] if len(fixed) else False)

    def _along(self, fit: Fit) -> Floats:
        """What the equations of a system read at the observed times (N, V)."""
        return self.estimate.variables

    def ranked(self) -> list[Candidate]:
        """All systems that can be integrated, best criterion first."""
        finite = [found for found in self.found.values() if np.isfinite(found.criterion)]
        return in_order(finite)

    def _best_criterion(self) -> float:
        return min((found.criterion for found in self.found.values()), default=np.inf)

    def _best_error(self, among: Sequence[Form] | None = None) -> float:
        keys = self.found if among is None else {form.key for form in among} & self.found.keys()
        return min((self.found[key].fit.error for key in keys), default=np.inf)

    # ------------------------------------------------------------ what is left

    def _left(self) -> float:
        """The mean squared scaled residual that the true system would leave."""
        return FLOOR + self.estimate.left(self.data)

    def explained(self, among: Sequence[Form] | None = None) -> bool:
        """Whether what the best system (among some) leaves is just what the true one would leave."""
        ratio = (self._best_error(among) + FLOOR) / self._left()
        return bool(LITTLE < ratio < 1.0 + SURE * np.sqrt(2.0 / self.data.count))

    def fits_exactly(self, fit: Fit) -> bool:
        """Whether the data are exact, and a system leaves only what rounding and integration leave."""
        return self._exactness(fit.error) == 1.0

    def _exactness(self, error: float) -> float:
        """See `weights.exactness`; 0 where the data are noisy."""
        return 0.0 if self.estimate.smoothed else exactness(error, self.data.resolution)

    def may_be_exact(self, fit: Fit) -> bool:
        """Whether a system leaves less of exact data than approximations, or they are too coarse to tell."""
        finest = exactness(0.0, self.data.resolution)
        return finest == 0.0 or exactness(fit.error, self.data.resolution) > 0.0

    def exact(self) -> bool:
        """Whether the best system fits exactly."""
        ranked = self.ranked()
        return bool(ranked) and self.fits_exactly(ranked[0].fit)

    def settled(self) -> bool:
        """Whether there is no need to search on: the best system fits exactly, and would anywhere else.

        On one orbit, by the conservation of energy, the square of a velocity makes up for a force.
        """
        return self.exact() and not own_squares(self.ranked()[0].fit.program)

    # ------------------------------------------------------------ the choice

    def rescored(self, judge: Deadline | None = None) -> list[Candidate]:
        """The best systems in the order of the final criterion, which includes what the network thinks.

        Systems that are the same function on the data are one.  Those that the judge has no time for are left
        out, but never all of them.
        """
        judge = judge or Deadline(np.inf)
        best: list[Candidate] = []
        for found in self._with_prior(self.ranked()[:RESCORED], judge):
            if best and judge.over:
                break
            best.append(self._tried_elsewhere(found))
        return self._merged(in_order(best))

    def _merged(self, best: Sequence[Candidate]) -> list[Candidate]:
        """The same, without others that are the same function on the data.

        Exact systems that differ where the variables have values of other times are not the same: the data
        lie on a curve along which one may be written as the other.
        """
        states = self.estimate.variables
        if best and self.fits_exactly(best[0].fit):
            states = np.concatenate([states, np.random.default_rng(0).permuted(states, axis=0)])
        return merged(best, [found.fit.program for found in best], states, self._left())

    def _with_prior(self, best: list[Candidate], judge: Deadline) -> list[Candidate]:
        """The same systems with the network's log-probability in their criterion."""
        if self.log_prior is None or not best or judge.over:
            return best
        chances = np.full(len(best), -np.inf)
        surely = min(self._criterion(found, -np.inf) for found in best)
        for places in (range(ASKED_FIRST), range(ASKED_FIRST, len(best))):
            if judge.over:
                break
            # Some systems cannot come first whatever the network says: it is not asked about them.
            hopeful = [k for k in places if k < len(best) and self._hoped(best[k]) <= surely]
            if hopeful:
                asked = self.log_prior([self._whole(best[k].fit.program) for k in hopeful])
                chances[hopeful] = np.where(np.isnan(asked), -np.inf, asked)
            known = [self._criterion(best[k], float(chances[k])) for k in hopeful]
            surely = min([surely, *known])
        return [
            replace(found, criterion=self._criterion(found, float(chance)), chance=float(chance))
            for found, chance in zip(best, chances, strict=True)
        ]

    def _hoped(self, found: Candidate) -> float:
        """The smallest criterion that a system may have, compared with one that may still run away."""
        return self._criterion(found, BEST_PER_NODE * len(found.fit.program)) - RUNAWAY_COST

    def _tried_elsewhere(self, found: Candidate) -> Candidate:
        """The same system, penalized if it runs away from initial values near those of the data."""
        return tried_elsewhere(found, self.data)

    def weights(self, rescored: Sequence[Candidate], early: bool) -> Floats:
        """How far each of the rescored systems may be trusted; early: time ended the search."""
        states = None if self._all_known else self.estimate.states
        exact = 0.0 if self._all_known else self._exactness(rescored[0].fit.error)
        return weights_of(rescored, self.data, self._left(), early, states, exact)

    def _criterion(self, found: Candidate, log_probability: float) -> float:
        return self._criterion_of(found.fit, found.starts, log_probability)

    def _criterion_of(self, fit: Fit, starts: float, log_probability: float | None = None) -> float:
        """The criterion of a fit; an exact one gains where the data are exact."""
        value = criterion(fit, self.data, starts, log_probability)
        return value - EXACTLY * self._exactness(fit.error)

    def _whole(self, program: Program) -> Program:
        """The whole system in canonical form, for the network; what was found if it has none."""
        if self.data.given is None:
            return program
        with suppress(ExpressionError):
            return Form.of(self.data.completed(program).program).program
        return program
