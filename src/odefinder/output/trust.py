"""What a fitted estimator says about how far to trust it: errors, intervals, bands, forecasts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from odefinder.data.clock import times_on
from odefinder.data.dataset import Dataset, Floats
from odefinder.data.inputs import held_outside
from odefinder.edge.parameters import checked
from odefinder.errors import SettingsError, SimulationWarning, StiffnessWarning
from odefinder.inference.bands import (
    FURTHER,
    MOST_VALUES,
    SECONDS,
    Bands,
    Draws,
    draw,
    further,
    likely_rows,
    quantiles,
    simulated,
    widening,
)
from odefinder.inference.bands import LEVEL as BAND
from odefinder.inference.certainty import LEVEL, Certainty, certainty_of, constants_table
from odefinder.inference.choose.criterion import TEMPERATURE
from odefinder.inference.doubts import residual_notes
from odefinder.inference.fit.known_settings import Known, starts_of
from odefinder.inference.fit.known_starts import with_starts
from odefinder.inference.fit.residuals import checks, residuals_of
from odefinder.inference.prepared import Prepared, prepared
from odefinder.limits.deadline import Deadline
from odefinder.numerics.knots import merged, spliced, values_at
from odefinder.numerics.signals import Signals, constant
from odefinder.output.constants import POWER, with_constants
from odefinder.output.higher_order import equations_latex
from odefinder.output.numbers import with_error
from odefinder.output.summary import Summary
from odefinder.simulation.driving import with_doses
from odefinder.simulation.given import increasing_times
from odefinder.system import ODESystem

if TYPE_CHECKING:
    from odefinder.inference.remarks import Explanation

Doses = Mapping[str, Sequence[tuple[float, float]]] | None

DRAWN_POINTS = 150  # of a band in a figure
ERRORS_SECONDS = 3.0  # that the errors of all rows may take
MOST_PRODUCTS = 3e8  # of derivatives, for the errors of one row; `summary` takes more time for them
MOST_BANDS = 6  # trajectories of a figure that have one


class Trust:
    """The part of `ODEFormer` that is about errors; everything is computed when it is asked for."""

    dataset_: Dataset
    system_: ODESystem
    starts_: Floats
    noise_: Floats
    chosen_: int
    known: Any  # as the user gave them
    fixed: Mapping[str, float] | None
    bounds: Mapping[str, tuple[float | None, float | None]] | None

    def _fitted(self) -> list[Explanation]:
        raise NotImplementedError

    def summary(self, level: float = LEVEL) -> Summary:
        """The constants of the chosen system with standard errors and intervals; print it for a table.

        level: of the intervals, 0.95 by default.  They come from the curvature of the sum of squares, or by
        profile likelihood where that misleads; an end is inf where the data do not determine it.  Where a
        constant was rounded to a simple number, the error is that of the fit before.
        """
        level = checked("level", level)
        found = self._certainty(self._row())
        constants = constants_table(found, self._given(self.chosen_), level)
        data = found.data
        left = checks(residuals_of(found.best, data), data)
        remarks = residual_notes(self.system_.variables, left, found.best.error)
        return Summary(
            self.dataset_, found.explicit, constants, self.starts_, found.start_errors, self.noise_, level,
            tuple(remarks),
        )  # fmt: skip

    def latex(self, digits: int | Literal["enough"] | None = "enough", errors: bool = False) -> str:
        """The chosen system as an `aligned` block for mathematics mode; by default as `print` shows it.

        errors: every constant has the standard error of its last digits in parentheses, as in 0.443(12).
        """
        row = self._row()
        named = self._fitted()[row].constants
        digits = checked("shown_digits", digits)
        own = None if digits is None else 4 if digits == "enough" else int(digits)
        shown = self.system_.digits if digits == "enough" else digits
        if not checked("errors_shown", errors):
            return with_constants(equations_latex(self.system_, self.dataset_, shown), named, own)
        found = self._certainty(row)
        values, deviations = np.abs(self.system_.constants).tolist(), found.written_errors.tolist()
        labels = [
            with_error(value, error, digits if isinstance(digits, int) else 4, POWER) if error > 0.0 else None
            for value, error in zip(values, deviations, strict=True)
        ]
        written = equations_latex(self.system_, self.dataset_, shown, labels)
        return with_constants(written, named, own, found.named_errors)

    def standard_errors(self) -> list[Floats]:
        """For each row of `equations_`, the standard errors of the constants in the order of its program.

        inf: not determined by the data; 0: given by the form; NaN: not computed, for lack of time.
        """
        found, rows = [], self._fitted()
        given = [self._given(row) for row in range(len(rows))]
        with Deadline(ERRORS_SECONDS) as deadline:
            for one, data in zip(rows, given, strict=True):
                errors = np.full(len(one.system.constants), np.nan)
                columns = len(errors) + data.data.dimension
                if not deadline.over and data.data.states.size * columns**2 <= MOST_PRODUCTS:
                    computed = certainty_of(one.system, one.starts, data, 0, one.law).written_errors
                    errors = errors if deadline.over else computed
                found.append(errors)
        return found

    @overload
    def simulate(
        self,
        x0: ArrayLike | Mapping[str, float] | None = None,
        t: ArrayLike | None = None,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        bands: Literal[False] = False,
        level: float = BAND,
        doses: Doses = None,
        trajectory: int = 0,
    ) -> Floats: ...

    @overload
    def simulate(
        self,
        x0: ArrayLike | Mapping[str, float] | None = None,
        t: ArrayLike | None = None,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        *,
        bands: Literal[True],
        level: float = BAND,
        doses: Doses = None,
        trajectory: int = 0,
    ) -> Bands: ...

    def simulate(
        self,
        x0: ArrayLike | Mapping[str, float] | None = None,
        t: ArrayLike | None = None,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        bands: bool = False,
        level: float = BAND,
        doses: Doses = None,
        trajectory: int = 0,
    ) -> Floats | Bands:
        """The trajectory (points, variables) of the chosen system at the times t, from x0 at t[0].

        Without x0 and t they are those of an observed trajectory, the first one unless `trajectory` says
        otherwise; so are inputs, conditions and doses if none are given, and beyond the observed times the
        last values of inputs hold.  Where the data have dates, t may have them, too.

        doses : a mapping variable -> list of (time, amount), added just after these times, in the place of
            those that were observed; {} for none.

        bands : the result has `times`, `states`, and `lower` and `upper` of the same shape, between which the
            true trajectory lies with the chance `level`.  They hold what is uncertain about the constants,
            the initial values (unless x0 is given) and the choice among the candidates; if another row than
            the first was chosen, only that one.
        """
        self._fitted()
        self.dataset_.check_trajectory(trajectory)
        given = self.dataset_.times[trajectory] if t is None else times_on(self.dataset_.clock, t)
        times = increasing_times(given)
        observed = inputs is None and conditions is None
        signals = inputs
        if observed and (self.system_.inputs or (self.dataset_.doses and doses is None)):
            signals = self._signals(trajectory, times, doses is None)
            self._warn_of_held_inputs(trajectory, times)
        start = self.starts_[trajectory] if x0 is None else x0
        if not checked("bands", bands):
            return self.system_.simulate(start, times, signals, conditions, doses)
        moments, signals = self.system_.driven(times, signals, conditions, doses)
        begin = None if x0 is None else self.system_.initial_values(x0)
        return self._bands(begin, moments, signals, trajectory, level, own=observed)

    def forecast(
        self,
        horizon: float,
        *,
        points: int = 200,
        trajectory: int = 0,
        level: float = BAND,
        inputs: Any = None,
        doses: Doses = None,
    ) -> Bands:
        """How an observed trajectory goes on after its last time, for `horizon` units of time, with a band.

        inputs : what drives it from then on, as in `simulate`; by default they keep their last values, unless
            they are known for longer.  doses : those that follow, in addition to the observed ones.
        """
        self._row()
        horizon, points = checked("horizon", horizon), checked("points", points)
        self.dataset_.check_trajectory(trajectory)
        begin, end = self.dataset_.times[trajectory][[0, -1]]
        later = np.linspace(end, end + horizon, points)
        times = later if begin == end else np.concatenate([[begin], later])
        signals = self._signals(trajectory, times)
        if inputs is None:
            self._warn_of_held_inputs(trajectory, times)
        else:
            _, next_ones = self.system_.driven(later, inputs, self._settings_of(trajectory))
            signals = spliced(signals, next_ones, float(end))
        signals = with_doses(signals, doses, self.system_.variables)
        found = self._bands(None, times, signals, trajectory, level)
        return found.since(end)

    def observed_bands(self, horizon: float | None = None, level: float = BAND) -> list[Bands]:
        """The first observed trajectories, and `horizon` beyond the data, each with its band, for figures."""
        self._row()
        longer = 0.0 if horizon is None else checked("horizon", horizon)
        found = []
        for k, times in enumerate(self.dataset_.times[:MOST_BANDS]):
            fine = np.linspace(times[0], times[-1] + longer, DRAWN_POINTS)
            found.append(self._bands(None, fine, self._signals(k, fine), k, level))
        return found

    def _signals(self, trajectory: int, times: Floats | None = None, doses: bool = True) -> Signals:
        """What drives an observed trajectory: inputs, doses, and constants that vary between trajectories.

        times: at which it is wanted; by default the observed ones.
        """
        span = self.dataset_.times[trajectory] if times is None else times
        dataset = self.dataset_ if doses else replace(self.dataset_, doses=())
        signals = dataset.driving(trajectory, (float(span[0]), float(span[-1])))
        own = list(self._varied(trajectory).values())
        if not own:
            return signals
        return merged([signals, constant(np.array(own))._replace(knots=self.dataset_.times[trajectory][:1])])

    def _warn_of_held_inputs(self, trajectory: int, times: Floats) -> None:
        """Say where inputs of an observed trajectory are wanted at times at which they are not known."""
        if not self.dataset_.signals:
            return
        own, seen = self.dataset_.signals[trajectory], self.dataset_.times[trajectory]
        first, last = min(own.knots[0], seen[0]), max(own.knots[-1], seen[-1])
        ends = values_at(own, np.array([first, last]))
        for name, (before, after) in zip(self.dataset_.inputs, ends.T.tolist(), strict=True):
            if outside := held_outside((first, last), (before, after), (times[0], times[-1])):
                note = f"{name} is known from {first:g} to {last:g}, the times run from {times[0]:g} to "
                note += f"{times[-1]:g}: {outside}. Give inputs= (--inputs) if you know them."
                warnings.warn(SimulationWarning(note), stacklevel=3)

    def _settings_of(self, trajectory: int) -> dict[str, float]:
        """What is constant within an observed trajectory: conditions, and constants that vary."""
        known = self.dataset_.settings
        values = [] if known is None else known[trajectory].tolist()
        return dict(zip(self.dataset_.conditions, values, strict=True)) | self._varied(trajectory)

    def _varied(self, trajectory: int) -> dict[str, float]:
        """The constants that differ between trajectories, in the order of the system's inputs."""
        constants = self._fitted()[self.chosen_].constants
        return {
            name: one[trajectory]
            for name in self.system_.inputs
            if isinstance(one := constants.get(name), tuple)
        }

    def _bands(
        self,
        x0: Floats | None,
        times: Floats,
        signals: Signals,
        trajectory: int = 0,
        level: float = BAND,
        own: bool = True,
    ) -> Bands:
        """The trajectory of the chosen system with a band; without x0, one of the observed ones.

        own: whether its constants that vary are those of the observed trajectory, with their errors.
        """
        level = checked("level", level)
        most = MOST_VALUES // self.system_.dimension
        if len(times) > most:
            raise SettingsError(
                f"a band of {self.system_.dimension} variables has at most {most:,} points, not "
                f"{len(times):,}; give fewer, as t or points, or leave out the band"
            )
        deadline = Deadline(SECONDS)
        start = self.starts_[trajectory] if x0 is None else x0
        place = np.flatnonzero(self._prepared.chosen == trajectory)
        if x0 is None and len(place) == 0:  # one of very many trajectories, and not among those fitted
            x0, own = start, False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StiffnessWarning)
            warnings.simplefilter("ignore", SimulationWarning)  # `lost` and the band show it
            states = self.system_.simulate(start, times, signals)
        which = int(place[0]) if len(place) else 0
        scaled = self._prepared.wider(self._fitted()[self.chosen_].constants, self.system_.inputs)
        draws = self._draws
        paths = simulated(draws, scaled, times, signals, x0, which, deadline, own)
        if x0 is None:
            factors = widening(times, self.dataset_.times[trajectory])
        else:
            factors = np.full(len(times), FURTHER)
        lower, upper, lost = quantiles(further(paths, draws.first, factors), level)
        names, clock = self.system_.variables, self.dataset_.clock.name
        return Bands(times, states, lower, upper, level, lost, names, clock)

    @property
    def _draws(self) -> Draws:
        """Systems with constants and initial values as probable as they are.

        If the user chose another row than the first, then it alone.
        """
        row, found = self._row(), self._fitted()
        if row not in self.__dict__.setdefault("_drawn", {}):
            same = [one.system.inputs == self.system_.inputs for one in found]  # driven by the same
            chances = [one.weight if own else 0.0 for one, own in zip(found, same, strict=True)]
            rows = [row] if row else likely_rows(chances)
            candidates = [self._certainty(k) for k in rows]
            weights = [found[k].weight for k in rows]
            self.__dict__["_drawn"][row] = draw(candidates, weights, temperature=TEMPERATURE)
        draws: Draws = self.__dict__["_drawn"][row]
        return draws

    def _row(self) -> int:
        """The chosen row of a fitted estimator."""
        self._fitted()
        return self.chosen_

    def _certainty(self, row: int) -> Certainty:
        """What the data say about a row of the table."""
        one = self._fitted()[row]
        return certainty_of(one.system, one.starts, self._given(row), law=one.law)

    def _given(self, row: int) -> Prepared:
        """The data as they were fitted by a row of the table."""
        one = self._fitted()[row]
        if one.law is not None:  # it has the constants that vary
            return self._prepared
        return self._prepared.varied(one.constants, one.system.inputs)

    @cached_property
    def _prepared(self) -> Prepared:
        """The data as they were fitted."""
        ready = prepared(self.dataset_)
        limits = starts_of(Known(self.known, self.fixed, self.bounds), self.dataset_)
        data, estimate = with_starts(ready.data, ready.estimate, limits, ready.scaling)
        return replace(ready, data=data, estimate=estimate)
