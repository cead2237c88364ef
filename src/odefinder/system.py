"""A system of ODEs as an object: the result of a fit, or equations that are already known."""

from __future__ import annotations

import json
import keyword
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.data.roles import TIME_NAME
from odefinder.edge.arrays import numbers
from odefinder.edge.documents import MOST_BYTES, parsed
from odefinder.edge.parameters import checked, kept
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import ListOf, OrNone, Text, items
from odefinder.edge.writing import write_text
from odefinder.errors import DataError, ExpressionError, SettingsError, SimulationWarning, StiffnessWarning
from odefinder.expressions.digits import Digits
from odefinder.expressions.lines import listed, read_equations, sorted_equations
from odefinder.expressions.parse import check_inputs, check_names, parse
from odefinder.expressions.program import Program, check_system, concatenate
from odefinder.expressions.saved import SavedSystem, as_dict, read_dict
from odefinder.expressions.written import latex_block, python_function, text_lines
from odefinder.simulation.given import increasing_times

if TYPE_CHECKING:
    from odefinder.numerics.signals import Signals


@dataclass(frozen=True, repr=False, eq=False)
class ODESystem:
    """dx/dt = f(x, u): a program with one expression per variable, and the names of variables and inputs.

    Inputs are known signals without equations; one that is called t is the time itself.  `digits` says how
    many digits of a constant are printed, by its absolute value, where four do not reproduce the trajectory.
    Systems are equal if they have the same names and terms, in any order.

    >>> system = ODESystem.from_text("x' = a*x - x*y; y' = x*y - y", constants={"a": 0.5})
    >>> print(system)
    x' = 0.5*x - x*y
    y' = x*y - y
    """

    program: Program
    variables: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    digits: Mapping[float, int] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set, init=False)  # notes about inputs, which are said once

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", check_names(self.variables))
        object.__setattr__(self, "inputs", check_names(self.inputs, "input"))
        if not self.variables:
            raise ExpressionError("a system needs at least one variable")
        check_inputs(self.inputs, self.variables)
        check_system(self.program, len(self.variables), len(self.names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ODESystem) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[Program, tuple[str, ...], tuple[str, ...]]:
        """The same for systems whose terms and factors differ only in their order."""
        from odefinder.expressions.canonical import canonical

        try:
            return canonical(self.program), self.variables, self.inputs
        except ExpressionError:  # such as 1/0
            return self.program, self.variables, self.inputs

    # ------------------------------------------------------------------------------------ constructors

    @classmethod
    def from_text(
        cls,
        equations: Sequence[str] | Mapping[str, str] | str,
        variables: Sequence[str] | None = None,
        constants: Mapping[str, float] | None = None,
        inputs: Sequence[str] = (),
    ) -> ODESystem:
        """A system from right-hand sides, from a mapping variable -> right-hand side, or from lines.

        Lines look like `x' = a*x - b*x*y` or `dx/dt = ...`; a semicolon also ends a line, # begins a comment.
        Where left-hand sides are given, they name the variables (`variables` then only sets the order).
        `inputs` names known signals that the equations may read: "v' = u - v" with inputs=["u"].
        """
        names, right_sides = sorted_equations(read_equations(equations), variables)
        known = check_inputs(check_names(inputs, "input"), names)
        programs = []
        for name, right_side in zip(names, right_sides, strict=True):
            try:
                programs.append(parse(right_side, [*names, *known], constants))
            except ExpressionError as error:
                raise ExpressionError(f"in the equation of {name}: {error}") from None
        return cls(concatenate(programs), names, known)

    @classmethod
    def from_sympy(
        cls,
        expressions: Sequence[Any] | Mapping[Any, Any],
        variables: Sequence[Any] | None = None,
        inputs: Sequence[Any] = (),
    ) -> ODESystem:
        """A system from SymPy right-hand sides; variables (or a mapping's keys) are symbols or names."""
        from odefinder.expressions.sympy_io import from_sympy

        pairs: list[tuple[str | None, Any]]
        if isinstance(expressions, Mapping):
            pairs = [(str(name), expression) for name, expression in expressions.items()]
        else:
            pairs = [(None, expression) for expression in listed(expressions, "SymPy expressions")]
        given = None if variables is None else [str(one) for one in listed(variables, "variables")]
        names, right_sides = sorted_equations(pairs, given)
        known = check_inputs(check_names([str(one) for one in listed(inputs, "inputs")], "input"), names)
        programs = [from_sympy(expression, [*names, *known]) for expression in right_sides]
        return cls(concatenate(programs), names, known)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ODESystem:
        """The system that `to_dict` described."""
        return cls(*read_dict(data))

    @classmethod
    def from_json(cls, text: str) -> ODESystem:
        """The system that `to_json` described."""
        return cls.from_dict(parsed(text))

    @classmethod
    def load(cls, path: str | Path) -> ODESystem:
        """The system in a file that `save` wrote."""
        file = checked("path", path)
        content = read_bytes(file, MOST_BYTES)
        try:
            return cls.from_dict(parsed(content))
        except (DataError, ExpressionError) as error:
            raise DataError(f"cannot read {path}: {error}") from None

    # ------------------------------------------------------------------------------------ values

    def with_variables(self, names: Sequence[str]) -> ODESystem:
        """The same system with its variables, and their equations, in this order."""
        names = check_names(names)
        if sorted(names) != sorted(self.variables):
            raise ExpressionError(
                f"the variables of the system are {', '.join(self.variables)}, not {', '.join(names)}; "
                "give the same ones in another order"
            )
        equations = self.program.components()
        program = concatenate([equations[self.variables.index(name)] for name in names])
        return replace(
            self, program=self._renumbered(program, [*names, *self.inputs]), variables=tuple(names)
        )

    def with_inputs(self, names: Sequence[str]) -> ODESystem:
        """The same system with its inputs in this order; there may be others, which it does not read."""
        names = check_names(names, "input")
        if missing := [name for name in self.inputs if name not in names]:
            raise ExpressionError(f"the system reads {', '.join(missing)}, too; name all of its inputs")
        if tuple(names) == self.inputs:
            return self
        program = self._renumbered(self.program, [*self.variables, *names])
        return replace(self, program=program, inputs=tuple(names))

    def _renumbered(self, program: Program, order: Sequence[str]) -> Program:
        """A program that reads variables and inputs in this order."""
        return program.renumbered([order.index(name) for name in self.names])

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, then the inputs: what equations may read, in the order of the program."""
        return (*self.variables, *self.inputs)

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return len(self.variables)

    @property
    def complexity(self) -> int:
        """Operators, variables and constants, counted over all equations."""
        return self.program.complexity

    @property
    def constants(self) -> NDArray[np.float64]:
        """The values of the constants, in the order of the program."""
        return self.program.constants

    def derivative(self, x: ArrayLike, inputs: Any = None) -> NDArray[np.float64]:
        """f(x) at one point, (D,) -> (D,), or at several, (N, D) -> (N, D).

        inputs: their values there, in order or by name; the time is among them if the system has an input t.
        """
        from odefinder.numerics.evaluate import evaluate
        from odefinder.simulation.driving import input_values

        points = numbers(x, "x")
        if points.ndim not in (1, 2) or points.shape[-1] != self.dimension:
            raise DataError(
                f"x has shape {points.shape}; give one point as ({self.dimension},) or several as "
                f"(N, {self.dimension}), with the variables in the order {', '.join(self.variables)}"
            )
        rows = points.reshape(-1, self.dimension)
        known = input_values(self.inputs, inputs, len(rows))
        return evaluate(self.program, np.hstack([rows, known])).reshape(points.shape)

    def simulate(
        self,
        x0: ArrayLike | Mapping[str, float],
        t: ArrayLike,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        doses: Mapping[str, Sequence[tuple[float, float]]] | None = None,
        *,
        rtol: float = 1e-8,
        atol: float | None = None,
        max_steps: int = 100_000,
    ) -> NDArray[np.float64]:
        """The trajectory (N, D) at the times t, from x0 at t[0]: values in order, or {"x": 1.0, "y": 0.5}.

        inputs: a mapping name -> values at the times t, a function u(t), a pair (times, values) or a number;
        or all of them at once, as an array (N, inputs), a function or a DataFrame with its own times.
        `odefinder.data.Hold` around values keeps each until the next.  conditions: a mapping name -> number.
        doses: a mapping variable -> list of (time, amount), added just after these times.

        rtol, atol: tolerated error of a step; without atol it is 1e-10 of the size of every variable.  Where
        the solution does not exist, the rows are NaN and a `SimulationWarning` says why.  A stiff system is
        handed to an implicit method, with a `StiffnessWarning`.
        """
        from odefinder.numerics.integrate import Status
        from odefinder.simulation.domain import END_OF_DOMAIN, leaves_domain
        from odefinder.simulation.trajectory import Task, rows_reached, trajectory

        start, times = self.initial_values(x0, "x0"), increasing_times(t)
        rtol, atol = checked("rtol", rtol), checked("atol", atol)
        max_steps = checked("max_steps", max_steps)
        signals = self._driving(times, inputs, conditions, doses)
        task = Task(self.program, start, times, signals, rtol, max_steps)
        found = trajectory(task, atol)
        if found.stiff:
            from odefinder.numerics.stiff import METHOD

            message = f"the system looks stiff: the implicit method {METHOD} took over, which is slower"
            warnings.warn(StiffnessWarning(message), stacklevel=2)
        if found.status != Status.OK:
            last = times[rows_reached(found.states) - 1]
            ended = leaves_domain(self.program, times, found.states, found.status, signals)
            message = (
                f"the solution was found only until t = {last:.6g} (of {times[-1]:.6g}), later rows are NaN. "
                f"{END_OF_DOMAIN if ended else found.status.message}"
            )
            warnings.warn(SimulationWarning(message), stacklevel=2)
        return found.states

    def _driving(self, times: NDArray[np.float64], inputs: Any, conditions: Any, doses: Any) -> Signals:
        """What drives the system between the first and the last time."""
        from odefinder.simulation.driving import driving_signals, with_doses

        signals, notes = driving_signals(self.inputs, inputs, conditions, times)
        for note in sorted(set(notes) - self._told):
            warnings.warn(SimulationWarning(note), stacklevel=3)
        self._told.update(notes)
        return with_doses(signals, doses, self.variables)

    def driven(
        self,
        t: ArrayLike,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        doses: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    ) -> tuple[NDArray[np.float64], Signals]:
        """The times, checked, and what drives the system between them."""
        times = increasing_times(t)
        return times, self._driving(times, inputs, conditions, doses)

    def initial_values(self, x0: ArrayLike | Mapping[str, float], what: str = "x0") -> NDArray[np.float64]:
        """The initial values in the order of the variables, checked."""
        if isinstance(x0, Mapping):
            if set(x0) != set(self.variables):
                given = ", ".join(map(str, x0)) or "nothing"
                raise DataError(f"{what} names {given}; give each of {', '.join(self.variables)}")
            x0 = [x0[name] for name in self.variables]
        start = np.atleast_1d(numbers(x0, what))
        if start.shape != (self.dimension,):
            raise DataError(
                f"{what} has shape {start.shape}; give one initial value for each of "
                f"{', '.join(self.variables)}"
            )
        if not np.isfinite(start).all():
            name = self.variables[int(np.flatnonzero(~np.isfinite(start))[0])]
            raise DataError(f"the initial value of {name} is not finite; give a number for every variable")
        return start

    # ------------------------------------------------------------------------------------ exports

    def __str__(self) -> str:
        return self._text(self.digits)

    def __repr__(self) -> str:
        return f'ODESystem("{"; ".join(str(self).splitlines())}")'

    def to_text(self, digits: int | None = None) -> str:
        """One line per equation, `x' = ...`; without `digits`, the numbers are exact."""
        return self._text(checked("digits", digits))

    def _text(self, digits: Digits) -> str:
        return text_lines(self.program, self.variables, self.names, digits)

    def latex(
        self,
        digits: int | Literal["enough"] | None = "enough",
        labels: Sequence[str | None] | None = None,
    ) -> str:
        """An `aligned` block for mathematics mode; by default with as many digits as `print` shows.

        labels: what stands in place of the magnitude of each of the `constants`; None: its number.
        """
        asked = checked("shown_digits", digits)
        shown: Digits = self.digits if asked == "enough" else asked
        if labels is not None:
            count, given = len(self.constants), items(labels)
            rule = ListOf(OrNone(Text()), count, count, f"a list of {count} texts, one for each constant")
            labels = kept("labels", labels if given is None else given, rule)
        return latex_block(self.program, self.variables, self.names, shown, labels)

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def sympy(self) -> list[Any]:
        """The right-hand sides as SymPy expressions of real-valued symbols."""
        from odefinder.expressions.sympy_io import to_sympy

        return [to_sympy(component, self.names) for component in self.program.components()]

    def python(self, name: str = "f") -> str:
        """The source of a function `f(t, x)`, ready for `scipy.integrate.solve_ivp`.

        With inputs it is `f(t, x, u)`; solve_ivp takes `lambda t, x: f(t, x, u(t))`.
        """
        name = checked("function", name)
        if not name.isidentifier() or keyword.iskeyword(name) or name == "np":
            raise SettingsError(f"{name!r} cannot name a Python function; use letters and digits")
        return python_function(name, self.program, self.variables, self.inputs, TIME_NAME)

    def export(
        self,
        target: str,
        start: ArrayLike | Mapping[str, float] | None = None,
        times: ArrayLike | None = None,
        inputs: Any = None,
        conditions: Mapping[str, float] | None = None,
        doses: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    ) -> str:
        """Source for another program: text, latex, python, sympy, julia, matlab, r, stan, sbml or modelica.

        start: the initial values; times: of the first and the last, the source simulates the span; inputs,
        conditions and doses as in `simulate`.  A comment says what was not given and stands there as an
        example: values of 1, and times from 0 to 10.
        """
        from odefinder.numerics.signals import constant
        from odefinder.output.export import export, problem

        given = {"start values": start, "time span": times}
        if inputs is None and conditions is None and set(self.inputs) - {TIME_NAME}:
            given["inputs"], inputs = None, constant(np.ones(len(self.inputs)))
        assumed = [what for what, value in given.items() if value is None]
        values = self.initial_values(np.ones(self.dimension) if start is None else start, "start")
        points = increasing_times([0.0, 10.0] if times is None else times)
        signals = self._driving(points, inputs, conditions, doses)
        span = (points[0], points[-1])
        what = problem(self.program, self.variables, self.inputs, values, span, signals, assumed)
        return export(replace(what, digits=self.digits), target)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the prefix program with `$0` for the first variable; `equations` is for the reader."""
        saved = SavedSystem(self.program, self.variables, self.inputs, self.digits)
        return as_dict(saved, self.to_text().splitlines())

    def to_json(self) -> str:
        """`to_dict` as JSON; the numbers are exact."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write `to_json` to a file."""
        write_text(checked("path", path), self.to_json() + "\n")
