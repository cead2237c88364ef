"""How systems get into the pool: fitted on the trajectories, closer where the data are exact, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace

import numpy as np

from odefinder.data.given import Given
from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, component_bounds, concatenate
from odefinder.inference.choose.alike import fast_waves, simplified
from odefinder.inference.choose.candidates import Candidate, alike_within
from odefinder.inference.choose.criterion import criterion, log_likelihood
from odefinder.inference.choose.equations import Equations
from odefinder.inference.choose.pool import Pool
from odefinder.inference.choose.pruning import pruned
from odefinder.inference.fit.horizon import fit_growing, fit_segments
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.simplest import simplest
from odefinder.limits.alarm import alarm_rings, no_alarm
from odefinder.limits.deadline import FIRST, Deadline

KNOWN = "known"  # the source of systems in which nothing was to be found
STUCK = 0.05  # mean squared scaled residual above which fits may be stuck, however large the noise seems
NEAR = 1e-3  # mean squared scaled residual below which a fit to exact data may turn out exact
SIMPLIFIED = 10  # systems that are also tried without what does nothing
# Systems whose terms are dropped one by one, as long as the criterion gains.  Of 44 random systems of second
# order (`benchmarks/second_order.py`), none was gained or lost by it; it takes 5 % of the time.
PRUNED = 3
NO_LOSS = 0.5  # nats of the likelihood that what does nothing may have explained


class FittedPool(Pool):
    """A pool of systems that are fitted within a time budget."""

    def __init__(
        self,
        data: Observations,
        estimate: StateEstimate,
        deadline: Deadline | None = None,
        log_prior: Callable[[Sequence[Program]], Floats] | None = None,
        operators: frozenset[str] | None = None,
    ):
        """log_prior: gives the log-probability of systems according to the network; `rescored` uses it.

        operators: those that may occur, add and mul among them; None: all.
        """
        super().__init__(data, estimate, log_prior)
        self.deadline = deadline or Deadline(np.inf)
        self.equations = Equations(data, estimate, operators)

    def rescored(self, judge: Deadline | None = None) -> list[Candidate]:
        """See `Pool.rescored`: the best systems without what does nothing on the data are among them."""
        self._simplify()
        return super().rescored(judge)

    def _simplify(self) -> None:
        """Put the best systems without what does nothing on the data in the place of those with it."""
        tolerance = alike_within(self._left())
        best = sorted(self.found.items(), key=lambda pair: pair[1].criterion)
        for key, found in best[:SIMPLIFIED]:
            if self.deadline.over:
                break
            simple = simplified(found.fit.program, self._along(found.fit), tolerance)
            if len(simple) < len(found.fit.program):
                again = self.fit_program(simple, found.source, found.fit.starts)
                if again is not None and self._same(again.fit, found.fit) and again is not found:
                    self.found.pop(key, None)

    def _same(self, fit: Fit, other: Fit) -> bool:
        """Whether the data do not tell two fits apart."""
        own, others = (
            log_likelihood(one.error, self.data.count, self.data.least_error) for one in (fit, other)
        )
        return others - own < NO_LOSS

    def prune(self) -> None:
        """Add the best systems without the terms that they do not need, dropped one by one."""
        for found in self.ranked()[:PRUNED]:

            def refit(fit: Fit, program: Program, source: str = found.source) -> tuple[Fit, float] | None:
                if self.deadline.over:
                    return None
                smaller = self._found_of(program) or self.fit_program(program, source, fit.starts)
                return (fit, np.inf) if smaller is None else (smaller.fit, smaller.criterion)

            pruned(found.fit, self.data, refit, found.criterion)

    def _too_much(self) -> float:
        """What a fit leaves that may have ended in a local minimum, a mean squared scaled residual.

        On a logarithmic scale, it is nearer to no explanation at all than to the true system.
        """
        return min(float(np.sqrt(self._left())), STUCK)

    def _found_of(self, program: Program) -> Candidate | None:
        """The best system of a structure, if it has been fitted."""
        with suppress(ExpressionError):
            return self.found.get(Form.of(program).key)
        return None

    def fit_program(
        self, program: Program, source: str, starts: Floats | None = None, hard: bool = False
    ) -> Candidate | None:
        """`_fit` for a system that may not be in canonical form, or lacks the named constants.

        Returns the best system of its structure, if there is one.
        """
        given = self.data.given
        if given is not None and len(component_bounds(program.ops)) == self.data.dimension:
            program = given.with_numbers(program)
        with suppress(ExpressionError):
            self._fit(Form.of(program), source, starts, hard)
        return self._found_of(program)

    def _fit(self, form: Form, source: str, starts: Floats | None = None, hard: bool = False) -> None:
        """Fit a system on the trajectories and keep it if it is the best of its structure.

        starts: initial values to begin with; by default those of the smoothed states.
        """
        program = form.program
        if self.equations.operators is not None and not program.operators() <= self.equations.operators:
            return
        estimate, free = self.equations.estimate, self.estimate.smoothed
        if hard:
            fit = fit_segments(program, self.data, estimate.states, fit_starts=free)
            if fit.error > self._too_much():
                again = fit_growing(program, self.data, starts=estimate.starts, fit_starts=free)
                fit = min(fit, again, key=lambda one: one.error)
        else:
            first = estimate.starts if starts is None else starts
            fit = fit_constants(program, self.data, starts=first, fit_starts=free)
        self.add(form, fit, source)

    def add(self, form: Form, fit: Fit, source: str) -> None:
        """Keep a fitted system if it is the best of its structure, that of the form.

        A fit moves all constants, among them the 1 in 1/(1 + a x), which says nothing: the network would not
        recognise what it had written.
        """
        if not self.estimate.smoothed and fit.error < NEAR:  # what is left may be errors of the integration
            bends = fit.error < NEAR**2
            closer = fit_constants(
                fit.program, self.data, starts=fit.starts, rtol=1e-9, max_steps=10_000, bends=bends
            )
            fit = fit if alarm_rings() and not np.isfinite(closer.error) else closer
        with suppress(ExpressionError):
            again = Form.of(fit.program)
            fit = replace(fit, program=again.program) if again.key == form.key else fit
        if self.data.given is None or self._allowed(fit.program, self.data.given):
            self.store(form.key, fit, source)

    def _allowed(self, program: Program, given: Given) -> bool:
        """Whether no sign has changed, and no term is a forbidden one with something that does nothing."""
        if not self.equations.allowed(program):
            return False
        if not any(rule is not None for rule in given.terms):
            return True
        simple = simplified(program, self.estimate.variables, alike_within(self._left()))
        return len(simple) == len(program) or self.equations.allowed(simple)

    def _little_time(self) -> AbstractContextManager[object]:
        """However short the time, a first system gets a little of it."""
        return Deadline(FIRST) if self.deadline.over and not self.found else nullcontext()

    # ------------------------------------------------------------ systems that need no search

    def fit_known(self) -> None:
        """Fit the named constants of a system in which nothing is to be found."""
        nothing = [
            one for k in range(self.data.dimension) if (one := self.data.given_equation(k)) is not None
        ]
        self.fit_program(concatenate(nothing), KNOWN)
        if self._best_error() > self._too_much():
            self.fit_program(concatenate(nothing), KNOWN, hard=True)
        for found in self.ranked():  # there is one
            for slower in self._slower(found.fit):
                self.fit_program(slower, KNOWN)

    def _slower(self, fit: Fit) -> Iterator[Program]:
        """The system with slower waves where they are faster than the data can tell; not yet fitted."""
        whole, fitted = self._fitted_in(fit.program)
        for constants, share in fast_waves(whole.program, self._along(fit), self.data.bounds, fitted):
            own = whole.owners[0, constants][fitted[constants]]
            values = fit.program.constants
            values[own] *= share
            yield fit.program.with_constants(values)

    def fit_simplest(self) -> None:
        """The system that always exists."""
        fit = simplest(self.data, self.estimate.starts)
        with suppress(ExpressionError), no_alarm():
            self.found[Form.of(fit.program).key] = Candidate(fit, "sparse", criterion(fit, self.data))
