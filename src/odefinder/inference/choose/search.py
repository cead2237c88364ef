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
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, component_bounds, concatenate
from odefinder.inference.choose.alike import distinct, simplified, too_fast
from odefinder.inference.choose.criterion import (
    RUNAWAY_COST,
    criterion,
    elsewhere,
    log_starts,
    log_structure,
)
from odefinder.inference.choose.equations import LONGEST, Equations
from odefinder.inference.choose.weights import weights
from odefinder.inference.fit.horizon import fit_growing, fit_segments, segments
from odefinder.inference.fit.integral import joined, match_system
from odefinder.inference.fit.refine import FLOOR, Fit, fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states, states_of_model
from odefinder.inference.propose.library import linear_equation
from odefinder.inference.propose.moves import altered, larger, smaller
from odefinder.inference.propose.sharing import shared_equations
from odefinder.inference.propose.simplest import simplest
from odefinder.inference.propose.sparse import propose, propose_polynomials
from odefinder.limits.alarm import alarm_rings, no_alarm
from odefinder.limits.deadline import FIRST, Deadline

KNOWN = "known"  # the source of systems in which nothing was to be found
STUCK = 0.05  # mean squared scaled residual above which fits may be stuck, however large the noise seems
NEAR = 1e-3  # mean squared scaled residual below which a fit to exact data may turn out exact
HARD = 6  # systems that are fitted over short parts of the trajectories first, where the search is stuck
STEP = 2  # intervals from an observed state to the one that is predicted from it
RESCORED, ASKED_FIRST = 50, 12  # systems whose structure the network scores, and how many of them at first
SIMPLIFIED = 10  # systems that are also tried without what does nothing
BEST_PER_NODE = -0.5  # log-probability: one in a hundred candidates has more
NARROW = 0.01  # spread of a variable relative to its level
SURE = 5.0  # standard errors by which what is left exceeds the noise
LITTLE = 0.5  # share of the noise: where less is left, there was no such noise
SAME = 0.1  # share of the noise by which right-hand sides may differ that are the same function
MOST_CONSTANTS = 600  # of a linear system where nothing else was found
MUCH_NOISE = 0.1  # mean squared scaled residual: with noise this large, almost any system leaves only noise


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
    hidden_size: float = (
        1.0  # of observed states, in the user's units: where known equations have hidden ones
    )


@dataclass(frozen=True)
class Candidate:
    """A system with fitted constants, and where it came from."""

    fit: Fit
    source: str
    criterion: float  # minus its log-posterior in nats: smaller is better
    starts: float = 0.0  # what its fitted initial values cost
    familiarity: float = 0.0  # log prior of its structure per node; `rescored` knows it
    elsewhere: Floats | None = None  # its trajectories from elsewhere; likewise


def weights_of(rescored: Sequence[Candidate], left: float, early: bool) -> Floats:
    """The weights of rescored systems; left: the mean squared residual that the true one would leave."""
    first = rescored[0]
    excess = float(np.log((first.fit.error + FLOOR) / left))
    paths = [found.elsewhere for found in rescored if found.elsewhere is not None]
    criteria = np.array([found.criterion for found in rescored])
    return weights(criteria, paths, first.familiarity, excess, early)


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
        self.estimate = estimate
        self.settings = settings or SearchSettings()
        self.deadline = deadline or Deadline(np.inf)
        self.found: dict[bytes, Candidate] = {}
        self.equations = Equations(data, estimate, operators)
        self.better: Callable[[Fit], None] = lambda fit: None  # told of every fit that is the best so far

    # ------------------------------------------------------------ results

    def ranked(self) -> list[Candidate]:
        """All systems that can be integrated, best criterion first."""
        finite = [found for found in self.found.values() if np.isfinite(found.criterion)]
        return sorted(finite, key=lambda found: (found.criterion, found.fit.error))

    def rescored(self, judge: Deadline | None = None) -> list[Candidate]:
        """The best systems in the order of the final criterion, which includes what the network thinks.

        Systems that are the same function on the data are one: the simplest of them.  Those that the judge
        has no time for are left out, but never all of them.
        """
        judge = judge or Deadline(np.inf)
        tolerance = SAME * float(np.sqrt(self._left()))
        self._simplify(tolerance)
        best: list[Candidate] = []
        for found in self._with_prior(self.ranked()[:RESCORED], judge):
            if best and judge.over:
                break
            best.append(self._tried_elsewhere(found))
        best.sort(key=lambda found: (found.criterion, found.fit.error))
        groups = self._groups(best, tolerance)
        return [replace(best[simplest], criterion=best[first].criterion) for first, simplest in groups]

    def _groups(self, best: Sequence[Candidate], tolerance: float) -> list[tuple[int, int]]:
        """Systems that are the same function on the data, by the first and the simplest of each group."""
        return distinct([found.fit.program for found in best], self.estimate.variables, tolerance)

    def _simplify(self, tolerance: float) -> None:
        """Add the best systems without what does nothing on the data."""
        for found in self.ranked()[:SIMPLIFIED]:
            if self.deadline.over:
                break
            simple = simplified(found.fit.program, self.estimate.variables, tolerance)
            if len(simple) < len(found.fit.program):
                self._fit_program(simple, found.source)

    def _with_prior(self, best: list[Candidate], judge: Deadline) -> list[Candidate]:
        """The same systems with the network's log-probability in their criterion."""
        if self.log_prior is None or not best or judge.over:
            return [replace(found, familiarity=self._familiarity(found)) for found in best]
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
            replace(
                found,
                criterion=self._criterion(found, float(chance)),
                familiarity=self._familiarity(found, float(chance)),
            )
            for found, chance in zip(best, chances, strict=True)
        ]

    def _hoped(self, found: Candidate) -> float:
        """The smallest criterion that a system may have, compared with one that may still run away."""
        return self._criterion(found, BEST_PER_NODE * len(found.fit.program)) - RUNAWAY_COST

    def _tried_elsewhere(self, found: Candidate) -> Candidate:
        """The same system, penalized if it runs away from initial values near those of the data."""
        paths = elsewhere(found.fit.program, found.fit.starts, self.data)
        cost = RUNAWAY_COST if np.isnan(paths).any() and not alarm_rings() else 0.0
        return replace(found, criterion=found.criterion + cost, elsewhere=paths)

    def weights(self, rescored: Sequence[Candidate], early: bool) -> Floats:
        """How far each of the rescored systems may be trusted; early: time ended the search."""
        return weights_of(rescored, self._left(), early)

    def _criterion(self, found: Candidate, log_probability: float) -> float:
        return criterion(found.fit, self.data, found.starts, log_probability)

    # ------------------------------------------------------------ what is left

    def _left(self) -> float:
        """The mean squared scaled residual that the true system would leave."""
        return FLOOR + self.estimate.left(self.data)

    def _explained(self, among: Sequence[Form] | None = None) -> bool:
        """Whether what the best system (among some) leaves is just what the true one would leave."""
        ratio = (self._best_error(among) + FLOOR) / self._left()
        return bool(LITTLE < ratio < 1.0 + SURE * np.sqrt(2.0 / self.data.count))

    def explained(self) -> bool:
        """Whether what the best system leaves is just noise."""
        return self._explained()

    def _too_much(self) -> float:
        """What a fit leaves that may have ended in a local minimum, a mean squared scaled residual.

        On a logarithmic scale, it is nearer to no explanation at all than to the true system.
        """
        return min(float(np.sqrt(self._left())), STUCK)

    # ------------------------------------------------------------ stages

    def run(
        self, proposals: Sequence[Form], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Candidate]:
        """All stages, from proposed systems (in canonical units) up to the ranking that `rescored` refines.

        votes: how often each of them was proposed; None if that does not matter.
        """
        if len(self.data.closed) == self.data.dimension:
            self.fit_known()
            return self.ranked()
        if votes is not None:
            self.equations.count_votes(proposals, votes)
        if self.settings.sparse:
            self.fit_polynomials()
        self.fit_whole(proposals, source)
        # Whatever the truth is, some polynomial leaves just the noise: it says nothing.
        if self.estimate.smoothed and (not self._explained(proposals) or self._left() > MUCH_NOISE):
            self._doubt_noise(proposals, source)
        enough = self.estimate.smoothed and self._explained(proposals)
        for number in range(self.settings.passes if self.estimate.smoothed else 1):
            if self.deadline.over or (number > 0 and not self._improve_estimate()):
                break
            self.collect_equations(proposals, source)
            if self.settings.sparse and not enough:  # with only noise left, it adds nothing
                self.propose_sparse()
            self.combine()
        for _ in range(self.settings.rounds):
            if self.deadline.over or not self.search_around() or self._explained():
                break
        if self.settings.sparse and not self.deadline.stopped and not self.ranked():
            self._fit_linear()
        return self.ranked()

    def fit_known(self) -> None:
        """Fit the named constants of a system in which nothing is to be found."""
        nothing = [
            one for k in range(self.data.dimension) if (one := self.data.given_equation(k)) is not None
        ]
        self._fit_program(concatenate(nothing), KNOWN)
        if self._best_error() > self._too_much():
            self._fit_program(concatenate(nothing), KNOWN, hard=True)

    def _whole(self, program: Program) -> Program:
        """The whole system in canonical form, for the network; what was found if it has none."""
        if self.data.given is None:
            return program
        with suppress(ExpressionError):
            return Form.of(self.data.completed(program).program).program
        return program

    def fit_simplest(self) -> None:
        """The system that always exists."""
        fit = simplest(self.data, self.estimate.starts)
        with suppress(ExpressionError), no_alarm():
            self.found[Form.of(fit.program).key] = Candidate(fit, "sparse", criterion(fit, self.data))

    def fit_polynomials(self) -> None:
        """Sparse linear, quadratic and cubic systems: they are always in the pool, and come first.

        Their equations are not combined with others, where they would leave no room for proposed ones.
        """
        for fronts in propose_polynomials(self.data, self.estimate, enough=lambda: self.deadline.over):
            if all(fronts) and not self.deadline.over:
                self._fit_program(joined([front[0] for front in fronts], self.data), "sparse")
        if not self.deadline.over and self.data.given is None and self._narrow():
            self._fit_linear()

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
            with self._little_time():
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
            for component, equation in enumerate(form.components()[: self.data.dimension]):
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
        if self.data.dimension * (self.data.variables + 1) > MOST_CONSTANTS:
            return
        linear = concatenate([linear_equation(self.data.variables)] * self.data.dimension)
        with self._little_time():
            self._fit_program(match_system(linear, self.data, self.equations.estimate), "sparse")

    def _little_time(self) -> AbstractContextManager[object]:
        """However short the time, a first system gets a little of it."""
        return Deadline(FIRST) if self.deadline.over and not self.found else nullcontext()

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
        if self._best_error() > self._too_much():
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

    # ------------------------------------------------------------ parts

    def _doubt_noise(self, proposals: Sequence[Form], source: str) -> None:
        """What looks like noise may be a fast signal with few points: a system that fits exactly shows it.

        The pool gets systems from a curve through all points, too.  If one of them is exact, so are the data.
        """
        if self.deadline.over:
            return
        exact = estimate_states(self.data, smoothed=False)
        attempt = Search(self.data, exact, self.settings, self.deadline, operators=self.equations.operators)
        kept, count = self.settings.equations, self.settings.combined
        voted = self.equations.most_voted(proposals, kept, count)
        attempt.fit_from_observed([*proposals, *voted], source)
        # Nearer to an exact fit than to the noise, on a logarithmic scale.
        limit = np.sqrt(FLOOR * self._left())
        if attempt._best_error() > limit:
            attempt.collect_equations(proposals, source)
            if self.settings.sparse:
                attempt.propose_sparse()
            attempt.combine()
        if attempt._best_error() > limit:
            for found in attempt.ranked()[:HARD]:
                self._fit_program(found.fit.program, found.source)
        else:
            before = list(self.found.values())
            attempt.equations.votes = self.equations.votes
            self.estimate, self.found, self.equations = exact, attempt.found, attempt.equations
            for found in before:
                self._fit_program(found.fit.program, found.source)

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

    def _fit_program(self, program: Program, source: str, hard: bool = False) -> None:
        """`_fit` for a system that may not be in canonical form, or lacks the named constants."""
        given = self.data.given
        if given is not None and len(component_bounds(program.ops)) == self.data.dimension:
            program = given.with_numbers(program)
        with suppress(ExpressionError):
            self._fit(Form.of(program), source, hard)

    def _fit(self, form: Form, source: str, hard: bool = False) -> None:
        """Fit a system on the trajectories and keep it if it is the best of its structure."""
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
            fit = fit_constants(program, self.data, starts=estimate.starts, fit_starts=free)
        self.add(form, fit, source)

    def add(self, form: Form, fit: Fit, source: str) -> None:
        """Keep a fitted system if it is the best of its structure, that of the form."""
        key, free = form.key, self.estimate.smoothed
        if not free and fit.error < NEAR:  # what is left may be errors of the integration
            bends = fit.error < NEAR**2
            closer = fit_constants(
                fit.program, self.data, starts=fit.starts, rtol=1e-9, max_steps=10_000, bends=bends
            )
            fit = fit if alarm_rings() and not np.isfinite(closer.error) else closer
        known = self.found.get(key)
        if self.data.given is not None and not self.equations.allowed(fit.program):
            return  # a sign has changed
        if known is None or fit.error < known.fit.error:
            if too_fast(fit.program, self._along(fit), self.data.bounds):
                return
            origin = source if known is None else known.source
            with no_alarm() if np.isfinite(fit.error) else nullcontext():  # it was found in time
                starts = log_starts(fit, self.data, self.estimate)
            best, found = self._best_criterion(), criterion(fit, self.data, starts)
            self.found[key] = Candidate(fit, origin, found, starts)
            if found < best:
                self.better(fit)

    def _along(self, fit: Fit) -> Floats:
        """What the equations of a system read at the observed times (N, V)."""
        return self.estimate.variables

    def _best_criterion(self) -> float:
        return min((found.criterion for found in self.found.values()), default=np.inf)

    def _best_error(self, among: Sequence[Form] | None = None) -> float:
        keys = self.found if among is None else {form.key for form in among} & self.found.keys()
        return min((self.found[key].fit.error for key in keys), default=np.inf)

    def _familiarity(self, found: Candidate, log_probability: float | None = None) -> float:
        """The log prior of a structure per node; 0 where nothing was to be found."""
        if len(self.data.closed) == self.data.dimension:
            return 0.0
        program = self._whole(found.fit.program)
        return log_structure(program, log_probability) / len(program)
