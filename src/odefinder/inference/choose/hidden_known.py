"""The search where known equations have hidden states: they fix their units, but not where they begin.

First the known equations alone are fitted, from many values of their constants and of the hidden states; then
what is missing is looked for along the paths that they lead to.
"""

from __future__ import annotations

from collections.abc import Sequence

from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, concatenate
from odefinder.expressions.terms import node
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.equations import Equations
from odefinder.inference.choose.fitted import KNOWN
from odefinder.inference.choose.with_hidden import FIRST_ITERATIONS, SHORT, SearchWithHidden
from odefinder.inference.fit.gauge import path_of
from odefinder.inference.fit.horizon import fit_growing
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.propose.scattered import scattered
from odefinder.inference.propose.unseen import with_path

SCATTERED, POLISHED = 150, 8  # first values that are tried, and how many of the best are fitted to the end


class KnownHiddenSearch(SearchWithHidden):
    """The systems found so far around known equations with hidden states."""

    def run(
        self, proposals: Sequence[Form], source: str = "network", votes: Sequence[int] | None = None
    ) -> list[Candidate]:
        """The search for what is missing, along the hidden states that the known equations lead to."""
        self.fit_known()
        ranked = self.ranked()
        if len(self.data.closed) == self.data.dimension:
            return ranked
        path = path_of(ranked[0].fit.program, ranked[0].fit.starts, self.data) if ranked else None
        if path is not None:
            for k in self.hidden:
                _, self.estimate = with_path(self.data, self.estimate, k, path[:, k])
            self.equations = Equations(self.data, self.estimate, self.equations.operators)
        return super().run(proposals, source, votes)

    def fit_known(self) -> None:
        """Fit the known equations alone, from many values of their constants and of hidden states."""
        given = self.data.given
        assert given is not None
        nothing = concatenate(
            [self.data.given_equation(k) or node(CONST) for k in range(self.data.dimension)]
        )
        program = given.with_numbers(nothing)
        tries: list[tuple[float, int, Fit]] = []
        for first, states in scattered(
            program, self.data, self.estimate, self.hidden, self.settings.hidden_size, SCATTERED
        ):
            if self.deadline.over and tries:
                break
            starts = states[self.data.bounds[:-1]]
            fit = fit_constants(first, self.data, starts=starts, iterations=SHORT)
            tries.append((fit.error, len(tries), fit))
        for _, _, fit in sorted(tries, key=lambda one: one[:2])[:POLISHED]:
            again = self._once(fit.program, fit.starts, 3 * FIRST_ITERATIONS)
            if again.error > self._too_much() and not self.deadline.over:
                free = self.estimate.smoothed
                grown = fit_growing(fit.program, self.data, starts=fit.starts, fit_starts=free)
                again = min(again, grown, key=lambda one: one.error)
            self.add(Form.of(again.program), again, KNOWN)
