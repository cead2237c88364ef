"""Dataset: observed trajectories of one system, checked, with the names and units they came with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import Dose
from odefinder.data.observations import Observations
from odefinder.expressions.parse import check_names
from odefinder.numerics.signals import Signals

if TYPE_CHECKING:
    from odefinder.data.units import Scaling

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clock:
    """What the numbers of the time axis mean."""

    name: str = "t"
    unit: str = ""  # such as "days"; empty if not known
    origin: str = ""  # the date at time 0 if the times were dates

    @property
    def label(self) -> str:
        """For the axis of a plot: `Time (s)`, `year`, `days since 1900-01-01`."""
        if self.origin:
            return f"{self.unit} since {self.origin}"
        said_by_name = not self.unit or self.unit.startswith(self.name.lower())
        return self.name if said_by_name else f"{self.name} ({self.unit})"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Trajectories of one system: what a fit reads; `notes` says what was done to the data."""

    times: tuple[Floats, ...]  # (n,) each, strictly increasing
    states: tuple[Floats, ...]  # (n, D) each; missing entries are NaN
    variables: tuple[str, ...]  # the names in equations
    titles: tuple[str, ...] = ()  # the variables as the data call them, such as "Hare pelts (thousands)"
    labels: tuple[str, ...] = ()  # the trajectories as the data call them
    clock: Clock = Clock()
    notes: tuple[str, ...] = ()  # sentences for the user
    inputs: tuple[str, ...] = ()  # the names of known signals
    signals: tuple[Signals, ...] = ()  # of each trajectory, one column for each input
    conditions: tuple[str, ...] = ()  # the names of what is known and constant within a trajectory
    settings: Floats | None = None  # (trajectories, conditions): their values
    doses: tuple[tuple[Dose, ...], ...] = ()  # of each trajectory
    errors: tuple[Floats, ...] = ()  # (n, D) each: standard errors, NaN where they are not known

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", check_names(self.variables))
        check_names([*self.variables, *self.inputs, *self.conditions], "column")
        object.__setattr__(self, "titles", tuple(self.titles) or self.variables)
        numbers = (str(number) for number in range(1, len(self.times) + 1))
        object.__setattr__(self, "labels", tuple(self.labels) or tuple(numbers))

    def __str__(self) -> str:
        first, last = min(t[0] for t in self.times), max(t[-1] for t in self.times)
        several = f" in {len(self)} trajectories" if len(self) > 1 else ""
        return (
            f"{sum(map(len, self.times))} points of {', '.join(self.variables)}{several}; "
            f"{self.clock.label} from {first:g} to {last:g}"
        )

    def __repr__(self) -> str:
        return f"Dataset({self})"

    def __len__(self) -> int:
        """The number of trajectories."""
        return len(self.times)

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return len(self.variables)

    def with_variables(self, names: Sequence[str]) -> Dataset:
        """The same data with these variables, in this order."""
        order = [self.variables.index(name) for name in names]
        return replace(
            self,
            states=tuple(states[:, order] for states in self.states),
            variables=tuple(names),
            titles=tuple(self.titles[j] for j in order),
            errors=tuple(errors[:, order] for errors in self.errors),
        )

    def trajectories(self) -> Iterator[tuple[Floats, Floats]]:
        """Times (n,) and states (n, D) of each trajectory."""
        return zip(self.times, self.states, strict=True)

    def first_values(self) -> Floats:
        """The first known value of each variable in each trajectory, (trajectories, D)."""
        return np.array(
            [[column[~np.isnan(column)][0] for column in states.T] for states in self.states],
            dtype=np.float64,
        )

    def scaling(self) -> Scaling:
        """The canonical units of these data."""
        from odefinder.data.units import fit_scaling

        return fit_scaling(self.times, self.states)

    def observations(self, scaling: Scaling) -> Observations:
        """The data in canonical units; the clock of each trajectory starts at its own beginning."""
        return Observations.joined(
            [scaling.times(times) for times in self.times], [scaling.states(states) for states in self.states]
        )
