"""Other choices of a hidden variable, in which its equations are simpler.

A hidden variable may be replaced by h + a(x) with any function a of the observed ones: the observed
trajectories stay the same, and terms come and go.  For polynomial equations, changes by one monomial at a
time are tried, with the coefficients at which some term vanishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from odefinder.data.observations import Floats
from odefinder.expressions.monomials import exponents
from odefinder.expressions.program import CONST, MUL, VAR, Program, concatenate
from odefinder.expressions.terms import sum_of, terms_of
from odefinder.inference.propose.library import equation, monomials
from odefinder.numerics.evaluate import evaluate

Powers = tuple[int, ...]
Polynomial = dict[Powers, float]

HIGHEST = 5  # degree of the polynomials that are read
EXACTLY = 1e-8  # relative: values of an expression that a polynomial reproduces
PROBES = HIGHEST + 2  # coefficients of a change at which the others are looked at
DEPTH = 2  # changes in a row
LARGEST = 50.0  # coefficient of a change


@dataclass(frozen=True)
class Sums:
    """A system as sums: polynomials, and other terms, which do not contain the hidden variable."""

    polynomials: tuple[Polynomial, ...]
    others: tuple[tuple[Program, ...], ...]


@dataclass(frozen=True)
class Change:
    """A system in other variables, and the path (N,) of the new hidden one."""

    program: Program
    path: Floats


def simpler(program: Program, hidden: int, variables: Floats, tolerance: float) -> list[Change]:
    """Systems with fewer terms for h - a(x), the fewest first, for a few a.

    variables (N, V): states and known variables along the trajectories.  tolerance: relative size below which
    a term does not count.
    """
    sums = read(program, hidden, variables.shape[1])
    if sums is None:
        return []
    frontier = [(_count(sums, variables, tolerance), sums, variables[:, hidden])]
    found = list(frontier)
    for _ in range(DEPTH):
        longer = []
        for _, now, path in frontier:
            values = variables.copy()
            values[:, hidden] = path
            for shift in _shifts(hidden, variables.shape[1]):
                for coefficient in _vanishing(now, hidden, shift):
                    new = _changed(now, hidden, shift, coefficient)
                    own = path - coefficient * _values(shift, values)
                    along = values.copy()
                    along[:, hidden] = own
                    longer.append((_count(new, along, tolerance), new, own))
        longer.sort(key=lambda one: one[0])
        frontier = longer[:6]
        found += frontier
    found.sort(key=lambda one: one[0])
    result = []
    for count, new, path in found:
        if count <= found[0][0] + 1.5 and new is not sums:
            along = variables.copy()
            along[:, hidden] = path
            result.append(Change(written(_trimmed(new, along, tolerance)), path))
    return result[:8]


# ---------------------------------------------------------------- reading and writing


def read(program: Program, hidden: int, variables: int) -> Sums | None:
    """The system as sums; None if a term that is not a polynomial contains the hidden variable."""
    polynomials, others = [], []
    for component in program.components():
        total: Polynomial = {}
        rest = []
        for term in terms_of(component):
            own = _polynomial(term, variables)
            if own is not None:
                for powers, value in own.items():
                    total[powers] = total.get(powers, 0.0) + value
            elif np.any((term.ops == VAR) & (term.values == hidden)):
                return None
            else:
                rest.append(term)
        polynomials.append(total)
        others.append(tuple(rest))
    return Sums(tuple(polynomials), tuple(others))


def written(sums: Sums) -> Program:
    """The system as a program."""
    components = []
    for polynomial, rest in zip(sums.polynomials, sums.others, strict=True):
        variables = len(next(iter(polynomial), ()))
        features = {
            powers: feature
            for powers, feature in zip(
                exponents(variables, HIGHEST), monomials(variables, HIGHEST), strict=True
            )
            if powers in polynomial
        }
        own = [equation(list(features.values()), [polynomial[p] for p in features])] if polynomial else []
        components.append(sum_of([*own, *rest]))
    return concatenate(components)


@lru_cache(maxsize=8)
def _design(variables: int) -> tuple[Floats, Floats, tuple[Powers, ...]]:
    """Points, the values of all monomials there, and their exponents."""
    powers = tuple(exponents(variables, HIGHEST))
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (2 * len(powers), variables))
    return points, np.stack([_values(one, points) for one in powers], axis=1), powers


def _polynomial(term: Program, variables: int) -> Polynomial | None:
    """A term as a polynomial; None if it is none, or one of too high a degree."""
    points, design, powers = _design(variables)
    with np.errstate(all="ignore"):
        values = evaluate(term, points)[:, 0]
    if not np.isfinite(values).all():
        return None
    coefficients = np.linalg.lstsq(design, values, rcond=None)[0]
    size = float(np.abs(values).max()) or 1.0
    if np.abs(design @ coefficients - values).max() > EXACTLY * size:
        return None
    return {p: float(c) for p, c in zip(powers, coefficients, strict=True) if abs(c) > EXACTLY * size}


def _values(powers: Powers, points: Floats) -> Floats:
    return np.prod(points ** np.array(powers), axis=1)


# ---------------------------------------------------------------- changes


def _shifts(hidden: int, variables: int) -> Iterator[Powers]:
    """Monomials of what is observed that a hidden variable may be shifted by."""
    for powers in exponents(variables, 3 if variables <= 2 else 2):
        if powers[hidden] == 0:
            yield powers


def _changed(sums: Sums, hidden: int, shift: Powers, coefficient: float) -> Sums:
    """The system for h - coefficient * shift(x)."""
    moved = [_substituted(one, hidden, shift, coefficient) for one in sums.polynomials]
    others = [list(one) for one in sums.others]
    own = dict(moved[hidden])
    for k, power in enumerate(shift):
        if power == 0 or k >= len(moved):  # what is known changes, but not by an equation
            continue
        lower = tuple(p - (j == k) for j, p in enumerate(shift))
        factor = -coefficient * power
        for powers, value in moved[k].items():
            place = tuple(a + b for a, b in zip(powers, lower, strict=True))
            own[place] = own.get(place, 0.0) + factor * value
        for term in sums.others[k]:
            others[hidden].append(_times(factor, term, lower))
    moved[hidden] = own
    return Sums(tuple(map(_cleaned, moved)), tuple(map(tuple, others)))


def _times(factor: float, term: Program, powers: Powers) -> Program:
    outer = [Program(np.array([MUL, CONST], np.int8), np.array([0.0, factor]))]
    for k, power in enumerate(powers):
        outer += [Program(np.array([MUL, VAR], np.int8), np.array([0.0, float(k)]))] * power
    return concatenate([*outer, term])


def _substituted(polynomial: Polynomial, hidden: int, shift: Powers, coefficient: float) -> Polynomial:
    """With h + coefficient * shift in the place of h."""
    result: Polynomial = {}
    for powers, value in polynomial.items():
        factor, n = float(value), int(powers[hidden])
        for k in range(n + 1):  # binomial: k factors of the shift
            place = tuple(
                p - k if j == hidden else p + k * s
                for j, (p, s) in enumerate(zip(powers, shift, strict=True))
            )
            result[place] = result.get(place, 0.0) + factor
            factor *= coefficient * (n - k) / (k + 1)
    return result


def _cleaned(polynomial: Polynomial) -> Polynomial:
    """Without what cancels."""
    size = max(map(abs, polynomial.values()), default=0.0)
    return {p: v for p, v in polynomial.items() if abs(v) > 1e-9 * size and sum(p) <= HIGHEST}


def _vanishing(sums: Sums, hidden: int, shift: Powers) -> list[float]:
    """Coefficients of a shift at which some term of the new system is 0."""
    probes = np.cos(np.pi * np.arange(PROBES) / (PROBES - 1))
    systems = [_changed(sums, hidden, shift, float(probe)).polynomials for probe in probes]
    roots = set[float]()
    for component in range(len(sums.polynomials)):
        for powers in {p for one in systems for p in one[component]}:
            values = np.array([one[component].get(powers, 0.0) for one in systems])
            if np.ptp(values) <= 1e-9 * np.abs(values).max():
                continue
            fitted = np.polynomial.Polynomial.fit(probes, values, HIGHEST, domain=[-1, 1]).trim(1e-10)
            for root in np.asarray(fitted.roots(), np.complex128).tolist():
                if abs(root.imag) < 1e-6 * (1.0 + abs(root)) and 1e-9 < abs(root.real) < LARGEST:
                    roots.add(round(float(root.real), 12))
    return sorted(roots)


def _sizes(sums: Sums, variables: Floats) -> Iterator[tuple[int, Powers, float]]:
    """Each polynomial term's root mean square, relative to that of the largest of its equation."""
    for component, polynomial in enumerate(sums.polynomials):
        sizes = {
            p: abs(v) * float(np.sqrt(np.mean(_values(p, variables) ** 2))) for p, v in polynomial.items()
        }
        largest = max(sizes.values(), default=0.0) or 1.0
        for powers, size in sizes.items():
            yield component, powers, size / largest


def _count(sums: Sums, variables: Floats, tolerance: float) -> float:
    """The number of terms that count, and a little for their degrees."""
    total = float(sum(map(len, sums.others)))
    for _, powers, size in _sizes(sums, variables):
        if size > tolerance:
            total += 1.0 + 0.2 * sum(powers)
    return total


def _trimmed(sums: Sums, variables: Floats, tolerance: float) -> Sums:
    kept: list[Polynomial] = [{} for _ in sums.polynomials]
    for component, powers, size in _sizes(sums, variables):
        if size > tolerance:
            kept[component][powers] = sums.polynomials[component][powers]
    return Sums(tuple(kept), sums.others)
