"""What every search with hidden states has in common: systems are judged along their own paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from odefinder.data.observations import Floats
from odefinder.expressions.program import Program
from odefinder.inference.choose.candidates import Candidate, merged
from odefinder.inference.choose.criterion import RUNAWAY_COST
from odefinder.inference.choose.plausible import runs_off, winds
from odefinder.inference.choose.search import Search
from odefinder.inference.fit.gauge import path_of, variables_along
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.propose.unseen import hidden_states

FIRST_ITERATIONS = 20  # of a first fit, which tells candidates apart
SHORT = 6  # of one that only looks


class SearchWithHidden(Search):
    """A search whose systems have states that nobody measured."""

    @property
    def hidden(self) -> list[int]:
        """The numbers of the hidden states."""
        return hidden_states(self.data)

    def _once(self, program: Program, starts: Floats, iterations: int) -> Fit:
        """One shot from these starts."""
        return fit_constants(
            program, self.data, starts=starts, fit_starts=self.estimate.smoothed, iterations=iterations
        )

    def _along(self, fit: Fit) -> Floats:
        path = path_of(fit.program, fit.starts, self.data)
        return self.estimate.variables if path is None else variables_along(path, self.data)

    def _tried_elsewhere(self, found: Candidate) -> Candidate:
        """Also penalized if it runs away when it goes on for as long again, or turns a hidden state round."""
        found = super()._tried_elsewhere(found)
        path = path_of(found.fit.program, found.fit.starts, self.data)
        odd = [path is None or runs_off(found.fit.program, path, self.data)]
        odd.append(winds(found.fit.program, self.hidden))
        return replace(found, criterion=found.criterion + RUNAWAY_COST * sum(odd))

    def _merged(self, best: Sequence[Candidate]) -> list[Candidate]:
        """Those with other hidden variables than the first never agree with it, whatever they predict."""
        along = self._along(best[0].fit) if best else self.estimate.variables
        return merged(best, [self._whole(found.fit.program) for found in best], along, self._left())
