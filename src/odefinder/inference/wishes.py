"""What users give to a fit besides data: guesses and seeds, as the search reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.names import not_one_of
from odefinder.edge.rules import shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.lines import read_equations
from odefinder.expressions.operators import allowed_operators
from odefinder.expressions.parse import names_in
from odefinder.expressions.program import Program
from odefinder.inference.fit.known_settings import varied_names
from odefinder.system import ODESystem


def seed_of(random_state: Any) -> int:
    """A whole number for what scikit-learn allows as random_state."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral) or random_state < 0:
        raise SettingsError(f"random_state is a whole number, 0 or more, or None, not {shown(random_state)}")
    return int(random_state)


def operators_of(
    given: Any, variables: Sequence[str]
) -> tuple[frozenset[str] | None, dict[str, frozenset[str]]]:
    """The operators that may occur in all equations (None: all of them), and in those of single variables."""
    if not isinstance(given, Mapping):
        return allowed_operators(given), {}
    by_state = {}
    for name, operators in given.items():
        if name not in variables:
            raise SettingsError(f"operators names {shown(name)}, {not_one_of(str(name), variables)}")
        if (allowed := allowed_operators(operators)) is not None:
            by_state[str(name)] = allowed
    return None, by_state


def varied_in_guess(guess: Any, vary: Any, dataset: Dataset) -> tuple[str, ...]:
    """The constants of a guess that may differ between trajectories; whether they do, the choice decides."""
    texts = [one for one in (guess if isinstance(guess, (list, tuple)) else [guess]) if isinstance(one, str)]
    sides = [side for text in texts for _, side in read_equations(text)]
    names = dict.fromkeys(name for side in sides for name in names_in(side) if name not in dataset.names)
    return varied_names(vary, list(names), "the guess", len(dataset))


def _guessed(
    text: Any, variables: Sequence[str], known: Sequence[str], constants: Mapping[str, float]
) -> ODESystem:
    try:
        return ODESystem.from_text(text, variables, constants, inputs=known)
    except ExpressionError as problem:
        if "unknown name" not in str(problem):
            raise
        raise ExpressionError(
            f"{problem}\nin a guess, constants are numbers to start from; known takes constants by name"
        ) from None


def guessed_programs(
    guess: Any,
    variables: Sequence[str],
    known: Sequence[str],
    operators: frozenset[str] | None,
    named: Sequence[str] = (),
) -> tuple[Program, ...]:
    """The guessed systems, with the variables in the order of the data; named: constants that begin at 1."""
    if guess is None:
        return ()
    programs, constants = [], dict.fromkeys(named, 1.0)
    for one in guess if isinstance(guess, (list, tuple)) else [guess]:
        system = one if isinstance(one, ODESystem) else _guessed(one, variables, known, constants)
        if set(system.variables) != set(variables):
            raise ExpressionError(
                f"the guess is about {', '.join(system.variables)}, the data about {', '.join(variables)}; "
                "use the names of the data"
            )
        program = system.with_variables(variables).program
        if operators is not None and (others := program.operators() - operators):
            raise SettingsError(
                f"the guess has {', '.join(sorted(others))}, which operators does not allow; add it there, "
                "or leave it out of the guess"
            )
        programs.append(program)
    return tuple(programs)
