"""Dataset: observed trajectories of one system, checked, with the names and units they came with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from odefinder.data.doses import Dose, dose_signals
from odefinder.data.layout import states_of
from odefinder.data.observations import Observations
from odefinder.data.resolution import rounding
from odefinder.data.roles import TIME_NAME, Role
from odefinder.edge.rules import shown
from odefinder.errors import SettingsError
from odefinder.expressions.parse import check_names
from odefinder.numerics.knots import merged, values_at, values_within
from odefinder.numerics.signals import Signals, constant, linear

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
    """Trajectories of one system: what a fit reads; `notes` says what was done to the data.

    As it is read, every variable is an observed state; `with_roles` adds those that nobody measured.
    """

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
    roles: tuple[Role, ...] = ()  # of the variables; empty: all are observed
    derivative_of: tuple[int, ...] = ()  # the number of the state whose derivative each variable is, or -1
    explicit_time: bool = False  # whether equations may read t

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", check_names(self.variables))
        check_names([*self.variables, *self.inputs, *self.conditions], "column")
        object.__setattr__(self, "titles", tuple(self.titles) or self.variables)
        object.__setattr__(self, "roles", tuple(self.roles) or (Role.OBSERVED,) * self.dimension)
        object.__setattr__(self, "derivative_of", tuple(self.derivative_of) or (-1,) * self.dimension)
        numbers = (str(number) for number in range(1, len(self.times) + 1))
        object.__setattr__(self, "labels", tuple(self.labels) or tuple(numbers))

    def __str__(self) -> str:
        first, last = min(t[0] for t in self.times), max(t[-1] for t in self.times)
        several = f" in {len(self)} trajectories" if len(self) > 1 else ""
        return (
            f"{sum(map(len, self.times))} points of {', '.join(self.observed)}{several}; "
            f"{self.clock.label} from {first:g} to {last:g}{self._also()}"
        )

    def _also(self) -> str:
        """Inputs and conditions, for people."""
        parts = [("inputs", self.inputs), ("conditions", self.conditions)]
        return "".join(f"; {what} {', '.join(names)}" for what, names in parts if names)

    def __repr__(self) -> str:
        return f"Dataset({self})"

    def __len__(self) -> int:
        """The number of trajectories."""
        return len(self.times)

    def check_trajectory(self, number: int, first: int = 0) -> None:
        """Raise unless there is a trajectory of this number, counted from `first`."""
        last = first + len(self) - 1
        if not isinstance(number, Integral) or not first <= number <= last:
            raise SettingsError(f"there is no trajectory {shown(number)}; they run from {first} to {last}")

    @property
    def dimension(self) -> int:
        """The number of variables that have equations."""
        return len(self.variables)

    @property
    def observed(self) -> tuple[str, ...]:
        """The variables that were measured."""
        return tuple(
            name for name, role in zip(self.variables, self.roles, strict=True) if role == Role.OBSERVED
        )

    @property
    def known(self) -> tuple[str, ...]:
        """What equations may read and has none: inputs, conditions, the time."""
        return (*self.inputs, *self.conditions, *((TIME_NAME,) if self.explicit_time else ()))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, then what is known: the variables of programs, in their order."""
        return (*self.variables, *self.known)

    @property
    def all_roles(self) -> tuple[Role, ...]:
        """The role of each of the `names`."""
        known = (Role.INPUT,) * len(self.inputs) + (Role.CONDITION,) * len(self.conditions)
        return (*self.roles, *known, *((Role.TIME,) if self.explicit_time else ()))

    @property
    def velocities(self) -> dict[int, int]:
        """For each state whose equation is fixed, x' = v: the number of x and that of v."""
        return {position: number for number, position in enumerate(self.derivative_of) if position >= 0}

    def with_roles(
        self,
        order: int | Mapping[str, int] = 1,
        hidden: int = 0,
        explicit_time: bool = False,
        hidden_names: Sequence[str] = (),
    ) -> Dataset:
        """The data with velocities of variables of higher order, hidden states, and t as a known variable.

        The velocity of `theta` is called `theta_dot`, its derivative `theta_ddot`.  If the data have a column
        of that name, it is this velocity, measured; otherwise it is a column of NaN, as hidden states are.
        These are called h1, h2, ... unless they have names.
        """
        if explicit_time and TIME_NAME in (*self.variables, *self.inputs, *self.conditions):
            raise SettingsError("a column is called t, as the time would be; rename it to use explicit_time")
        layout = states_of(self.variables, (*self.inputs, *self.conditions), order, hidden, hidden_names)
        more = layout.names[self.dimension :]

        def widened(values: Floats) -> Floats:
            return np.hstack([values, np.full((len(values), len(more)), np.nan)])

        return replace(
            self,
            states=tuple(map(widened, self.states)),
            errors=tuple(map(widened, self.errors)),
            variables=layout.names,
            titles=(*self.titles, *more),
            roles=layout.roles,
            derivative_of=layout.derivative_of,
            explicit_time=bool(explicit_time),
        )

    def with_conditions(self, conditions: Mapping[str, Sequence[float]]) -> Dataset:
        """The data with these conditions, too: a value for each trajectory.  One of the same name goes."""
        if not conditions:
            return self
        kept = [k for k, name in enumerate(self.conditions) if name not in conditions]
        before = np.empty((len(self), 0)) if self.settings is None else self.settings[:, kept]
        more = np.array(list(conditions.values()), np.float64).T
        return replace(
            self,
            conditions=(*(self.conditions[k] for k in kept), *conditions),
            settings=np.hstack([before, more]),
        )

    def with_points(self, rows: Sequence[NDArray[np.int64]]) -> Dataset:
        """The data with these rows of each trajectory only."""
        return replace(
            self,
            times=tuple(times[one] for times, one in zip(self.times, rows, strict=True)),
            states=tuple(states[one] for states, one in zip(self.states, rows, strict=True)),
            errors=tuple(errors[one] for errors, one in zip(self.errors, rows, strict=bool(self.errors))),
        )

    def with_variables(self, names: Sequence[str]) -> Dataset:
        """The same data with these variables, in this order."""
        order = [self.variables.index(name) for name in names]
        place = {old: new for new, old in enumerate(order)}
        return replace(
            self,
            states=tuple(states[:, order] for states in self.states),
            variables=tuple(names),
            titles=tuple(self.titles[j] for j in order),
            errors=tuple(errors[:, order] for errors in self.errors),
            roles=tuple(self.roles[j] for j in order),
            derivative_of=tuple(place.get(self.derivative_of[j], -1) for j in order),
        )

    def trajectories(self) -> Iterator[tuple[Floats, Floats]]:
        """Times (n,) and states (n, D) of each trajectory."""
        return zip(self.times, self.states, strict=True)

    def first_values(self) -> Floats:
        """The first known value of each variable in each trajectory, (trajectories, D); NaN if none is."""
        first = np.array([states[0] for states in self.states], dtype=np.float64)
        # Only where it is missing, which is rare: a fit asks often, of up to 10,000 trajectories.
        for row, column in np.argwhere(np.isnan(first)):
            values = self.states[row][:, column]
            first[row, column] = next(iter(values[~np.isnan(values)]), np.nan)
        return first

    def scaling(self) -> Scaling:
        """The canonical units of these data: of all `names`, and of the time."""
        from odefinder.data.units import fit_scaling

        known = [
            values_within(signals, float(times[0]), float(times[-1]))
            for signals, times in zip(self.all_signals(), self.times, strict=True)
        ]
        return fit_scaling(self.times, self.states, known=known, derivative_of=self.unseen_derivatives())

    def unseen_derivatives(self) -> tuple[int, ...]:
        """As `derivative_of`, but only for those that were not measured."""
        return tuple(
            position if role == Role.VELOCITY else -1
            for position, role in zip(self.derivative_of, self.roles, strict=True)
        )

    def all_signals(self) -> tuple[Signals, ...]:
        """What drives each trajectory: a column for each of `known`, and doses."""
        return tuple(self.driving(number) for number in range(len(self)))

    def driving(self, number: int, span: tuple[float, float] = (np.inf, -np.inf)) -> Signals:
        """What drives one of them; between these times, too: inputs hold their values, the time goes on."""
        times = self.times[number]
        parts = [self.signals[number]] if self.signals else []
        if self.settings is not None:
            parts.append(constant(self.settings[number])._replace(knots=times[:1]))
        if self.explicit_time:
            ends = np.array([min(times[0], span[0]), max(times[-1], span[1])])
            parts.append(linear(ends, ends[:, None]))
        if self.doses and self.doses[number]:
            parts.append(dose_signals(self.doses[number], self.variables))
        return merged(parts)

    def _resolution(self, scale: Floats) -> float:
        """The mean squared residual that rounding leaves, each variable divided by its scale (D,)."""
        values = np.concatenate(self.states)
        lost = np.array([rounding(column) for column in values.T]) / scale
        seen = np.isfinite(values).sum(axis=0)
        return float(lost**2 @ seen / max(seen.sum(), 1))

    def observations(self, scaling: Scaling) -> Observations:
        """The data in canonical units; the clock of each trajectory starts at its own beginning."""
        times = [scaling.times(times) for times in self.times]
        states = [scaling.states(states) for states in self.states]
        data = Observations.joined(times, states)
        data = replace(data, resolution=self._resolution(data.scale * scaling.factors[: data.dimension]))
        if self.errors:
            data = replace(data, errors=np.concatenate([scaling.errors(errors) for errors in self.errors]))
        if set(self.all_roles) != {Role.OBSERVED} or self.velocities:
            factors = scaling.derivative_factors(self.derivative_of)
            data = replace(
                data, roles=self.all_roles, derivative_of=self.derivative_of, derivative_factors=factors
            )
        if not self.known and not self.doses:
            return data
        driving = zip(self.all_signals(), self.times, strict=True)
        signals = tuple(scaling.signals(one, float(times[0])) for one, times in driving)
        values = [values_at(one, t) for one, t in zip(signals, times, strict=True)]
        known = np.concatenate(values) if self.known else None
        return replace(data, known=known, signals=signals)
