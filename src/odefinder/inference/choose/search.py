"""From proposals to fitted systems: refit, recombine, search around the best, all within a time budget.

Proposals are whole systems (from the network or the user) and equations of single variables (from sparse
regression).  Everything is taken apart into equations, each fitted in integral form along an estimate of the
states, where no ODE is solved; the best are recombined, and the resulting systems are fitted on the
integrated trajectories.  All systems share one pool and one criterion, whichever estimate they come from: the
first one, the trajectory of the best system so far, and a curve through all points where what is left cannot
be the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.canonical import structure
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.copies import systems_of_copies
from odefinder.inference.choose.equations import LONGEST
from odefinder.inference.choose.fitted import FittedPool
from odefinder.inference.fit.horizon import segments
from odefinder.inference.fit.integral import joined, match_system
from odefinder.inference.fit.refine import FLOOR, fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states, states_of_model
from odefinder.inference.propose.divided import divided_polynomials
from odefinder.inference.propose.equivalent import equivalent_systems
from odefinder.inference.propose.library import linear_equation
from odefinder.inference.propose.likeliest import Outline
from odefinder.inference.propose.moves import altered, larger, smaller
from odefinder.inference.propose.sharing import shared_equations
from odefinder.inference.propose.sparse import propose, propose_polynomials
from odefinder.limits.deadline import Deadline

HARD = 6  # systems that are fitted over short parts of the trajectories first, where the search is stuck
STEP = 2  # intervals from an observed state to the one that is predicted from it
NARROW = 0.01  # spread of a variable relative to its level
OUTLINED = 50  # samples among which an outline has as many votes as it would be expected to
MOST_CONSTANTS = 600  # of a linear system where nothing else was found


@dataclass(frozen=True)
class SearchSettings:
    """How far the search goes."""

    sparse: bool = True
    whole: int = 12  # proposed systems that are fitted as they are
    equations: int = 10  # that are combined, per variable
    combined: int = 12  # systems that are put together from them, in each round
    rounds: int = 6  # of local search, as long as there is more left than noise
    parents: int = 2  # best systems from which a round starts
    passes: int = 2  # with improved estimates of smoothed states
    hidden_size: float = 1.0  # of observed states, in the user's units: known equations may have hidden ones
    factors: Floats | None = None  # the units of the variables: identical ones have equal constants there
    copies: int = 4  # systems of identical units that are fitted before each round, where there are some
    equivalents: int = 12  # systems that exact data do not tell from the best one


class Search(FittedPool):
    """The stages that fill the pool."""

    def __init__(
        self,
        data: Observations,
        estimate: StateEstimate,
        settings: SearchSettings | None = None,
        deadline: Deadline | None = None,
        log_prior: Callable[[Sequence[Program]], Floats] | None = None,
        operators: frozenset[str] | None = None,
    ):
        """For log_prior and operators see `FittedPool`."""
        super().__init__(data, estimate, deadline, log_prior, operators)
        self.settings = settings or SearchSettings()
        self.outlines: Sequence[Sequence[Outline]] = ()  # of each variable's equation, likeliest first
        self._copied: set[bytes] = set()  # systems of identical bodies that were fitted
        self._has_polynomials = False
        self._proposed: set[bytes] = set()  # systems that were fitted as they were proposed

    # ------------------------------------------------------------ stages

    def run(
        self, proposals: Sequence[Form], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Candidate]:
        """All stages, from proposed systems (in canonical units) up to the ranking that `rescored` refines.

        votes: how often each of them was proposed; None if that does not matter.
        """
        if self._all_known:
            self.fit_known()
            return self.ranked()
        if votes is not None:
            self.equations.count_votes(proposals, votes)
            self.equations.count_outlines(self.outlines, OUTLINED)
        if self.settings.sparse and not self._has_polynomials:
            self.fit_polynomials()
        self.fit_whole(proposals, source)
        # Whatever the truth is, some polynomial leaves just the noise: it says nothing.
        if self.estimate.smoothed and not self.explained(proposals):
            self._doubt_noise(proposals, source)
        enough = self.settled() or (self.estimate.smoothed and self.explained(proposals))
        for number in range(self.settings.passes if self.estimate.smoothed else 1):
            if self.deadline.over or (number > 0 and not self._improve_estimate()):
                break
            self.collect_equations(proposals, source)
            self.collect_outlines(source)
            if self.settings.sparse and not enough:  # with only noise left, it adds nothing
                self.propose_sparse()
            self.combine()
        self.prune()  # before the rounds, which time may cut short, and after them
        for _ in range(self.settings.rounds):
            if self.deadline.over or self.settled() or not self.search_around() or self.explained():
                break
        self.prune()
        self.fit_equivalents()
        if self.settings.sparse and not self.deadline.stopped and not self.ranked():
            self._fit_linear()
        return self.ranked()

    def fit_polynomials(self) -> None:
        """Sparse linear, quadratic and cubic systems: they are always in the pool, and come first.

        Their equations are not combined with others, where they would leave no room for proposed ones.
        """
        for fronts in propose_polynomials(self.data, self.estimate, enough=lambda: self.deadline.over):
            if all(fronts) and not self.deadline.over:
                self.fit_program(joined([front[0] for front in fronts], self.data), "sparse")
        for program in divided_polynomials(self.data, self.estimate, enough=lambda: self.deadline.over):
            if not self.deadline.over:
                self.fit_program(program, "sparse")
        if not self.deadline.over and self.data.given is None and self._narrow():
            self._fit_linear()
        self._has_polynomials = not self.deadline.over

    def _narrow(self) -> bool:
        """Whether a variable hardly moves from its level, which selection cannot tell from a constant."""
        states = self.data.states[:, ~self.data.unseen]
        return bool(np.any(np.nanstd(states, axis=0) < NARROW * np.abs(np.nanmean(states, axis=0))))

    def fit_whole(self, proposals: Sequence[Form], source: str) -> None:
        """Fit the proposed systems that describe the data best as they are."""
        starts = self.estimate.starts
        plain: list[float] = []
        for form in proposals:
            # At least one, however short the time.
            if self.deadline.stopped or (self.deadline.over and plain):
                break
            with self._little_time():
                plain.append(fit_constants(form.program, self.data, starts=starts, iterations=0).error)
        for i in np.argsort(plain, kind="stable")[: self.settings.whole]:
            if self.deadline.stopped or (self.deadline.over and self.found):
                break
            if proposals[i].key in self._proposed:
                continue
            with self._little_time():
                self._fit(proposals[i], source)
                self._proposed.add(proposals[i].key)

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
            data = self._from_numbers_of(form)
            for component, equation in enumerate(form.components()[: self.data.dimension]):
                if self.deadline.over:
                    return
                self.equations.match(component, equation, source, data=data)

    def collect_outlines(self, source: str) -> None:
        """Fit the equations of outlines in integral form, the likeliest of every variable first."""
        for of_same_rank in zip_longest(*self.outlines):
            for component, outline in enumerate(of_same_rank):
                if self.deadline.over:
                    return
                if outline is not None:
                    self.equations.match_outline(component, outline.form, source)

    def _from_numbers_of(self, form: Form) -> Observations:
        """The data with the named constants of a proposed system as their first values."""
        given = self.data.given
        if given is None or len(given.values) == 0:
            return self.data
        values = given.named(given.numbers_of(form.program))
        return replace(self.data, given=replace(given, values=values))

    def propose_sparse(self) -> None:
        """Add the equations that sparse regression finds."""
        fronts = propose(
            self.data,
            self.equations.estimate,
            enough=lambda: self.deadline.over,
            factors=self.settings.factors,
        )
        for component, front in enumerate(fronts):
            for fit in front:
                self.equations.keep(component, fit, "sparse")

    def _fit_linear(self) -> None:
        """A linear system if there is no other, for lack of time or because none could be integrated."""
        if self.data.dimension * (self.data.variables + 1) > MOST_CONSTANTS:
            return
        linear = concatenate([linear_equation(self.data.variables)] * self.data.dimension)
        with self._little_time():
            self.fit_program(match_system(linear, self.data, self.equations.estimate), "sparse")

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
                self.fit_program(program, source)
        if self._best_error() > self._too_much():
            for by_votes in rankings:
                hard = self.equations.combinations(kept, HARD, by_votes=by_votes, again=True)
                for program, source in hard:
                    if self.deadline.over:
                        break
                    self.fit_program(program, source, hard=True)
        return self._best_criterion() < before

    def search_around(self) -> bool:
        """One round of small changes to the best systems' equations; returns whether the best improved."""
        self._fit_copies()
        ranked = self.ranked()
        if not ranked:
            return False
        for component, equation in shared_equations(
            self.data.equations_of(ranked[0].fit.program), self.data.closed, self.data.velocities
        ):
            if self.deadline.over:
                break
            self.equations.match_program(component, equation, "search", iterations=8)
        for parent in ranked[: self.settings.parents]:
            for component, equation in enumerate(self.data.equations_of(parent.fit.program)):
                if component in self.data.closed or self.deadline.over:
                    continue
                self.equations.match_program(component, equation, parent.source)
                for changed in self._changes(equation):
                    if self.deadline.over:
                        break
                    self.equations.match_program(component, changed, "search", iterations=8)
        return self.combine(votes=self.estimate.smoothed)

    def _fit_copies(self) -> None:
        """Fit systems of identical bodies: one law of motion, with the variables exchanged."""
        if len(self.data.velocities) < 2 or self.deadline.over:
            return
        factors = np.ones(self.data.variables) if self.settings.factors is None else self.settings.factors
        kept, count = self.settings.equations, self.settings.copies
        for program in systems_of_copies(self.data, self.equations, factors, kept, count):
            key = structure(program)
            if not self.deadline.over and key not in self._copied:
                self._copied.add(key)
                self.fit_program(program, "search")

    def fit_equivalents(self) -> None:
        """Where the data are exact: fit what they do not tell from the best system."""
        if not self.exact() or self.data.given is not None or self.deadline.over:
            return
        best = self.ranked()[0]
        path = states_of_model(best.fit.program, best.fit.starts, self.data, self.estimate)
        if path is None:
            return
        others = equivalent_systems(
            best.fit.program, path.variables, self.data.closed, self.settings.equivalents
        )
        for program in others:
            if self.deadline.over:
                break
            if self._found_of(program) is None:
                self.fit_program(program, "search", best.fit.starts)

    # ------------------------------------------------------------ parts

    def _doubt_noise(self, proposals: Sequence[Form], source: str) -> None:
        """What looks like noise may be a fast signal with few points: a system that fits exactly shows it.

        The pool gets systems from a curve through all points, too.  If one of them is exact, so are the data.
        """
        if self.deadline.over:
            return
        exact = estimate_states(self.data, smoothed=False)
        attempt = Search(self.data, exact, self.settings, self.deadline, operators=self.equations.operators)
        attempt.outlines = self.outlines
        kept, count = self.settings.equations, self.settings.combined
        voted = self.equations.most_voted(proposals, kept, count)
        attempt.fit_from_observed([*proposals, *voted], source)
        # Nearer to an exact fit than to the noise, on a logarithmic scale.
        limit = np.sqrt(FLOOR * self._left())
        if attempt._best_error() > limit:
            attempt.collect_equations(proposals, source)
            attempt.collect_outlines(source)
            if self.settings.sparse:
                attempt.propose_sparse()
            attempt.combine()
        if attempt._best_error() > limit:
            for found in attempt.ranked()[:HARD]:
                self.fit_program(found.fit.program, found.source)
        else:
            before = list(self.found.values())
            attempt.equations.votes = self.equations.votes
            self.estimate, self.found, self.equations = exact, attempt.found, attempt.equations
            for found in before:
                self.fit_program(found.fit.program, found.source)

    def _changes(self, equation: Program) -> Iterator[Program]:
        yield from smaller(equation)
        if len(equation) < LONGEST:
            yield from larger(equation, self.data.variables)
            yield from altered(equation, self.data.variables)

    def _improve_estimate(self) -> bool:
        """Take the best system's own trajectory as the states and fit the equations again."""
        ranked = self.ranked()
        if not ranked:
            return False
        fit = ranked[0].fit
        better = states_of_model(fit.program, fit.starts, self.data, self.estimate)
        if better is None:
            return False
        self.equations.refit(better)
        return True
