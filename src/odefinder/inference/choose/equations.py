"""Equations of single variables, fitted in integral form, and the systems that they combine into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from heapq import nsmallest
from itertools import islice

import numpy as np

from odefinder.data.observations import Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import structure
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program, concatenate
from odefinder.expressions.terms import sum_of, terms_of
from odefinder.inference.fit.integral import ComponentFit, given_fit, joined, match_component, match_outline
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.likeliest import Outline
from odefinder.inference.propose.sparse import smallest_sums

LONGEST = 60  # nodes of an equation that may still be made longer; fitted ones may have twice as many
# Log-likelihoods in integral form count this share next to the log of how many of the network's samples have
# the equation: estimated states make them much too sure.  On exact data they still decide.
INTEGRAL_TEMPERATURE = 0.2
NO_VOTE = 0.3  # an equation that no sample has counts as this many
GIVEN = "given"  # the source of equations that are known


class Equations:
    """The equations found so far: one front per variable, with the best equation of every structure."""

    def __init__(self, data: Observations, estimate: StateEstimate, operators: frozenset[str] | None = None):
        self.data = data
        self.estimate = estimate
        self.operators = operators
        self.votes: list[dict[bytes, float]] = [defaultdict(float) for _ in range(data.dimension)]
        self._fronts: list[dict[bytes, tuple[ComponentFit, str]]] = [{} for _ in range(data.dimension)]
        self._keep_given()
        self._tried: set[tuple[bytes, ...]] = set()

    def allowed(self, program: Program, component: int | None = None) -> bool:
        """Whether it has only what may occur: in a system, or in what is found for one variable."""
        if self.operators is not None and not program.operators() <= self.operators:
            return False
        given = self.data.given
        if given is None:
            return True
        if component is not None:
            return given.allows(component, program)
        return all(given.allows(k, one) for k, one in enumerate(self.data.equations_of(program)))

    # ------------------------------------------------------------ votes

    def count_votes(self, proposals: Sequence[Form], votes: Sequence[int]) -> None:
        """Remember how often each equation was proposed."""
        for form, count in zip(proposals, votes, strict=True):
            for of_component, equation in zip(self.votes, self._equations_of(form), strict=True):
                of_component[equation.key] += count

    def count_outlines(self, outlines: Sequence[Sequence[Outline]], total: int) -> None:
        """Count outlines as if this many samples had been drawn, where fewer hold the equation."""
        for votes, written in zip(self.votes, outlines, strict=False):
            for one in written:
                votes[one.form.key] = max(votes[one.form.key], total * np.exp(one.log_probability))

    def most_voted(self, proposals: Sequence[Form], kept: int, count: int) -> Iterator[Form]:
        """`count` systems of the equations that most proposals share, from `kept` equations per variable."""
        equations: list[dict[bytes, Program]] = [{} for _ in self.votes]
        for form in proposals:
            for known, equation in zip(equations, self._equations_of(form), strict=True):
                known.setdefault(equation.key, equation.program)
        scored = [
            nsmallest(kept, ((-float(np.log(votes[key])), key) for key in known if key in votes))
            for votes, known in zip(self.votes, equations, strict=True)
        ]
        for keys in smallest_sums(scored, count) if all(scored) else ():
            program = concatenate([known[key] for known, key in zip(equations, keys, strict=True)])
            if self.data.given is not None:
                program = self.data.given.with_numbers(program)
            yield Form(program, structure(program))

    def _equations_of(self, form: Form) -> list[Form]:
        """What a system proposes for each state, without the named constants that may follow."""
        return form.components()[: self.data.dimension]

    # ------------------------------------------------------------ single equations

    def match_program(self, component: int, equation: Program, source: str, iterations: int = 20) -> None:
        """`match` for an equation that may not be in canonical form."""
        with suppress(ExpressionError):  # such as 1 / 0
            self.match(component, Form.of(equation), source, iterations)

    def match(
        self, component: int, equation: Form, source: str, iterations: int = 20,
        data: Observations | None = None,
    ) -> None:  # fmt: skip
        """Fit an equation in integral form, if it is new; data: with other values of named constants."""
        program = equation.program
        known = equation.key in self._fronts[component] or component in self.data.closed
        if known or len(program) > 2 * LONGEST:
            return
        if self.operators is not None and not program.operators() <= self.operators:
            return
        fit = match_component(program, component, data or self.data, self.estimate, iterations=iterations)
        if self.allowed(fit.program, component):
            self.keep(component, fit, source)
        elif (rest := self._without_refused(component, fit.program)) is not None:
            self.match_program(component, rest, source, iterations)

    def match_outline(self, component: int, outline: Form, source: str) -> None:
        """Fit an equation whose constants mean nothing in integral form, if it is new."""
        if outline.key not in self._fronts[component] and component not in self.data.closed:
            fit = match_outline(outline.program, component, self.data, self.estimate)
            self.keep(component, fit, source)

    def _without_refused(self, component: int, program: Program) -> Program | None:
        """An equation without the terms that the user does not allow; None if nothing is left of it."""
        given = self.data.given
        refused = [] if given is None else given.refused(component, program)
        terms = terms_of(program)
        if not 0 < len(refused) < len(terms):
            return None
        return sum_of([term for k, term in enumerate(terms) if k not in refused])

    def keep(self, component: int, fit: ComponentFit, source: str) -> None:
        """Add a fitted equation if it is allowed and the best of its structure."""
        if component in self.data.closed or not self.allowed(fit.program, component):
            return
        key = structure(fit.program)
        known = self._fronts[component].get(key)
        if known is None or fit.score < known[0].score:
            self._fronts[component][key] = (fit, source if known is None else known[1])

    def refit(self, estimate: StateEstimate) -> None:
        """Fit all equations again, along these states."""
        self.estimate = estimate
        before = self._fronts
        self._fronts = [{} for _ in before]
        self._keep_given()
        for component, front in enumerate(before):
            for fit, source in front.values():
                self.match_program(component, fit.program, source)

    def _keep_given(self) -> None:
        """Where nothing is to be found, there is only one equation: x' = v for a position."""
        for component, front in enumerate(self._fronts):
            if (fit := given_fit(self.data, component)) is not None:
                front[structure(fit.program)] = (fit, GIVEN)

    # ------------------------------------------------------------ systems

    def combinations(
        self, kept: int, count: int, *, by_votes: bool, again: bool = False
    ) -> Iterator[tuple[Program, str]]:
        """The systems with the smallest summed scores, and their sources, from `kept` equations per variable.

        again: include systems that were handed out before.
        """
        scored = [self._best(component, kept, by_votes) for component in range(len(self._fronts))]
        fresh = [keys for keys in smallest_sums(scored, 8 * count) if again or keys not in self._tried]
        for keys in islice(fresh, count):
            self._tried.add(keys)
            parts = [front[key] for front, key in zip(self._fronts, keys, strict=True)]
            sources = {source for _, source in parts} - {GIVEN}
            source = sources.pop() if len(sources) == 1 else "search"
            yield joined([fit for fit, _ in parts], self.data), source

    def best_fits(self, component: int, count: int) -> list[ComponentFit]:
        """The best equations of a variable, best first."""
        front = self._fronts[component]
        return [front[key][0] for _, key in self._best(component, count, by_votes=False)]

    def _best(self, component: int, count: int, by_votes: bool) -> list[tuple[float, bytes]]:
        """Scores and keys of the best equations of a variable, best first.

        by_votes: how many proposals share an equation counts, too.  Along interpolated states, where scores
        say more, only proposed equations take part.
        """
        votes = self.votes[component]
        every = self.estimate.smoothed or not by_votes or component in self.data.closed
        weight = 2.0 / INTEGRAL_TEMPERATURE if by_votes else 0.0
        scored = [
            (fit.score - weight * float(np.log(votes[key] + NO_VOTE)), key)
            for key, (fit, _) in self._fronts[component].items()
            if np.isfinite(fit.score) and (every or key in votes)
        ]
        return nsmallest(count, scored, key=lambda pair: pair[0])
