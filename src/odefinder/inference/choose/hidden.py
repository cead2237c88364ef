"""The search for systems with hidden states.

Candidates come from frames (x' = h or x' = y h: the hidden state follows from how x changes, and regression
finds its equation), from the network, which writes the equations of states it never sees, and from changes of
the hidden variable that make found equations simpler.  Each has a path of the hidden states, from which its
fit begins: over segments with continuity where one shot fails.  All are brought to the same gauge before
structures are compared, and lose the terms that the criterion does not want.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import VAR, Program, concatenate
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.criterion import criterion, log_starts
from odefinder.inference.choose.plausible import acts, plausible, winds
from odefinder.inference.choose.pruning import pruned
from odefinder.inference.choose.with_hidden import FIRST_ITERATIONS, SHORT, SearchWithHidden
from odefinder.inference.fit.gauge import normalised, path_of, variables_along
from odefinder.inference.fit.integral import ComponentFit, match_component
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.shooting import fit_shooting
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.frames import simpler
from odefinder.inference.propose.growing import grown
from odefinder.inference.propose.library import equation, monomials
from odefinder.inference.propose.sparse import propose, propose_polynomials, smallest_sums
from odefinder.inference.propose.unseen import LARGEST, Frame, frames, solved, with_path

SYSTEMS = 8  # put together from the equations that regression finds in one frame
POLYNOMIALS = 3  # of each degree
WIDE = 2  # frames in which the whole library is tried
SHOWN = 16  # proposals of the network that are fitted
BETTER, WAYS = 3, 5  # best systems that are pruned, grown, and whose hidden variable is changed
ROUNDS = 3
FULL, MOST_TERMS = (2, 3), 12  # degrees at which all terms are tried, up to this many
GROWN = 4  # systems with one more term that are fitted to the end
COUNTS, COUNTS_NOISY = 1e-3, 0.02  # relative size of a term that matters when hidden variables are changed


@dataclass(frozen=True)
class Guess:
    """A system to be fitted, and where its hidden states may be (N, D)."""

    program: Program
    states: Floats
    source: str


class HiddenSearch(SearchWithHidden):
    """The systems with hidden states found so far for one set of data."""

    # ------------------------------------------------------------ stages

    def run(
        self, proposals: Sequence[Form], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Candidate]:
        """All stages; see `Search.run`."""
        self._best_in: dict[tuple[Frame, ...], float] = {}  # the best criterion in each frame
        if self.settings.sparse:
            self._try_frames()
        self.fit_whole(proposals, source)
        if self.settings.sparse:
            self._try_library()
        self._improve()
        for _ in range(ROUNDS):
            before = self._best_criterion()
            for found in self._parents():
                self._grow(found)
            self._improve()
            if self.deadline.over or not self._best_criterion() < before:
                break
        return self.ranked()

    def fit_whole(self, proposals: Sequence[Form], source: str) -> None:
        """Fit proposed systems, those first that come nearest to the data from a guessed path."""
        guesses: list[tuple[float, Guess]] = []
        for form in proposals:
            if self.deadline.over and guesses:
                break
            states = self._path_for(form.program)
            if states is not None and self.equations.allowed(form.program):
                starts = states[self.data.bounds[:-1]]
                error = fit_constants(form.program, self.data, starts=starts, iterations=3).error
                guesses.append((error, Guess(form.program, states, source)))
        guesses.sort(key=lambda pair: pair[0])
        for _, guess in guesses[:SHOWN]:
            if self.deadline.over and self.found:
                break
            self._try(guess)

    def collect_equations(self, proposals: Iterable[Form], source: str) -> None:
        """Nothing: equations cannot be told apart without the hidden states."""

    def _try_frames(self) -> None:
        """Polynomial systems in every frame."""
        for chosen in frames(self.data):
            if self.deadline.over and self.found:
                return
            framed = self._framed(chosen)
            if framed is None:
                continue
            data, estimate = framed
            for degree, fronts in enumerate(
                propose_polynomials(data, estimate, enough=lambda: self.deadline.over), start=1
            ):
                self._combine(chosen, fronts, estimate, POLYNOMIALS)
                if degree in FULL and all(fronts):
                    self._try_full(chosen, fronts, degree, data, estimate)

    def _try_library(self) -> None:
        """All kinds of terms, in the frames whose polynomials were best."""
        ranked = sorted(self._best_in, key=lambda chosen: self._best_in[chosen])
        for chosen in ranked[:WIDE]:
            framed = self._framed(chosen)
            if framed is None or self.deadline.over:
                continue
            data, estimate = framed
            given = {frame.component for frame in chosen}
            wanted = [k for k in range(self.data.dimension) if k not in given]
            fronts = propose(data, estimate, enough=lambda: self.deadline.over, components=wanted)
            self._combine(chosen, fronts, estimate, SYSTEMS)

    def _improve(self) -> None:
        """Smaller systems, and other hidden variables, for the best so far."""
        for step in (self._prune, self._change_variables, self._prune):
            for found in self._parents():
                if self.deadline.over:
                    return
                step(found)

    def _parents(self) -> list[Candidate]:
        """The best systems, and the best of each of a few ways in which observed states change."""
        ranked = self.ranked()
        ways: dict[bytes, Candidate] = {}
        for found in ranked:
            components = Form.of(found.fit.program).components()
            ways.setdefault(
                b"|".join(components[k].key for k in range(len(components)) if k not in self.hidden), found
            )
        some = [*ranked[:BETTER], *list(ways.values())[:WAYS]]
        return [found for k, found in enumerate(some) if not any(found is other for other in some[:k])]

    # ------------------------------------------------------------ parts

    def _framed(self, chosen: Sequence[Frame]) -> tuple[Observations, StateEstimate] | None:
        """Data and states with the paths of hidden states that frames ask for."""
        data, estimate = self.data, self.estimate
        for frame in chosen:
            path = solved([(frame.component, frame.equation())], frame.hidden, data, estimate)
            if path is None or not np.abs(path).max() < LARGEST * max(1.0, float(np.abs(path).std())):
                return None
            data, estimate = with_path(data, estimate, frame.hidden, path)
        return data, estimate

    def _combine(
        self,
        chosen: tuple[Frame, ...],
        fronts: Sequence[Sequence[ComponentFit]],
        estimate: StateEstimate,
        count: int,
    ) -> None:
        """Fit systems of the best equations, with those that the frames give."""
        given = {frame.component: frame.equation() for frame in chosen}
        scored: list[list[tuple[float, Program]]] = [
            [(0.0, given[k])] if k in given else [(fit.score, fit.program) for fit in front]
            for k, front in enumerate(fronts)
        ]
        scored = [[one for one in front if not winds(one[1], self.hidden)] for front in scored]
        for parts in smallest_sums(scored, count) if all(scored) else ():
            if self.deadline.over and self.found:
                return
            value = self._try(Guess(concatenate(list(parts)), estimate.states, "sparse"))
            self._best_in[chosen] = min(value, self._best_in.get(chosen, np.inf))

    def _try_full(
        self,
        chosen: tuple[Frame, ...],
        fronts: Sequence[Sequence[ComponentFit]],
        degree: int,
        data: Observations,
        estimate: StateEstimate,
    ) -> None:
        """All terms up to a degree in the equation of the last hidden state, fitted, then pruned."""
        last = self.hidden[-1]
        features = list(monomials(self.data.variables, degree))
        if len(features) > MOST_TERMS or self.deadline.over:
            return
        first = equation(features, np.full(len(features), 0.1))
        parts = {frame.component: frame.equation() for frame in chosen}
        parts[last] = match_component(first, last, data, estimate).program
        program = concatenate([parts.get(k, fronts[k][0].program) for k in range(self.data.dimension)])
        self._try(Guess(program, estimate.states, "sparse"), prune=True)

    def _grow(self, found: Candidate) -> None:
        """Try the system with one more term, or with one that saturates; the best are pruned."""
        fitted: list[tuple[float, int, Fit]] = []
        for program in grown(found.fit.program, self.data):
            if self.deadline.over:
                break
            with suppress(ExpressionError):
                form = Form.of(program)
                if form.key not in self.found and self.equations.allowed(form.program):
                    fit = self._once(form.program, found.fit.starts, SHORT)
                    fitted.append((fit.error, len(fitted), fit))
        for _, _, fit in sorted(fitted, key=lambda one: one[:2])[:GROWN]:
            if self.deadline.over:
                break
            again = self._once(fit.program, fit.starts, FIRST_ITERATIONS)
            self._keep(again, found.source)
            self._prune(Candidate(again, found.source, self._value(again)))

    def _path_for(self, program: Program) -> Floats | None:
        """The states (N, D) with paths of hidden ones that the observed equations of a system ask for."""
        data, estimate = self.data, self.estimate
        components = program.components()
        for k in self.hidden:
            uses = [
                (j, one)
                for j, one in enumerate(components)
                if not np.isnan(estimate.derivatives[:, j]).any()
                and j not in self.hidden
                and np.any((one.ops == VAR) & (one.values == k))
            ]
            path = solved(uses, k, data, estimate) if uses else np.zeros(len(data.times))
            if path is None:
                return None
            data, estimate = with_path(data, estimate, k, np.clip(path, -LARGEST, LARGEST))
        return estimate.states

    def _prune(self, found: Candidate) -> None:
        """Keep the system without the terms that it does not need."""

        def refit(fit: Fit, program: Program) -> tuple[Fit, float] | None:
            if self.deadline.over:
                return None
            with suppress(ExpressionError):
                again = self._once(Form.of(program).program, fit.starts, FIRST_ITERATIONS)
                return again, self._value(again)
            return fit, np.inf

        for fit in pruned(found.fit, self.data, refit, self._value(found.fit)):
            self._keep(fit, found.source)

    def _change_variables(self, found: Candidate) -> None:
        """Try systems with fewer terms that other hidden variables have."""
        path = path_of(found.fit.program, found.fit.starts, self.data)
        if path is None:
            return
        tolerance = COUNTS_NOISY if self.estimate.smoothed else COUNTS
        for k in self.hidden:
            for change in simpler(found.fit.program, k, variables_along(path, self.data), tolerance):
                if self.deadline.over:
                    return
                states = path.copy()
                states[:, k] = change.path
                self._try(Guess(change.program, states, found.source))

    # ------------------------------------------------------------ fits

    def _try(self, guess: Guess, prune: bool = False) -> float:
        """Fit a system from a path and keep it; its criterion."""
        try:
            form = Form.of(guess.program)
        except ExpressionError:
            return np.inf
        if not self.equations.allowed(form.program):
            return np.inf
        fit = self._once(form.program, guess.states[self.data.bounds[:-1]], FIRST_ITERATIONS)
        if fit.error > self._too_much():
            again = fit_shooting(
                form.program, self.data, guess.states, fit_starts=self.estimate.smoothed,
                iterations=FIRST_ITERATIONS // 2, deadline=self.deadline,
            )  # fmt: skip
            fit = min(fit, again, key=lambda one: one.error)
        value = self._keep(fit, guess.source)
        if prune and np.isfinite(fit.error):
            self._prune(Candidate(fit, guess.source, value))
        return value

    def _value(self, fit: Fit) -> float:
        return criterion(fit, self.data, log_starts(fit, self.data, self.estimate))

    def _keep(self, fit: Fit, source: str) -> float:
        """Add a fit in the common gauge if it is plausible and the best of its structure; its criterion."""
        if not np.isfinite(fit.error) or not acts(fit.program, self.hidden):
            return np.inf
        gauged = None
        with suppress(ExpressionError):
            gauged = normalised(fit, self.data, self.hidden)
        if gauged is None or not plausible(gauged[1], self.data, self.hidden):
            return np.inf
        fit = gauged[0]
        self.add(Form.of(fit.program), fit, source)
        return self._value(fit)

    def _fit(self, form: Form, source: str, starts: Floats | None = None, hard: bool = False) -> None:
        states = self._path_for(form.program)
        if states is not None:
            self._try(Guess(form.program, states, source))

    def _simplify(self) -> None:
        """Nothing: pruning has done it."""
