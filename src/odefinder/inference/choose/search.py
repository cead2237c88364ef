"""From proposals to fitted systems: refit, recombine, search around the best, all within a time budget.

Proposals are whole systems (from the network or the user) and equations of single variables (from sparse
regression).  Everything is taken apart into equations, each fitted in integral form, where no ODE is solved;
the best are recombined, and the resulting systems are fitted on the integrated trajectories.
Under noise this is repeated with the best system's own trajectory as the state estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.choose.criterion import RUNAWAY_COST, criterion, runs_away, start_error
from odefinder.inference.choose.equations import LONGEST, Equations
from odefinder.inference.fit.horizon import fit_growing, fit_segments, segments
from odefinder.inference.fit.integral import match_system
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states, states_of_model
from odefinder.inference.propose.library import linear_equation
from odefinder.inference.propose.moves import altered, larger, smaller
from odefinder.inference.propose.sparse import propose
from odefinder.limits.deadline import Deadline

# Mean squared scaled residuals above which the best fit may be stuck in a local minimum.
STUCK, STUCK_CLEAN = 0.05, 1e-6
PROMISING, NEARLY_EXACT = 1e-3, 1e-6
HARD = 6  # how many systems are then fitted over short parts of the trajectories first
STEP = 2  # intervals from an observed state to the one that is predicted from it
RESCORED = 50  # systems whose structure the network scores
JUST_NOISE = (0.5, 1.5)  # residuals between these multiples of the noise count as noise alone
MUCH_NOISE = 0.1  # mean squared scaled residual: with noise this large, almost any system leaves only noise


@dataclass(frozen=True)
class SearchSettings:
    """How far the search goes."""

    sparse: bool = True
    whole: int = 12  # proposed systems that are fitted as they are
    equations: int = 10  # that are combined, per variable
    combined: int = 12  # systems that are put together from them, in each round
    rounds: int = 6  # of local search on clean data
    noisy_rounds: int = 1
    parents: int = 2  # best systems from which a round starts
    passes: int = 2  # with improved state estimates, on noisy data


@dataclass(frozen=True)
class Candidate:
    """A system with fitted constants, and where it came from."""

    fit: Fit
    source: str
    criterion: float  # smaller is better
    from_smoothed: float | None = None  # error from smoothed initial values, under noise


class Search:
    """The systems found so far for one set of data, in canonical units."""

    def __init__(
        self,
        data: Observations,
        estimate: StateEstimate,
        settings: SearchSettings | None = None,
        deadline: Deadline | None = None,
        log_prior: Callable[[Sequence[Program]], Floats] | None = None,
        operators: frozenset[str] | None = None,
    ):
        """log_prior: gives the log-probability of systems according to the network; `rescored` uses it.

        operators: those that may occur, add and mul among them; None: all.
        """
        self.data = data
        self.log_prior = log_prior
        self.first_estimate = estimate
        self.settings = settings or SearchSettings()
        self.deadline = deadline or Deadline(np.inf)
        self.found: dict[bytes, Candidate] = {}
        self.equations = Equations(data, estimate, operators)

    # ------------------------------------------------------------ results

    def ranked(self) -> list[Candidate]:
        """All systems that can be integrated, best criterion first."""
        finite = [found for found in self.found.values() if np.isfinite(found.criterion)]
        return sorted(finite, key=lambda found: (found.criterion, found.fit.error))

    def rescored(self) -> list[Candidate]:
        """The best systems in the order of the final criterion, which includes their structural prior."""
        best = [self._tried_elsewhere(found) for found in self._with_prior(self.ranked()[:RESCORED])]
        return sorted(best, key=lambda found: (found.criterion, found.fit.error))

    def _with_prior(self, best: list[Candidate]) -> list[Candidate]:
        """The same systems with the structural prior in their criterion."""
        if self.log_prior is None or not best:
            return best
        # Some systems cannot come first whatever their prior is: it is not computed for them.
        surely = min(self._criterion(found, -np.inf) for found in best)
        hopeful = [self._criterion(found, 0.0) <= surely + RUNAWAY_COST for found in best]
        chances = np.full(len(best), -np.inf)
        chances[hopeful] = self.log_prior([found.fit.program for found in compress(best, hopeful)])
        return [
            replace(found, criterion=self._criterion(found, float(chance)))
            for found, chance in zip(best, chances, strict=True)
        ]

    def _tried_elsewhere(self, found: Candidate) -> Candidate:
        """The same system, penalized if it runs away from initial values near those of the data."""
        away = runs_away(found.fit.program, found.fit.starts, self.data)
        return replace(found, criterion=found.criterion + RUNAWAY_COST) if away else found

    def _criterion(self, found: Candidate, log_probability: float) -> float:
        return criterion(
            found.fit, self.data, from_smoothed=found.from_smoothed, log_probability=log_probability
        )

    # ------------------------------------------------------------ stages

    def run(
        self, proposals: Sequence[Form], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Candidate]:
        """All stages, from proposed systems (in canonical units) up to the ranking that `rescored` refines.

        votes: how often each of them was proposed; None if that does not matter.
        """
        if votes is not None:
            self.equations.count_votes(proposals, votes)
        self.fit_whole(proposals, source)
        explained = self._noise_is_left()
        if self.first_estimate.noisy and (not explained or self._noise() > MUCH_NOISE):
            self._doubt_noise(proposals, source)
        noisy, settings = self.first_estimate.noisy, self.settings
        for number in range(settings.passes if noisy else 1):
            if self.deadline.over or (number > 0 and not self._improve_estimate()):
                break
            self.collect_equations(proposals, source)
            if settings.sparse and not (noisy and explained):  # with only noise left, it adds nothing
                self.propose_sparse()
            self.combine()
        for _ in range(settings.noisy_rounds if noisy else settings.rounds):
            if self.deadline.over or not self.search_around():
                break
        if settings.sparse and not self.deadline.stopped and not self.ranked():
            self._fit_linear()
        return self.ranked()

    def fit_whole(self, proposals: Sequence[Form], source: str) -> None:
        """Fit the proposed systems that describe the data best as they are."""
        starts = self.first_estimate.starts
        plain: list[float] = []
        for form in proposals:
            # At least one, however short the time.
            if self.deadline.stopped or (self.deadline.over and plain):
                break
            plain.append(fit_constants(form.program, self.data, starts=starts, iterations=0).error)
        for i in np.argsort(plain, kind="stable")[: self.settings.whole]:
            if self.deadline.stopped or (self.deadline.over and self.found):
                break
            self._fit(proposals[i], source)

    def fit_from_observed(self, proposals: Sequence[Form], source: str) -> None:
        """Fit the proposed systems that best predict observed states from earlier ones.

        This needs no states between the points, which cannot be estimated from few points of a fast signal.
        """
        part, starts = segments(self.data, self.equations.estimate.states, STEP)
        steps: list[float] = []
        for form in proposals:
            if self.deadline.over:
                break
            steps.append(fit_constants(form.program, part, starts=starts, iterations=5).error)
        for i in np.argsort(steps, kind="stable")[:HARD]:
            if self.deadline.over:
                break
            self._fit(proposals[i], source, hard=True)

    def collect_equations(self, proposals: Iterable[Form], source: str) -> None:
        """Take the proposed systems apart and fit every equation in integral form."""
        for form in proposals:
            for component, equation in enumerate(form.components()):
                if self.deadline.over:
                    return
                self.equations.match(component, equation, source)

    def propose_sparse(self) -> None:
        """Add the equations that sparse regression finds."""
        fronts = propose(self.data, self.equations.estimate, enough=lambda: self.deadline.over)
        for component, front in enumerate(fronts):
            for fit in front:
                self.equations.keep(component, fit, "sparse")

    def _fit_linear(self) -> None:
        """A linear system if there is no other, for lack of time or because none could be integrated."""
        dimension = self.data.dimension
        linear = concatenate([linear_equation(dimension)] * dimension)
        self._fit_program(match_system(linear, self.data, self.equations.estimate), "sparse")

    def combine(self, votes: bool = True) -> bool:
        """Combine the best equations and fit the systems; returns whether the best one improved.

        votes: also fit as many systems of the equations that were proposed most often.
        """
        before = self._best_criterion()
        rankings = (False, True) if votes and any(self.equations.votes) else (False,)
        kept, count = self.settings.equations, self.settings.combined
        for by_votes in rankings:
            for program, source in self.equations.combinations(kept, count, by_votes=by_votes):
                if self.deadline.over:
                    break
                self._fit_program(program, source)
        if self._best_error() > (STUCK if self.first_estimate.noisy else STUCK_CLEAN):
            for by_votes in rankings:
                hard = self.equations.combinations(kept, HARD, by_votes=by_votes, again=True)
                for program, source in hard:
                    if self.deadline.over:
                        break
                    self._fit_program(program, source, hard=True)
        return self._best_criterion() < before

    def search_around(self) -> bool:
        """One round of small changes to the best systems' equations; returns whether the best improved."""
        ranked = self.ranked()
        if not ranked:
            return False
        for parent in ranked[: self.settings.parents]:
            for component, equation in enumerate(parent.fit.program.components()):
                self.equations.match_program(component, equation, parent.source)
                for changed in self._changes(equation):
                    if self.deadline.over:
                        break
                    self.equations.match_program(component, changed, "search", iterations=8)
        return self.combine(votes=self.first_estimate.noisy)

    # ------------------------------------------------------------ parts

    def _noise_is_left(self) -> bool:
        """Whether what the best system leaves is just what was taken for noise."""
        return JUST_NOISE[0] * self._noise() < self._best_error() < JUST_NOISE[1] * self._noise()

    def _noise(self) -> float:
        """The mean squared scaled residual of a system that leaves just what was taken for noise."""
        return float(np.mean((self.first_estimate.noise / self.data.scale) ** 2))

    def _doubt_noise(self, proposals: Sequence[Form], source: str) -> None:
        """What looks like noise may be a fast signal with few points: a system that fits exactly shows it."""
        clean = estimate_states(self.data, noisy=False)
        attempt = Search(self.data, clean, self.settings, self.deadline, operators=self.equations.operators)
        kept, count = self.settings.equations, self.settings.combined
        voted = self.equations.most_voted(proposals, kept, count)
        attempt.fit_from_observed([*proposals, *voted], source)
        if attempt._best_error() > STUCK_CLEAN:
            attempt.collect_equations(proposals, source)
            if self.settings.sparse:
                attempt.propose_sparse()
            attempt.combine()
        if attempt._best_error() < STUCK_CLEAN:
            before = list(self.found.values())
            self.first_estimate, self.found = clean, attempt.found
            attempt.equations.votes = self.equations.votes
            self.equations = attempt.equations
            for found in before:
                self._fit_program(found.fit.program, found.source)

    def _changes(self, equation: Program) -> Iterator[Program]:
        yield from smaller(equation)
        if len(equation) < LONGEST:
            yield from larger(equation, self.data.dimension)
            yield from altered(equation, self.data.dimension)

    def _improve_estimate(self) -> bool:
        """Take the best system's own trajectory as the states and fit the equations again."""
        ranked = self.ranked()
        if not ranked:
            return False
        fit = ranked[0].fit
        better = states_of_model(fit.program, fit.starts, self.data, self.first_estimate)
        if better is None:
            return False
        self.equations.refit(better)
        return True

    def _fit_program(self, program: Program, source: str, hard: bool = False) -> None:
        """`_fit` for a system that may not be in canonical form."""
        with suppress(ExpressionError):
            self._fit(Form.of(program), source, hard)

    def _fit(self, form: Form, source: str, hard: bool = False) -> None:
        """Fit a system on the trajectories and keep it if it is the best of its structure."""
        program, key = form.program, form.key
        if not self.equations.allowed(program):
            return
        noisy, estimate = self.first_estimate.noisy, self.equations.estimate
        if hard:
            fit = fit_segments(program, self.data, estimate.states, fit_starts=noisy)
            if fit.error > STUCK:
                again = fit_growing(program, self.data, starts=estimate.starts, fit_starts=noisy)
                fit = min(fit, again, key=lambda one: one.error)
        else:
            fit = fit_constants(program, self.data, starts=estimate.starts, fit_starts=noisy)
        if not noisy and fit.error < PROMISING:  # what is left may be errors of the integration
            bends = fit.error < NEARLY_EXACT
            fit = fit_constants(
                fit.program, self.data, starts=fit.starts, rtol=1e-9, max_steps=10_000, bends=bends
            )
        known = self.found.get(key)
        if known is None or fit.error < known.fit.error:
            smoothed = start_error(fit, self.data, self.first_estimate.starts) if noisy else None
            value = criterion(fit, self.data, from_smoothed=smoothed)
            self.found[key] = Candidate(fit, source if known is None else known.source, value, smoothed)

    def _best_criterion(self) -> float:
        return min((found.criterion for found in self.found.values()), default=np.inf)

    def _best_error(self) -> float:
        return min((found.fit.error for found in self.found.values()), default=np.inf)
