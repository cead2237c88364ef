"""What the user knows, on its way through a fit: into the network's grammar, out of proposals, to results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.given import Given
from odefinder.data.observations import Ints, Observations
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, Program, concatenate
from odefinder.expressions.terms import sum_of, terms_of
from odefinder.inference.fit.first_values import first_given, values_like
from odefinder.inference.fit.knowledge import Knowledge, named_values
from odefinder.inference.fit.states import StateEstimate
from odefinder.language.grammar import ANY_NUMBER, Forced, template_of
from odefinder.language.tokens import Vocabulary
from odefinder.numerics.knots import merged
from odefinder.numerics.signals import constant
from odefinder.system import ODESystem

SAMPLES = 60  # states at which signs are looked at


def with_given(
    data: Observations, knowledge: Knowledge | None, scaling: Scaling, estimate: StateEstimate
) -> Observations:
    """The data in canonical units with what is known of their equations."""
    if knowledge is None:
        return data
    given = first_given(knowledge, scaling, data, estimate)
    rows = np.unique(np.linspace(0, len(estimate.nodes) - 1, SAMPLES).astype(int))
    return replace(data, given=replace(given, samples=estimate.nodes[rows]))


def known_templates(vocabulary: Vocabulary, given: Given | None, longest: int) -> Forced:
    """The whole equations that are known, for the network's grammar: any numbers may stand in them.

    None of them if they would take more than half of the longest system.
    """
    if given is None:
        return {}
    forced = {}
    for component, equation in enumerate(given.complete(given.nothing_found).program.components()):
        if given.whole[component]:
            with suppress(ExpressionError):  # a word that the network does not have
                form = Form.of(equation).program
                values = np.where(form.ops == CONST, np.nan, form.values)
                forced[component] = template_of(vocabulary, Program(form.ops, values))
    numbers = len(vocabulary.numbers.order)  # tokens of each
    size = sum(len(one) + one.count(ANY_NUMBER) * (numbers - 1) for one in forced.values())
    return forced if size <= longest // 2 else {}


# ---------------------------------------------------------------------------------------- proposals


def found_in(form: Form, data: Observations) -> Form:
    """What a proposed system says about what is to be found: without the known terms."""
    given = data.given
    if given is None:
        return form
    known = given.complete(given.nothing_found).program.components()
    rest, own = [], dict[int, Program]()
    for component, equation in enumerate(form.program.components()):
        if (closed := data.given_equation(component)) is not None:
            rest.append(closed)
        else:
            shapes = set() if given.parts[component] is None else _shapes(known[component])
            refused = given.refused(component, equation)
            every = [(structure(term), term) for term in terms_of(equation)]
            others = [
                term for k, (shape, term) in enumerate(every) if shape not in shapes and k not in refused
            ]
            rest.append(sum_of(others))
            if shapes and shapes <= {shape for shape, _ in every}:
                own[component] = sum_of([term for shape, term in every if shape in shapes])
    # The named constants begin as the proposal has them: their first values know nothing of what is found.
    values = values_like(given, own) if own and len(given.samples) else None
    numbers = None if values is None else given.numbers_at(values)
    return Form.of(given.with_numbers(concatenate(rest), numbers))


def _shapes(equation: Program) -> set[bytes]:
    """The terms of an equation, whatever their constants."""
    return {structure(term) for term in terms_of(Form.of(equation).program)}


# ---------------------------------------------------------------------------------------- results


@dataclass(frozen=True)
class Named:
    """A system in the user's units, with its named constants."""

    system: ODESystem
    constants: Mapping[str, float | tuple[float, ...]]
    found: Program  # what was found, in the user's units and in explicit form
    given: Given | None = None  # in the user's units
    knowledge: Knowledge | None = None
    ties: Ints | None = None  # (constants of `found`,): equal numbers are the same constant

    def with_found(self, found: Program, ties: Ints | None = None) -> Named:
        """The same with other constants, some of them tied."""
        if self.given is None or self.knowledge is None:
            system = ODESystem(canonical(found), self.system.variables, self.system.inputs)
            return Named(system, self.constants, found, ties=ties)
        return replace(named_of(found, self.given, self.knowledge), ties=ties)


def named_system(
    program: Program, data: Observations, scaling: Scaling, dataset: Dataset, knowledge: Knowledge | None
) -> Named:
    """The system of a fitted program in canonical units."""
    if data.given is None or knowledge is None:
        system = ODESystem(scaling.to_original(program), dataset.variables, dataset.known)
        return Named(system, {}, canonical(system.program, explicit=True))
    equations = concatenate(data.equations_of(program))
    values = data.given.user_values(program)
    given = knowledge.given(values)
    found = given.with_numbers(canonical(scaling.to_original(equations), explicit=True))
    return named_of(found, given, knowledge)


def named_of(found: Program, given: Given, knowledge: Knowledge) -> Named:
    """The system of a program of what was found, in the user's units."""
    varied = [name for name, own in zip(knowledge.constants, given.varied, strict=True) if own]
    whole = canonical(given.symbolic(found))
    system = ODESystem(whole, knowledge.variables, (*knowledge.inputs, *varied))
    constants = named_values(knowledge, given.named(given.numbers_of(found)))
    return Named(system, constants, found, given, knowledge)


def for_all_trajectories(values: Sequence[float], fitted: Ints, count: int) -> tuple[float, ...]:
    """A constant that varies, in all of `count` trajectories; values: in those that were fitted.

    The others have the median of them.
    """
    every = np.full(count, np.median(values))
    every[fitted] = values
    return tuple(every.tolist())


def varied_values(constants: Mapping[str, float | tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Those of the named constants that differ between trajectories: conditions of the result."""
    return {name: value for name, value in constants.items() if isinstance(value, tuple)}


def with_varied(data: Observations, constants: Mapping[str, object], names: Sequence[str]) -> Observations:
    """Data in the user's units whose signals have the constants that vary, after all others."""
    values = [np.array(one) for name in names if isinstance(one := constants.get(name), tuple)]
    if not values:
        return data
    own = np.array(values).T  # (trajectories, constants)
    first = data.times[data.bounds[:-1]]
    signals = tuple(
        merged(
            [*([one] if (one := data.signals_of(k)) else []), constant(row)._replace(knots=first[k : k + 1])]
        )
        for k, row in enumerate(own)
    )
    return replace(data, signals=signals)
