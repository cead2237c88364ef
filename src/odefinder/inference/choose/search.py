"""From proposals to fitted systems: refit, recombine, search around the best, all under a budget of time.

Proposals are whole systems (from the network or the user) and equations of single variables (from sparse
regression).  Everything is taken apart into equations, each fitted in integral form, where no ODE is solved;
the best are put together anew, and the systems that come out are fitted on the integrated trajectories.
Under noise this is repeated with the best system's own trajectory as the state estimate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import compress, islice

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.choose.criterion import RUNAWAY_COST, criterion, runs_away, start_error
from odefinder.inference.fit.horizon import fit_growing, fit_segments, segments
from odefinder.inference.fit.integral import ComponentFit, match_component, match_system
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states, states_of_model
from odefinder.inference.propose.library import linear_equation
from odefinder.inference.propose.moves import altered, larger, smaller
from odefinder.inference.propose.sparse import propose, smallest_sums
from odefinder.limits.deadline import Deadline

# Mean squared scaled residuals above which fits may be caught in local minima.
POOR, POOR_CLEAN = 0.05, 1e-6
PROMISING, NEARLY_EXACT = 1e-3, 1e-6
HARD = 6  # systems that are then fitted over short parts of the trajectories first
STEP = 2  # intervals from one observed state to another
LONGEST = 60  # nodes of an equation
JUDGED = 50  # systems that the judge ranks
# Under noise the equations that many of the network's samples share are more often right than those that fit
# best: each factor of e in their number counts as much as so many in the likelihood.
VOTE_WEIGHT, NO_VOTE = 5.0, 0.3
JUST_NOISE = (0.5, 1.5)  # what a fit leaves, in units of the noise, if that is all that is left
MUCH_NOISE = 0.1  # mean squared scaled residual: with so much, almost any system leaves just noise


@dataclass(frozen=True)
class SearchSettings:
    """How far the search goes."""

    sparse: bool = True
    operators: frozenset[str] | None = None  # those that may occur, add and mul among them; None: all
    whole: int = 12  # proposed systems that are fitted as they are
    equations: int = 10  # of each variable that are combined
    combined: int = 12  # systems that are put together from them, in each round
    rounds: int = 6  # of local search on clean data
    noisy_rounds: int = 1
    parents: int = 2  # best systems that a round begins with
    passes: int = 2  # with improved state estimates, on noisy data


@dataclass(frozen=True)
class Found:
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
        judge: Callable[[Sequence[Program]], Floats] | None = None,
    ):
        """judge: the log-probability of systems, by which `judged` ranks them."""
        self.data = data
        self.judge = judge
        self.first_estimate = self.estimate = estimate
        self.settings = settings or SearchSettings()
        self.deadline = deadline or Deadline(np.inf)
        self.found: dict[bytes, Found] = {}
        self._fronts: list[dict[bytes, tuple[ComponentFit, str]]] = [{} for _ in range(data.dimension)]
        self._votes: list[Counter[bytes]] = [Counter() for _ in range(data.dimension)]
        self._tried: set[tuple[bytes, ...]] = set()

    # ------------------------------------------------------------ results

    def ranked(self) -> list[Found]:
        """All systems that can be integrated, best criterion first."""
        finite = [found for found in self.found.values() if np.isfinite(found.criterion)]
        return sorted(finite, key=lambda found: (found.criterion, found.fit.error))

    def judged(self) -> list[Found]:
        """The best systems in the order of the final criterion, which asks the judge."""
        best = [self._tried_elsewhere(found) for found in self._asked(self.ranked()[:JUDGED])]
        return sorted(best, key=lambda found: (found.criterion, found.fit.error))

    def _asked(self, best: list[Found]) -> list[Found]:
        """The same systems with the judge's word in their criterion."""
        if self.judge is None or not best:
            return best
        # Whatever the judge says, some cannot come first: it is not asked about them.
        surely = min(self._criterion(found, -np.inf) for found in best)
        hopeful = [self._criterion(found, 0.0) <= surely + RUNAWAY_COST for found in best]
        chances = np.full(len(best), -np.inf)
        chances[hopeful] = self.judge([found.fit.program for found in compress(best, hopeful)])
        return [
            replace(found, criterion=self._criterion(found, float(chance)))
            for found, chance in zip(best, chances, strict=True)
        ]

    def _tried_elsewhere(self, found: Found) -> Found:
        """The same system, at a cost if it runs away from initial values near those of the data."""
        away = runs_away(found.fit.program, found.fit.starts, self.data)
        return replace(found, criterion=found.criterion + RUNAWAY_COST) if away else found

    def _criterion(self, found: Found, log_probability: float) -> float:
        return criterion(
            found.fit, self.data, from_smoothed=found.from_smoothed, log_probability=log_probability
        )

    # ------------------------------------------------------------ stages

    def run(
        self, proposals: Sequence[Program], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Found]:
        """Everything, from proposed systems (in canonical units) to the ranking before the judge's.

        votes: how often each of them was proposed; None: it does not matter.
        """
        if votes is not None:
            self._count_votes(proposals, votes)
        self.fit_whole(proposals, source)
        explained = self._noise_is_left()
        if self.first_estimate.noisy and (not explained or self._noise() > MUCH_NOISE):
            self._doubt_noise(proposals, source)
        noisy, settings = self.first_estimate.noisy, self.settings
        for number in range(settings.passes if noisy else 1):
            if self.deadline.over or (number > 0 and not self._improve_estimate()):
                break
            self.collect_equations(proposals, source)
            if settings.sparse and not (noisy and explained):  # then regression adds nothing
                self.propose_sparse()
            self.combine()
        for _ in range(settings.noisy_rounds if noisy else settings.rounds):
            if self.deadline.over or not self.search_around():
                break
        if settings.sparse and not self.deadline.stopped and not self.ranked():
            self._fit_linear()
        return self.ranked()

    def fit_whole(self, proposals: Sequence[Program], source: str) -> None:
        """Fit the proposed systems that describe the data best as they are."""
        starts = self.first_estimate.starts
        plain: list[float] = []
        for program in proposals:
            if self.deadline.stopped or (
                self.deadline.over and plain
            ):  # one at least, however short the time
                break
            plain.append(fit_constants(program, self.data, starts=starts, iterations=0).error)
        for i in np.argsort(plain, kind="stable")[: self.settings.whole]:
            if self.deadline.stopped or (self.deadline.over and self.found):
                break
            self._fit(proposals[i], source)

    def fit_from_observed(self, proposals: Sequence[Program], source: str) -> None:
        """Fit the proposed systems that lead best from observed states to the next ones.

        This needs no states between the points, which few points of a fast signal do not tell.
        """
        part, starts = segments(self.data, self.estimate.states, STEP)
        steps: list[float] = []
        for program in proposals:
            if self.deadline.over:
                break
            steps.append(fit_constants(program, part, starts=starts, iterations=5).error)
        for i in np.argsort(steps, kind="stable")[:HARD]:
            if self.deadline.over:
                break
            self._fit(proposals[i], source, hard=True)

    def collect_equations(self, proposals: Iterable[Program], source: str) -> None:
        """Take the proposed systems apart and fit every equation in integral form."""
        for program in proposals:
            for component, equation in enumerate(program.components()):
                if self.deadline.over:
                    return
                self._match(component, equation, source)

    def propose_sparse(self) -> None:
        """Add the equations that sparse regression finds."""
        for component, front in enumerate(
            propose(self.data, self.estimate, enough=lambda: self.deadline.over)
        ):
            for fit in filter(lambda fit: self._allowed(fit.program), front):
                self._keep(component, fit, "sparse")

    def _fit_linear(self) -> None:
        """A linear system, where there is no other: for lack of time, or because none could be integrated."""
        dimension = self.data.dimension
        linear = concatenate([linear_equation(dimension)] * dimension)
        self._fit(match_system(linear, self.data, self.estimate), "sparse")

    def combine(self, votes: bool = True) -> bool:
        """Put the best equations together and fit the systems; whether the best one is better than before.

        votes: and as many again by how often they were proposed.
        """
        before = self._best_criterion()
        rankings = (False, True) if votes and any(self._votes) else (False,)
        for by_votes in rankings:
            for programs, source in self._combinations(self.settings.combined, by_votes):
                if self.deadline.over:
                    break
                self._fit(concatenate(programs), source)
        if self._best_error() > (POOR if self.first_estimate.noisy else POOR_CLEAN):
            for by_votes in rankings:
                for programs, source in self._combinations(HARD, by_votes, again=True):
                    if self.deadline.over:
                        break
                    self._fit(concatenate(programs), source, hard=True)
        return self._best_criterion() < before

    def search_around(self) -> bool:
        """One round of small changes to the equations of the best systems; whether something was won."""
        ranked = self.ranked()
        if not ranked:
            return False
        for parent in ranked[: self.settings.parents]:
            for component, equation in enumerate(parent.fit.program.components()):
                self._match(component, equation, parent.source)
                for changed in self._changes(equation):
                    if self.deadline.over:
                        break
                    self._match(component, changed, "search", iterations=8)
        return self.combine(votes=self.first_estimate.noisy)

    # ------------------------------------------------------------ parts

    def _noise_is_left(self) -> bool:
        """Whether the best system leaves just what was taken for noise."""
        return JUST_NOISE[0] * self._noise() < self._best_error() < JUST_NOISE[1] * self._noise()

    def _noise(self) -> float:
        """The mean squared scaled residual of a system that leaves just what was taken for noise."""
        return float(np.mean((self.first_estimate.noise / self.data.scale) ** 2))

    def _doubt_noise(self, proposals: Sequence[Program], source: str) -> None:
        """What looks like noise may be a fast signal with few points: a system that fits exactly tells."""
        clean = estimate_states(self.data, noisy=False)
        attempt = Search(self.data, clean, self.settings, self.deadline)
        attempt.fit_from_observed([*proposals, *self._most_voted(proposals)], source)
        if attempt._best_error() > POOR_CLEAN:
            attempt.collect_equations(proposals, source)
            if self.settings.sparse:
                attempt.propose_sparse()
            attempt.combine()
        if attempt._best_error() < POOR_CLEAN:
            before = list(self.found.values())
            self.first_estimate = self.estimate = clean
            self.found, self._fronts, self._tried = attempt.found, attempt._fronts, attempt._tried
            for found in before:
                self._fit(found.fit.program, found.source)

    def _changes(self, equation: Program) -> Iterator[Program]:
        yield from smaller(equation)
        if len(equation) < LONGEST:
            yield from larger(equation, self.data.dimension)
            yield from altered(equation, self.data.dimension)

    def _improve_estimate(self) -> bool:
        """Take the best system's own trajectory as the states; the equations must be fitted anew."""
        ranked = self.ranked()
        if not ranked:
            return False
        fit = ranked[0].fit
        better = states_of_model(fit.program, fit.starts, self.data, self.first_estimate)
        if better is None:
            return False
        self.estimate = better
        before = self._fronts
        self._fronts = [{} for _ in before]
        for component, front in enumerate(before):
            for known, source in front.values():
                self._match(component, known.program, source)
        return True

    def _count_votes(self, proposals: Sequence[Program], votes: Sequence[int]) -> None:
        for program, count in zip(proposals, votes, strict=True):
            for of_component, equation in zip(self._votes, program.components(), strict=True):
                with suppress(ExpressionError):  # such as 1 / 0
                    of_component[structure(canonical(equation, explicit=True))] += count

    def _most_voted(self, proposals: Sequence[Program]) -> Iterator[Program]:
        """Systems of the equations that most proposals share."""
        equations: list[dict[bytes, Program]] = [{} for _ in self._votes]
        for program in proposals:
            for known, equation in zip(equations, program.components(), strict=True):
                with suppress(ExpressionError):
                    equation = canonical(equation, explicit=True)
                    known.setdefault(structure(equation), equation)
        scored = [
            [(-float(np.log(count)), key) for key, count in votes.most_common(self.settings.equations)]
            for votes in self._votes
        ]
        for keys in smallest_sums(scored, self.settings.combined) if all(scored) else ():
            yield concatenate([known[key] for known, key in zip(equations, keys, strict=True)])

    def _match(self, component: int, equation: Program, source: str, iterations: int = 20) -> None:
        try:
            equation = canonical(equation, explicit=True)
        except ExpressionError:
            return
        key = structure(equation)
        if key in self._fronts[component] or len(equation) > 2 * LONGEST or not self._allowed(equation):
            return
        fit = match_component(equation, component, self.data, self.estimate, iterations=iterations)
        self._keep(component, fit, source)

    def _keep(self, component: int, fit: ComponentFit, source: str) -> None:
        key = structure(fit.program)
        known = self._fronts[component].get(key)
        if known is None or fit.score < known[0].score:
            self._fronts[component][key] = (fit, source if known is None else known[1])

    def _combinations(
        self, count: int, by_votes: bool, again: bool = False
    ) -> Iterator[tuple[list[Program], str]]:
        """So many systems of smallest summed scores that were not tried before."""
        scored = [self._best_equations(component, by_votes) for component in range(len(self._fronts))]
        fresh = [keys for keys in smallest_sums(scored, 8 * count) if again or keys not in self._tried]
        for keys in islice(fresh, count):
            self._tried.add(keys)
            parts = [front[key] for front, key in zip(self._fronts, keys, strict=True)]
            sources = {source for _, source in parts}
            source = sources.pop() if len(sources) == 1 else "search"
            yield [fit.program for fit, _ in parts], source

    def _best_equations(self, component: int, by_votes: bool) -> list[tuple[float, bytes]]:
        """Scores and keys of the equations that are combined, best first.

        by_votes: under noise those that many proposals share come first; on clean data, where the score says
        more, it counts among those that were proposed.
        """
        votes, noisy = self._votes[component], self.first_estimate.noisy
        weight = 2.0 * VOTE_WEIGHT if by_votes and noisy else 0.0
        scored = [
            (fit.score - weight * float(np.log(votes[key] + NO_VOTE)), key)
            for key, (fit, _) in self._fronts[component].items()
            if np.isfinite(fit.score) and (noisy or not by_votes or key in votes)
        ]
        return nsmallest(self.settings.equations, scored, key=lambda pair: pair[0])

    def _fit(self, program: Program, source: str, hard: bool = False) -> None:
        """Fit a system on the trajectories and keep it, if it is the best of its structure."""
        try:
            program = canonical(program, explicit=True)
            key = structure(program)
        except ExpressionError:
            return
        if not self._allowed(program):
            return
        noisy, estimate = self.first_estimate.noisy, self.estimate
        if hard:
            fit = fit_segments(program, self.data, estimate.states, fit_starts=noisy)
            if fit.error > POOR:
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
            self.found[key] = Found(fit, source if known is None else known.source, value, smoothed)

    def _allowed(self, program: Program) -> bool:
        operators = self.settings.operators
        return operators is None or program.operators() <= operators

    def _best_criterion(self) -> float:
        return min((found.criterion for found in self.found.values()), default=np.inf)

    def _best_error(self) -> float:
        return min((found.fit.error for found in self.found.values()), default=np.inf)
