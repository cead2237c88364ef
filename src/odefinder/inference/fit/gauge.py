"""The gauge of hidden states: nobody measured them, so their scale and sign are free and must be chosen.

While systems are compared, a hidden state has the largest magnitude 1; it is positive if it never changes its
sign, and otherwise raises the first observed state that it acts on.  For people, its scale is such that a
coefficient is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats, Observations
from odefinder.data.units import Scaling
from odefinder.expressions.canonical import canonical
from odefinder.expressions.program import CONST, MUL, VAR, Program, component_bounds
from odefinder.expressions.terms import term_bounds
from odefinder.inference.fit.refine import BOUND, Fit
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import Status, integrate

STEP = 1e-3  # of a hidden state, for the sign of its effect


def path_of(program: Program, starts: Floats, data: Observations) -> Floats | None:
    """The states (N, D) of a system at the observed times; None if it cannot be integrated."""
    path = np.empty((len(data.times), data.dimension))
    bound = BOUND * data.largest
    systems = data.whole_systems(program)
    for k, (first, last) in enumerate(data.spans()):
        path[first:last], status = integrate(
            systems[k], starts[k], data.times[first:last], signals=data.signals_of(k), rtol=1e-6,
            atol=1e-9 * bound / BOUND, bound=bound,
        )  # fmt: skip
        if status != Status.OK:
            return None
    return path


def variables_along(path: Floats, data: Observations) -> Floats:
    """States and known variables (N, V)."""
    return path if data.known is None else np.hstack([path, data.known])


def rescaled(program: Program, starts: Floats, hidden: int, factor: float) -> tuple[Program, Floats]:
    """A system in which a hidden state is divided by a factor."""
    states, used = starts.shape[1], program.ops == VAR
    variables = max(states, 1 + int(program.values[used].max(initial=0.0)))
    factors = np.ones(variables)
    factors[hidden] = factor
    new = starts.copy()
    new[:, hidden] /= factor
    return Scaling(factors, 1.0, variables - states).to_scaled(program), new


def normalised(fit: Fit, data: Observations, hidden: Sequence[int]) -> tuple[Fit, Floats] | None:
    """The fit with hidden states of largest magnitude 1, and its path (N, D); None if it has none."""
    path = path_of(fit.program, fit.starts, data)
    if path is None:
        return None
    program, starts = fit.program, fit.starts
    for k in hidden:
        factor = float(np.abs(path[:, k]).max())
        if not factor > 0.0:
            continue
        factor *= _sign(program, path, data, k)
        program, starts = rescaled(program, starts, k, factor)
        path[:, k] /= factor
    return Fit(canonical(program, explicit=True), starts, fit.error), path


def _sign(program: Program, path: Floats, data: Observations, hidden: int) -> float:
    """1 or -1: the sign that a hidden state gets."""
    own = path[:, hidden]
    if own.min() >= 0.0 or own.max() <= 0.0:
        return 1.0 if own.max() > 0.0 else -1.0
    step = np.zeros(path.shape[1])
    step[hidden] = STEP * float(np.abs(own).max())
    with np.errstate(all="ignore"):
        above = evaluate(program, variables_along(path + step, data))
        effect = np.nanmean(above - evaluate(program, variables_along(path - step, data)), axis=0)
    for k in np.flatnonzero(~data.unseen):
        if effect[k] != 0.0 and np.isfinite(effect[k]):
            return float(np.sign(effect[k]))
    return 1.0


def readable(program: Program, starts: Floats, hidden: Sequence[int]) -> tuple[Program, Floats]:
    """The system with hidden states scaled so that the coefficient of the first effect of each is 1 or -1."""
    program = canonical(program, explicit=True)
    for k in hidden:
        place = _coupling(program, k)
        if place is None:
            continue
        program, starts = rescaled(program, starts, k, 1.0 / abs(float(program.constants[place])))
        program = canonical(program, explicit=True)
        constants = program.constants
        constants[_coupling(program, k)] = np.sign(constants[_coupling(program, k)])  # exactly
        program = program.with_constants(constants)
    return program, starts


def conventions(explicit: Program, hidden: Sequence[int]) -> NDArray[np.bool_]:
    """Which constants are 1 or -1 because the scale of a hidden state was chosen so."""
    places = [place for k in hidden if (place := _coupling(explicit, k)) is not None]
    found = np.zeros(len(explicit.constants), np.bool_)
    found[places] = True
    return found & (np.abs(explicit.constants) == 1.0)


def _coupling(explicit: Program, hidden: int) -> int | None:
    """The constant of the first term that is linear in a hidden state, in another equation: its number."""
    numbers = np.cumsum(explicit.ops == CONST) - 1
    for component, (first, _) in enumerate(component_bounds(explicit.ops)):
        if component == hidden:
            continue
        for begin, end in term_bounds(explicit, first):
            ops, values = explicit.ops[begin:end], explicit.values[begin:end]
            own = (ops == VAR) & (values == hidden)
            plain = len(ops) > 1 and ops[0] == MUL and ops[1] == CONST and values[1] != 0.0
            if own.sum() == 1 and plain and np.isin(ops, (MUL, CONST, VAR)).all():
                return int(numbers[begin + 1])
    return None
