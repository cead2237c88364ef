"""Features for sparse regression: what the terms of an equation may look like.

A feature is a prefix program without an outer coefficient.  Functions with constants inside are in the
library several times, with inner constants on a coarse grid in canonical units; whoever selects one polishes
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.observations import Floats, Ints
from odefinder.expressions import drafts
from odefinder.expressions.drafts import Draft, number, power
from odefinder.expressions.form import pinned
from odefinder.expressions.monomials import exponents, monomial, product
from odefinder.expressions.program import (
    ABS,
    ADD,
    CONST,
    COS,
    EXP,
    INV,
    LOG,
    MUL,
    POW,
    SIN,
    TANH,
    VAR,
    Ops,
    Program,
    Values,
)
from odefinder.inference.fit.integral import FUNCTION_COST
from odefinder.inference.fit.states import StateEstimate, integrated_again
from odefinder.limits.alarm import rings
from odefinder.numerics.evaluate import eval_system

LARGEST = 50.0  # largest value that most features may have
MAX_FEATURES = 3500

# Grids of inner constants, fine enough for the polishing to reach the values in between.  With many variables
# only every other value is used.
RATES = (-12.0, -8.0, -5.5, -4.0, -2.8, -2.0, -1.4, -1.0, 1.0, 1.4, 2.0, 2.8, 4.0, 5.5, 8.0, 12.0)  # exp(a x)
FREQUENCIES = (
    *(1.0, 1.5, 2.0, 2.6, 3.2, 3.9, 4.6, 5.4, 6.2, 7.1, 8.0, 9.0, 10.0, 11.2, 12.5),
    *(14.0, 15.5, 17.0, 18.5, 20.0, 21.5, 23.0, 24.5, 26.0, 27.5, 29.0, 30.5, 32.0),  # angles that wind
)  # sin(a x)
PAIR_FREQUENCIES = (1.0, 2.2, 3.2, 4.2, 6.0)  # sin(a x - b y)
# 1 / (1 + a x)
SATURATIONS = (-0.9, -0.75, -0.5, 0.4, 0.8, 1.5, 2.7, 5.0, 9.0, 16.0, 30.0, 60.0, 120.0, 250.0)
STEEPNESSES = (2.0, 5.0, 12.0)  # tanh(a (x - c))
EXPONENTS = (-2.0, -1.0, -0.5, 0.25, 0.5, 0.75, 1.25, 1.5, 2.5)  # x^p


Shape = tuple[tuple[int, float], ...]  # opcodes and indices of variables


@dataclass(frozen=True)
class Feature:
    """One possible term of an equation."""

    draft: tuple[tuple[int, float], ...]
    family: str  # polynomial, trigonometric, rational, saturating, exponential or power
    degree: int = 0  # of a polynomial feature
    largest: float = LARGEST  # value that it may have; beyond this there is a pole nearby
    natural: bool = False  # whether the constants inside are units, not numbers that were chosen

    @cached_property
    def shape(self) -> Shape:
        """The draft without the values of its constants."""
        return tuple((op, 0.0 if op == CONST else value) for op, value in self.draft)

    @cached_property
    def inner(self) -> int:
        """The number of constants inside."""
        return sum(op == CONST for op, _ in self.draft)

    @property
    def to_fit(self) -> int:
        """The number of those that are to be fitted."""
        return 0 if self.natural else self.inner

    @cached_property
    def cost(self) -> float:
        """What the term adds to the size in `integral.component_score`, with its coefficient."""
        if not self.draft:
            return 2.0
        function = 0.0 if self.family == "polynomial" else FUNCTION_COST
        given = self.inner if self.natural else pinned(np.array([op for op, _ in self.draft], np.int8))
        return 2.5 + self.inner - given + len(self.draft) / 2 + function


@dataclass(frozen=True)
class Library:
    """Features and their integrals along the state estimate."""

    features: list[Feature]
    integrals: Floats  # (features, N)
    depth: int = 1  # how often they are integrated


def equation(features: Sequence[Feature], coefficients: Sequence[float] | Floats) -> Program:
    """The sum of coefficient * feature."""
    draft: Draft = []
    for k, (feature, coefficient) in enumerate(zip(features, coefficients, strict=True)):
        if k < len(features) - 1:
            draft.append((ADD, 0.0))
        if feature.draft:
            draft.append((MUL, 0.0))
        draft.append((CONST, float(coefficient)))
        draft.extend(feature.draft)
    if not draft:
        draft = [(CONST, 0.0)]
    ops, values = zip(*draft, strict=True)
    return Program(np.array(ops, np.int8), np.array(values, np.float64))


def linear_equation(dimension: int) -> Program:
    """A constant and a multiple of every variable, all yet to be fitted."""
    features = list(monomials(dimension, 1))
    return equation(features, np.full(len(features), 0.1))


# ---------------------------------------------------------------- features


def _power(variable: int, exponent: int) -> Draft:
    return power(drafts.variable(variable), number(exponent))


def _pair(dimension: int, first: int, second: int) -> Draft:
    """The product of two variables, which may be the same."""
    powers = [0] * dimension
    powers[first] += 1
    powers[second] += 1
    return monomial(powers)


def monomials(dimension: int, degree: int) -> Iterator[Feature]:
    """All products of variables up to this degree; the constant is the empty one."""
    for powers in exponents(dimension, degree):
        yield Feature(tuple(monomial(powers)), "polynomial", sum(powers))


def highest_degree(dimension: int) -> int:
    """Of the monomials in the library."""
    return {1: 5, 2: 4}.get(dimension, 3 if dimension <= 6 else (2 if dimension <= 20 else 1))


def _inverse(variable: int) -> Draft:
    return [(INV, 0.0), (VAR, float(variable))]


def _times(constant: float, draft: Draft) -> Draft:
    return [(MUL, 0.0), (CONST, constant), *draft]


def _plus(constant: float, draft: Draft) -> Draft:
    return [(ADD, 0.0), (CONST, constant), *draft]


def _functions(variable: int, low: float, high: float, thin: int) -> Iterator[tuple[str, Draft]]:
    """Functions of one variable that lies between low and high, with every thin-th inner constant."""
    x: Draft = [(VAR, float(variable))]
    span = max(high - low, 1e-6)
    for a in FREQUENCIES[::thin]:
        yield "trigonometric", [(SIN, 0.0), *_times(a, x)]
        yield "trigonometric", [(COS, 0.0), *_times(a, x)]
    for a in RATES[1::thin]:
        yield "exponential", [(EXP, 0.0), *_times(a, x)]
    for exponent in (1, 2, 3, 4):
        for a in SATURATIONS[::thin]:
            if a > 0.0 or exponent < 3:
                a = a if high > -low or exponent % 2 == 0 else -a
                yield "rational", [(INV, 0.0), *_plus(1.0, _times(a, _power(variable, exponent)))]
    for a in STEEPNESSES:
        for share in (0.2, 0.5, 0.8):
            rate = a / span
            center = low + share * span
            yield "saturating", [(TANH, 0.0), *_plus(-rate * center, _times(rate, x))]
    if low > 0.0:
        yield "power", [(LOG, 0.0), *x]
        for p in EXPONENTS:
            yield "power", _inverse(variable) if p == -1.0 else [(POW, 0.0), *x, (CONST, p)]
    elif high < 0.0:
        yield "power", _inverse(variable)
    if low < 0.0 < high:
        yield "power", [(ABS, 0.0), *x]


def _pairs(dimension: int) -> Iterator[Feature]:
    """Sines of sums and differences of two variables, each with its own frequency."""
    for i, j in combinations(range(dimension), 2):
        for a in PAIR_FREQUENCIES:
            for b in PAIR_FREQUENCIES:
                for sign in (-1.0, 1.0):
                    inside = [(ADD, 0.0), *_times(a, [(VAR, float(i))]), *_times(sign * b, [(VAR, float(j))])]
                    for function in (SIN, COS):
                        yield Feature(((function, 0.0), *inside), "trigonometric")


def _with_factors(dimension: int, ranges: Floats) -> Iterator[Feature]:
    """Functions of one variable, alone and times variables; sines also over one that keeps its sign."""
    thin = 1 if dimension <= 3 else 2
    keep_sign = [v for v, (low, high) in enumerate(ranges) if low > 0.0 or high < 0.0]
    functions = [
        (v, list(_functions(v, float(low), float(high), thin))) for v, (low, high) in enumerate(ranges)
    ]
    for v, found in functions:
        for family, draft in found:
            yield Feature(tuple(draft), family)
            yield Feature(tuple(product([_power(v, 1), draft])), family)
    if dimension <= 8:
        for v, found in functions:
            for family, draft in found:
                for other in range(dimension):
                    if other != v:
                        yield Feature(tuple(product([_power(other, 1), draft])), family)
    if dimension <= 3:
        for v, found in functions:
            for family, draft in found:
                if family == "trigonometric":
                    factors = [_inverse(other) for other in keep_sign if other != v]
                else:
                    factors = [_pair(dimension, v, other) for other in range(dimension)]
                for factor in factors:
                    yield Feature(tuple(product([factor, draft])), family)


def ranges_of(estimate: StateEstimate) -> Floats:
    """The lowest and the highest value of every variable (V, 2)."""
    return np.stack([estimate.nodes.min(axis=0), estimate.nodes.max(axis=0)], axis=1)


def all_features(estimate: StateEstimate) -> list[Feature]:
    """Everything a term may be, for systems of this dimension and range."""
    dimension = estimate.nodes.shape[1]
    ranges = ranges_of(estimate)
    features = list(monomials(dimension, highest_degree(dimension)))
    if dimension <= 4:
        features += _pairs(dimension)
    features += _with_factors(dimension, ranges)
    return features[:MAX_FEATURES]


# ---------------------------------------------------------------- values


@compiled
def _feature_integrals(
    ops: Ops, values: Values, bounds: Ints, limits: Floats, nodes: Floats, weights: Floats, ends: Ints,
    starts: NDArray[np.bool_], out: Floats,
) -> None:  # fmt: skip
    """out[f, i]: the integral of feature f from the trajectory's start to time i; NaN where it has a pole."""
    stack, result = np.empty(64), np.empty(1)
    for f in range(len(bounds) - 1):
        a, b = bounds[f], bounds[f + 1]
        total, node, largest = 0.0, 0, 0.0
        if rings():  # there is no time for this one
            out[f] = np.nan
            continue
        for i in range(len(ends)):
            if starts[i]:
                total = 0.0
            while node < ends[i]:
                result[0] = 1.0
                if b > a:
                    eval_system(ops[a:b], values[a:b], b - a, nodes[node], stack, result)
                total += weights[node] * result[0]
                largest = max(largest, abs(result[0]))
                node += 1
            out[f, i] = total
        if not (largest < limits[f] and np.isfinite(total)):
            out[f] = np.nan


def feature_integrals(features: Sequence[Feature], estimate: StateEstimate, depth: int = 1) -> Floats:
    """Integrals, repeated `depth` times: (features, N).

    NaN rows where a feature is not finite or very large somewhere.
    """
    moments = [_moments(features, estimate, power) for power in range(depth)]
    return integrated_again(moments, estimate.times)


def _moments(features: Sequence[Feature], estimate: StateEstimate, power: int) -> Floats:
    """Integrals of the features times a power of the time."""
    flat = [node for feature in features for node in feature.draft]
    bounds = np.cumsum([0, *(len(feature.draft) for feature in features)])
    starts = np.zeros(len(estimate.states), np.bool_)
    starts[estimate.bounds[:-1]] = True
    out = np.empty((len(features), len(estimate.states)))
    _feature_integrals(
        np.array([op for op, _ in flat], np.int8), np.array([value for _, value in flat], np.float64), bounds,
        np.array([feature.largest for feature in features]), estimate.nodes,
        estimate.weights * estimate.node_times**power, estimate.ends, starts, out,
    )  # fmt: skip
    return out


def make_library(estimate: StateEstimate, features: list[Feature] | None = None, depth: int = 1) -> Library:
    """All features, or the given ones, that are finite along the states, with their repeated integrals."""
    features = all_features(estimate) if features is None else features
    integrals = feature_integrals(features, estimate, depth)
    fine = np.isfinite(integrals).sum(axis=1) == integrals.shape[1]
    features = [feature for feature, good in zip(features, fine.tolist(), strict=True) if good]
    return Library(features, np.ascontiguousarray(integrals[fine]), depth)
