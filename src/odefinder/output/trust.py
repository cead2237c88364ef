"""What a fitted estimator says about how far to trust it: errors, intervals, bands, forecasts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from odefinder.data.dataset import Dataset, Floats
from odefinder.edge.parameters import checked
from odefinder.inference.certainty import LEVEL, Certainty, certainty_of, constants_table
from odefinder.inference.prepared import Prepared, prepared
from odefinder.output.summary import Summary
from odefinder.system import ODESystem

if TYPE_CHECKING:
    from odefinder.inference.remarks import Explanation


class Trust:
    """The part of `ODEFormer` that is about errors; everything is computed when it is asked for."""

    dataset_: Dataset
    system_: ODESystem
    starts_: Floats
    noise_: Floats
    chosen_: int

    def _fitted(self) -> list[Explanation]:
        raise NotImplementedError

    def summary(self, level: float = LEVEL) -> Summary:
        """The constants of the chosen system with standard errors and intervals; print it for a table.

        level: of the intervals, 0.95 by default.  They come from the curvature of the sum of squares, or by
        profile likelihood where that is no guide; an end is inf where the data do not determine it.  Where a
        constant was rounded to a simple number, the error is that of the fit before.
        """
        level = checked("level", level)
        found = self._certainty(self._row())
        constants = constants_table(found, self._prepared, level)
        explicit = ODESystem(found.constants.program, self.system_.variables, self.system_.inputs)
        return Summary(
            self.dataset_, explicit, constants, self.starts_, found.start_errors, self.noise_, level
        )

    def _row(self) -> int:
        """The chosen row of a fitted estimator."""
        self._fitted()
        return self.chosen_

    def _certainty(self, row: int) -> Certainty:
        """What the data say about a row of the table."""
        one = self._fitted()[row]
        return certainty_of(one.system, one.starts, self._prepared)

    @cached_property
    def _prepared(self) -> Prepared:
        """The data as they were fitted."""
        return prepared(self.dataset_)
