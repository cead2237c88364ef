"""Sparse polynomial systems from a long record, in weak form: no data are differentiated, none left out.

Multiplied by a bump of width 2h and integrated by parts, x' = f(x) becomes -<bump', x> = <bump, f(x)>.  Bumps
lie all along the record, and every monomial is a column of a linear regression (Messenger and Bortz, 2021).
Narrow bumps follow fast motion, wide ones average over noise, so several widths are tried.  Terms are dropped
one after the other, the least important first, and an information criterion says how many stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.monomials import exponents, monomial
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import Feature, equation
from odefinder.inference.propose.subsets import shrink
from odefinder.limits.alarm import alarm_rings

Powers = tuple[int, ...]  # exponents of the variables

WIDTHS = (0.05, 0.12, 0.3)  # of half a bump, in periods
FEWEST_INTERVALS = 2.0  # of the data in half a bump
ROUGHNESS = 4  # the bump is (1 - s^2)^4
DEGREES = {1: 5, 2: 5, 3: 4, 4: 3, 5: 3}  # the highest, by the number of variables; 2 for more
CAUTION = (1.0, 5.0)  # factors of the price of a term
MOST_BUMPS = 4000
MOST_TERMS = 500  # monomials: with more variables, equations are linear
ROWS_PER_TERM = 2  # bumps, at least, for each monomial


@dataclass(frozen=True)
class Polynomials:
    """A polynomial system: for each equation its monomials and their coefficients."""

    terms: tuple[tuple[Powers, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]

    @property
    def program(self) -> Program:
        """The system as a program with one constant for each term, in order; 0 where there is none."""
        sides = []
        for terms, coefficients in zip(self.terms, self.coefficients, strict=True):
            features = [Feature(tuple(monomial(powers)), "polynomial", sum(powers)) for powers in terms]
            sides.append(equation(features, coefficients))
        return concatenate(sides)

    @property
    def degree(self) -> int:
        return max((sum(powers) for terms in self.terms for powers in terms), default=0)


def highest_degree(dimension: int) -> int:
    """Of the monomials that are tried."""
    return DEGREES.get(dimension, 2 if comb(dimension + 2, 2) <= MOST_TERMS else 1)


def propose_long(data: Observations, estimate: StateEstimate, period: float) -> Iterator[Polynomials]:
    """Sparse polynomial systems, low degrees first; period: the time scale of the record."""
    highest = highest_degree(data.dimension)
    known = set[tuple[tuple[Powers, ...], ...]]()
    step = float(np.median(np.diff(data.times)[np.diff(data.times) > 0.0]))
    widths = sorted({max(share * period, FEWEST_INTERVALS * step) for share in WIDTHS})
    problems = [_weak_form(data, estimate, width, highest) for width in widths if not alarm_rings()]
    if alarm_rings():
        return
    for degree in range(1, highest + 1):
        for problem, width in zip(problems, widths, strict=True):
            if problem is None or len(problem[1]) < ROWS_PER_TERM * comb(data.dimension + degree, degree):
                continue
            for caution in CAUTION:
                found = _sparse(*problem, degree, data, width, caution)
                if found.terms not in known:
                    known.add(found.terms)
                    yield found


def _weak_form(
    data: Observations, estimate: StateEstimate, half: float, degree: int
) -> tuple[list[Powers], Floats, Floats] | None:
    """Monomials, their columns (bumps, monomials), and what they are to explain (bumps, D)."""
    from scipy.sparse import csr_array

    monomials = list(exponents(data.dimension, degree))
    centres, firsts, lasts = [], [], []
    spacing = max(0.5 * half, float(np.ptp(data.times)) * len(data) / MOST_BUMPS)
    for first, last in data.spans():
        begin, end = data.times[first] + half, data.times[last - 1] - half
        if end <= begin:
            continue
        own = np.linspace(begin, end, max(2, int((end - begin) / spacing)))
        a, b = estimate.ends[first], estimate.ends[last - 1]
        nodes = estimate.node_times[a:b]
        centres.append(own)
        firsts.append(a + np.searchsorted(nodes, own - half))
        lasts.append(a + np.searchsorted(nodes, own + half))
    if not centres:
        return None
    centre, first_node, last_node = map(np.concatenate, (centres, firsts, lasts))
    lengths = last_node - first_node
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - first_node, lengths)
    s = (estimate.node_times[columns] - np.repeat(centre, lengths)) / half
    inside = 1.0 - s**2
    weights = estimate.weights[columns]
    shape = len(centre), len(estimate.node_times)
    bump = csr_array((weights * inside**ROUGHNESS, columns, offsets), shape=shape)
    slope = weights * (-2.0 * ROUGHNESS / half) * s * inside ** (ROUGHNESS - 1)
    states = estimate.nodes[:, : data.dimension]
    values = np.stack([_monomial(states, np.array(powers)) for powers in monomials], axis=1)
    return monomials, bump @ values, -(csr_array((slope, columns, offsets), shape=shape) @ states)


def _monomial(states: Floats, powers: NDArray[np.int64]) -> Floats:
    """Its values (nodes,); of 30 variables, all but one or two have the power 0."""
    used = np.flatnonzero(powers)
    return np.asarray(np.prod(states[:, used] ** powers[used], axis=1))


def _sparse(
    monomials: Sequence[Powers], columns: Floats, targets: Floats, degree: int, data: Observations,
    half: float, caution: float,
) -> Polynomials:  # fmt: skip
    """The system of one degree: terms are dropped as long as the criterion falls."""
    part = [k for k, powers in enumerate(monomials) if sum(powers) <= degree]
    lengths = np.linalg.norm(columns[:, part], axis=0)
    basis, triangle = np.linalg.qr(columns[:, part] / np.where(lengths > 0.0, lengths, 1.0))
    spans = data.times[data.bounds[1:] - 1] - data.times[data.bounds[:-1]]
    independent = float(spans.sum()) / half  # overlapping bumps share their data
    terms, coefficients = [], []
    for target in targets.T:
        along = basis.T @ target
        outside = max(float(target @ target - along @ along), 1e-14 * float(target @ target)) + 1e-300
        best, least = list(range(len(part))), np.inf
        for chosen in (list(range(len(part))), *shrink(triangle.T.copy(), along, np.arange(len(part))), []):
            rest = outside + _left(triangle[:, chosen], along)
            value = independent * np.log(rest) + caution * len(chosen) * np.log(independent)
            if value < least:
                best, least = chosen, value
        best = sorted(best)
        solution = np.linalg.lstsq(triangle[:, best], along, rcond=1e-12)[0] if best else np.empty(0)
        terms.append(tuple(monomials[part[k]] for k in best))
        coefficients.append(tuple((solution / lengths[best]).tolist()))
    return Polynomials(tuple(terms), tuple(coefficients))


def _left(columns: Floats, target: Floats) -> float:
    """The sum of squares that columns (n, m) leave of a target (n,)."""
    if columns.shape[1] == 0:
        return float(target @ target)
    basis = np.linalg.qr(columns)[0]
    rest = target - basis @ (basis.T @ target)
    return float(rest @ rest)
