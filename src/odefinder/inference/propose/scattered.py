"""First values of hidden states and of the constants of known equations, scattered over orders of magnitude.

Known equations fix the units of a hidden state, so its size cannot be chosen, and the constants next to it
cannot be estimated from the data directly.  A constant's natural size makes its term change the states within
the time of the data; the values that are tried lie around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.states import StateEstimate
from odefinder.numerics.evaluate import evaluate

SIZES = (-1.0, 1.5)  # decimal logarithms of the starts of hidden states, relative to observed ones
AROUND = (-1.0, 1.5)  # likewise of constants, relative to their natural sizes
CHANGE = 0.3  # of a state, relative to its size, in a unit of time


def scattered(
    program: Program,
    data: Observations,
    estimate: StateEstimate,
    hidden: Sequence[int],
    size: float,
    count: int,
) -> Iterator[tuple[Program, Floats]]:
    """Programs of what is found, with values of the named constants, and states (N, D).

    size: of observed states in the units that hidden ones have.
    """
    given = data.given
    assert given is not None
    rng = np.random.default_rng(0)
    lower, upper = given.limits()
    for number in range(count):
        states = estimate.states.copy()
        spread = SIZES if number else (0.0, 0.0)
        states[:, hidden] = size * 10.0 ** rng.uniform(*spread, len(hidden))
        natural = _natural(program, data, states)
        values = natural * 10.0 ** rng.uniform(*(AROUND if number else (0.0, 0.0)), len(natural))
        yield given.with_numbers(program, np.clip(values, lower, upper)), states


def _natural(program: Program, data: Observations, states: Floats) -> Floats:
    """Sizes of the numbers of the named constants at which they change the states in the time of the data."""
    given = data.given
    assert given is not None
    variables = states if data.known is None else np.hstack([states, data.known])
    sizes = np.sqrt(np.mean(states**2, axis=0)) + 1e-12
    numbers = given.numbers
    with np.errstate(all="ignore"):
        silent = evaluate(data.whole_systems(given.with_numbers(program, 0.0 * numbers))[0], variables)
        result = np.ones(len(numbers))
        for k in range(len(numbers)):
            alone = np.where(np.arange(len(numbers)) == k, 1.0, 0.0)
            own = evaluate(data.whole_systems(given.with_numbers(program, alone))[0], variables) - silent
            effect = float(np.sqrt(np.mean((own / sizes) ** 2, axis=0)).max())
            if np.isfinite(effect) and effect > 0.0:
                result[k] = CHANGE / effect
    return result
