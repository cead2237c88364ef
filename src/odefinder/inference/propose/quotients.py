"""Rate laws over a denominator: 1 + a x + b x^2, as in inhibition, and 1 + a x^p, as Hill's.

Two constants inside a function are too many for a grid.  But where f = p(x) / q(x), the derivative times q is
a polynomial, and the constants of q are coefficients of a linear regression, here in integral form:

    x_i' = p(x) - a x_i' x_j - b x_i' x_j^2

It has all terms that p may have, so it says little about those.  But it says which q, and around it the terms
of the equation are selected as around any function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions import drafts
from odefinder.expressions.drafts import Draft
from odefinder.expressions.monomials import exponents, monomial, product
from odefinder.expressions.program import ADD, CONST, INV, MUL, POW
from odefinder.inference.fit.integral import floor
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import Feature
from odefinder.inference.propose.terms import MAX_ROWS
from odefinder.limits.alarm import alarm_rings

MOST_VARIABLES = 6
QUADRATIC = (1.0, 2.0)
HILL = (1.3, 1.7, 2.2, 2.8, 3.5, 4.5, 6.0, 8.0, 10.5)  # exponents between which a better one is looked for
FINE = 15  # steps of that
WORTH = 2.0  # times log N by which a denominator must raise the log-likelihood
KEPT = 2  # denominators of one equation
LEAST = 0.01  # of a denominator that is 1 at 0, or relative to its largest value: below this a pole is near
TINY = 1e-13  # share of the variance that splines through exact data leave
DEGREE = 2  # of what may stand above a quadratic one; above others, 1: more would be as good without them


@dataclass(frozen=True)
class Denominator:
    """1 + sum of coefficient * x^power, and by how much it raises the log-likelihood."""

    variable: int
    powers: Sequence[float]
    coefficients: Floats
    gain: float

    @property
    def inverse(self) -> Draft:
        """1 over it; powers that are no whole numbers are constants, which may be fitted."""
        draft: Draft = [(CONST, 1.0)]
        for power, coefficient in zip(self.powers, self.coefficients.tolist(), strict=True):
            x = drafts.variable(self.variable)
            raised = drafts.power(x, drafts.number(power)) if self.powers is QUADRATIC else _real(x, power)
            draft = [(ADD, 0.0), *draft, (MUL, 0.0), (CONST, coefficient), *raised]
        return [(INV, 0.0), *draft]


def _real(x: Draft, power: float) -> Draft:
    return [(POW, 0.0), *x, (CONST, power)]


def quotient_features(component: int, data: Observations, estimate: StateEstimate) -> list[Feature]:
    """Monomials over the denominators that explain most of a variable's equation."""
    unusual = data.variables > MOST_VARIABLES or data.lineage(component) != (component, 1)
    if unusual or not np.isfinite(estimate.derivatives[:, component]).all():
        return []
    found = sorted(_denominators(component, data, estimate), key=lambda one: -one.gain)
    return [
        Feature(tuple(product([*above, one.inverse])), "rational")
        for one in found[:KEPT]
        for powers in exponents(data.variables, _degree(one.powers))
        for above in ([monomial(powers)] if any(powers) else [],)
    ]


def _denominators(component: int, data: Observations, estimate: StateEstimate) -> Iterator[Denominator]:
    """Of each variable the quadratic one, and the best with one power, if they are worth it."""
    regression = _Regression.of(component, data, estimate)
    for variable, x in enumerate(estimate.nodes.T):
        if alarm_rings():
            return
        found = [regression.solved(variable, QUADRATIC)]
        if x.min() > 0.0:
            found.append(_hill(regression, variable))
        yield from (one for one in found if one is not None)


def _hill(regression: _Regression, variable: int) -> Denominator | None:
    """The best with one power: a coarse search, then a fine one."""
    tried = [regression.solved(variable, (power,)) for power in HILL]
    gains = [0.0 if one is None else one.gain for one in tried]
    best = int(np.argmax(gains))
    if tried[best] is None:
        return None
    low, high = HILL[max(best - 1, 0)], HILL[min(best + 1, len(HILL) - 1)]

    def lost(power: float) -> float:
        one = regression.solved(variable, (power,))
        return 0.0 if one is None else -one.gain

    power = minimize_scalar(lost, bounds=(low, high), method="bounded", options={"maxiter": FINE}).x
    return regression.solved(variable, (float(power),)) or tried[best]


@dataclass(frozen=True)
class _Regression:
    """The equation of one variable in integral form."""

    nodes: Floats  # (M, V)
    slopes: Floats  # (M,): its derivative there
    target: Floats  # (rows,)
    rows: Ints
    trajectory: Ints  # (rows,)
    floor: float  # share of the variance that need not be explained
    estimate: StateEstimate

    @classmethod
    def of(cls, component: int, data: Observations, estimate: StateEstimate) -> _Regression:
        observed = data.states[:, component]
        rows = np.flatnonzero(np.isfinite(observed))
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(int))]
        trajectory = data.trajectory_of(rows)
        slopes = np.zeros(len(estimate.nodes))
        for first, last in data.spans():
            if last - first < 2:  # without any nodes
                continue
            own = slice(estimate.ends[first], estimate.ends[last - 1])
            curve = CubicSpline(data.times[first:last], estimate.derivatives[first:last, component])
            slopes[own] = curve(estimate.node_times[own])
        target = _centred(observed[rows, None], trajectory)[:, 0]
        least = floor(data, estimate, component) - FLOOR + TINY
        return cls(estimate.nodes, slopes, target, rows, trajectory, least, estimate)

    def solved(self, variable: int, powers: Sequence[float]) -> Denominator | None:
        """The denominator with these powers of a variable; None if the polynomial alone does as well."""
        raised = self.nodes[:, [variable]] ** np.array(powers)  # (M, powers)
        above = _numerator(self.nodes, variable, powers)
        polynomial, below = self._columns(above), self._columns(raised * self.slopes[:, None])
        if polynomial.shape[1] + len(powers) > len(self.target) / 2:
            return None
        _, before = _least_squares(polynomial, self.target)
        solution, after = _least_squares(np.hstack([polynomial, -below]), self.target)
        gain = 0.5 * len(self.target) * float(np.log((before + self.floor) / (after + self.floor)))
        coefficients = solution[-len(powers) :]
        values = 1.0 + raised @ coefficients
        if not gain > WORTH * np.log(len(self.target)) or not values.min() > LEAST * min(values.max(), 1.0):
            return None
        return Denominator(variable, powers, coefficients, gain)

    def _columns(self, values: Floats) -> Floats:
        """Integrals of functions at the nodes (M, n), without their means over each trajectory."""
        return _centred(self.estimate.integrals(values)[self.rows], self.trajectory)


def _degree(powers: Sequence[float]) -> int:
    return DEGREE if powers is QUADRATIC else 1


def _numerator(nodes: Floats, variable: int, powers: Sequence[float]) -> Floats:
    """Monomials up to a degree, also times these powers of the variable: (M, columns)."""
    plain = list(exponents(nodes.shape[1], _degree(powers)))
    found: dict[tuple[float, ...], None] = dict.fromkeys(plain)  # each once
    for one in plain:
        for power in powers:
            found[tuple(own + power * (k == variable) for k, own in enumerate(one))] = None
    return np.column_stack([np.prod(nodes ** np.array(one), axis=1) for one in found])


def _centred(columns: Floats, trajectory: Ints) -> Floats:
    result = columns.copy()
    for k in np.unique(trajectory):
        own = trajectory == k
        result[own] -= result[own].mean(axis=0)
    return result


def _least_squares(columns: Floats, target: Floats) -> tuple[Floats, float]:
    """Coefficients, and the share of the variance that is left."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    solution = np.linalg.lstsq(columns / lengths, target, rcond=1e-12)[0] / lengths
    rest = target - columns @ solution
    return solution, float(rest @ rest) / max(float(target @ target), 1e-300)
