"""Sums of products in a pool of flat arrays: the algebra beneath the canonical form (compiled).

A *sum* is a run of terms, a *term* a coefficient times factors, a *factor* an atom raised to an
exponent.  An *atom* is a variable, a function of a sum, a real power (its exponent is the
factor's), or a *group*: a sum that stands as a factor.  Atoms are interned: equal atoms have equal
numbers, so like terms and like factors are found by comparing numbers.  Every atom keeps its
prefix code; the order of terms and factors is the order of these codes, in which the values of
constants only break ties.

Two forms of a sum occur.  Inside, a term with exactly one group of exponent 1 is multiplied out,
so that like terms meet.  Outside (`collected`), terms that share their factors other than
variables are collected again: (x + c y) / (1 + a x), so that no constant is written twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.expressions.program import CONST, VAR

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

VARIABLE, FUNCTION, GROUP, ROOT = 0, 1, 2, 3  # kinds of atoms

# Fill levels in `Pool.size`; FAILED is set when the pool is full or a value is not finite.
N_ATOMS, N_TERMS, N_FACTORS, N_CODE, FAILED = 0, 1, 2, 3, 4
MAX_WORK = 64  # factors of one term

SAME = 1e-9  # relative difference below which two constants are one
VANISHED = 1e-13  # a sum of coefficients this small relative to its parts is zero


# The storage of one canonicalisation, one record, so that compiled functions pass one pointer.
MAX_ATOMS, MAX_TERMS, MAX_FACTORS, MAX_CODE = 1024, 8192, 32768, 65536
POOL = np.dtype(
    [
        ("size", np.int64, 5),
        # atoms
        ("kind", np.int8, MAX_ATOMS),
        ("op", np.int8, MAX_ATOMS),
        ("inner", np.int64, MAX_ATOMS),  # the atom inside abs, log or a real power
        ("arg_start", np.int64, MAX_ATOMS),  # the terms of a group, or of a function's argument
        ("arg_count", np.int64, MAX_ATOMS),
        ("code_start", np.int64, MAX_ATOMS),
        ("code_length", np.int64, MAX_ATOMS),
        ("inverse_start", np.int64, MAX_ATOMS),  # a group's code inside an inverse: 1 + a x
        ("inverse_length", np.int64, MAX_ATOMS),
        ("constant", np.float64, MAX_ATOMS),  # a group's constant term, 1 in its inverse; or 0
        # terms
        ("coefficient", np.float64, MAX_TERMS),
        ("first", np.int64, MAX_TERMS),
        ("length", np.int64, MAX_TERMS),
        ("owner", np.int64, MAX_TERMS),  # which call of `gather` a term belongs to
        # factors
        ("atom", np.int64, MAX_FACTORS),
        ("exponent", np.float64, MAX_FACTORS),
        # prefix code
        ("ops", np.int8, MAX_CODE),
        ("values", np.float64, MAX_CODE),
        # the factors of the term under work
        ("work_atom", np.int64, MAX_WORK),
        ("work_exponent", np.float64, MAX_WORK),
    ],
    align=True,
)
Pool = Any  # a record of POOL; numba knows its fields


def make_pool() -> NDArray[np.void]:
    """An array of one pool record, to be reused from program to program."""
    return np.zeros(1, POOL)


@compiled
def reset(p: Pool) -> None:
    """Empty the pool."""
    p.size[:] = 0


# ---------------------------------------------------------------- order


@compiled
def compare_code(p: Pool, s1: int, n1: int, s2: int, n2: int) -> int:
    """-1, 0 or 1: the order of two prefix codes; structure first, constants last."""
    for i in range(min(n1, n2)):
        a, b = p.ops[s1 + i], p.ops[s2 + i]
        if a != b:
            return -1 if a < b else 1
        if a == VAR and p.values[s1 + i] != p.values[s2 + i]:
            return -1 if p.values[s1 + i] < p.values[s2 + i] else 1
    if n1 != n2:
        return -1 if n1 < n2 else 1
    for i in range(n1):
        if p.ops[s1 + i] == CONST:
            u, v = p.values[s1 + i], p.values[s2 + i]
            if abs(u - v) > SAME * (abs(u) + abs(v)):
                return -1 if u < v else 1
    return 0


@compiled
def compare_atoms(p: Pool, a: int, b: int) -> int:
    """The order of two atoms: that of their codes."""
    if a == b:
        return 0
    return compare_code(p, p.code_start[a], p.code_length[a], p.code_start[b], p.code_length[b])


@compiled
def _degree(p: Pool, t: int) -> float:
    """Total degree in the variables; terms with other factors come after all polynomial ones."""
    degree = 0.0
    for f in range(p.first[t], p.first[t] + p.length[t]):
        degree += abs(p.exponent[f]) if p.kind[p.atom[f]] == VARIABLE else 1e6
    return degree


@compiled
def compare_terms(p: Pool, s: int, t: int) -> int:
    """The order of two terms: by degree, then factor by factor; coefficients play no part."""
    d, e = _degree(p, s), _degree(p, t)
    if d != e:
        return -1 if d < e else 1
    for i in range(min(p.length[s], p.length[t])):
        f, g = p.first[s] + i, p.first[t] + i
        order = compare_atoms(p, p.atom[f], p.atom[g])
        if order != 0:
            return order
        if abs(p.exponent[f] - p.exponent[g]) > SAME:
            return -1 if p.exponent[f] > p.exponent[g] else 1
    return p.length[s] - p.length[t]


@compiled
def sort_terms(p: Pool, start: int, count: int) -> None:
    """Insertion sort: sums are short."""
    for i in range(start + 1, start + count):
        j = i
        while j > start and compare_terms(p, j - 1, j) > 0:
            p.coefficient[j - 1], p.coefficient[j] = p.coefficient[j], p.coefficient[j - 1]
            p.first[j - 1], p.first[j] = p.first[j], p.first[j - 1]
            p.length[j - 1], p.length[j] = p.length[j], p.length[j - 1]
            j -= 1


# ---------------------------------------------------------------- terms


@compiled
def new_term(p: Pool, coefficient: float, owner: int) -> int:
    """A term without factors at the end of the pool."""
    t = p.size[N_TERMS]
    if t >= MAX_TERMS or not np.isfinite(coefficient):
        p.size[FAILED] = 1
        return 0
    p.coefficient[t] = coefficient
    p.first[t] = p.size[N_FACTORS]
    p.length[t] = 0
    p.owner[t] = owner
    p.size[N_TERMS] = t + 1
    return t


@compiled
def add_factor(p: Pool, t: int, atom: int, exponent: float) -> None:
    """Append a factor to the newest term."""
    f = p.size[N_FACTORS]
    if f >= MAX_FACTORS:
        p.size[FAILED] = 1
        return
    p.atom[f] = atom
    p.exponent[f] = exponent
    p.length[t] += 1
    p.size[N_FACTORS] = f + 1


@compiled
def add_factors_of(p: Pool, t: int, source: int, power: float) -> None:
    """Append the factors of another term, raised to a power, to the newest term."""
    for f in range(p.first[source], p.first[source] + p.length[source]):
        add_factor(p, t, p.atom[f], p.exponent[f] * power)


@compiled
def same_factors(p: Pool, s: int, t: int) -> bool:
    """Whether two normalised terms are like terms."""
    if p.length[s] != p.length[t]:
        return False
    for i in range(p.length[s]):
        f, g = p.first[s] + i, p.first[t] + i
        if p.atom[f] != p.atom[g] or abs(p.exponent[f] - p.exponent[g]) > SAME:
            return False
    return True


@compiled
def scaled(p: Pool, start: int, count: int, factor: float) -> int:
    """A copy of a sum with every coefficient multiplied; returns its start."""
    begin = p.size[N_TERMS]
    for i in range(count):
        t = new_term(p, p.coefficient[start + i] * factor, -1)
        if p.size[FAILED]:
            return 0
        p.first[t] = p.first[start + i]
        p.length[t] = p.length[start + i]
    return begin


@compiled
def constant_term(p: Pool, start: int, count: int) -> float:
    """The term without factors, 0 if there is none."""
    for t in range(start, start + count):
        if p.length[t] == 0:
            return p.coefficient[t]
    return 0.0


@compiled
def total_coefficient(a: float, b: float) -> float:
    """a + b; exactly 0 where only rounding errors are left."""
    total = a + b
    return 0.0 if abs(total) <= VANISHED * max(abs(a), abs(b)) else total


@compiled
def merged(p: Pool, start: int, count: int, other: int, other_count: int, factor: float) -> tuple[int, int]:
    """The sum of one sum and `factor` times another, like terms merged."""
    begin = scaled(p, start, count, 1.0)
    n = count
    for t in range(other, other + other_count):
        if p.size[FAILED]:
            return 0, 0
        added = p.coefficient[t] * factor
        for i in range(begin, begin + n):
            if same_factors(p, i, t):
                p.coefficient[i] = total_coefficient(p.coefficient[i], added)
                break
        else:
            scaled(p, t, 1, factor)
            n += 1
    kept = begin
    for i in range(begin, begin + n):
        if p.coefficient[i] != 0.0:
            p.coefficient[kept] = p.coefficient[i]
            p.first[kept] = p.first[i]
            p.length[kept] = p.length[i]
            kept += 1
    p.size[N_TERMS] = kept
    return begin, kept - begin


# ---------------------------------------------------------------- the term under work


@compiled
def push_factor(p: Pool, n: int, atom: int, exponent: float) -> int:
    """Multiply the term under work by a factor; the factors stay sorted and distinct."""
    i = 0
    while i < n:
        if p.work_atom[i] == atom:
            total = p.work_exponent[i] + exponent
            if abs(total) < 1e-12:
                for j in range(i, n - 1):
                    p.work_atom[j] = p.work_atom[j + 1]
                    p.work_exponent[j] = p.work_exponent[j + 1]
                return n - 1
            p.work_exponent[i] = total
            return n
        if compare_atoms(p, atom, p.work_atom[i]) < 0:
            break
        i += 1
    if exponent == 0.0:
        return n
    if n >= MAX_WORK:
        p.size[FAILED] = 1
        return n
    for j in range(n, i, -1):
        p.work_atom[j] = p.work_atom[j - 1]
        p.work_exponent[j] = p.work_exponent[j - 1]
    p.work_atom[i] = atom
    p.work_exponent[i] = exponent
    return n + 1


@compiled
def load(p: Pool, n: int, t: int, power: float) -> int:
    """Multiply the term under work by the factors of a term, raised to a power."""
    for f in range(p.first[t], p.first[t] + p.length[t]):
        n = push_factor(p, n, p.atom[f], p.exponent[f] * power)
    return n


@compiled
def store_work(p: Pool, n: int, coefficient: float, owner: int) -> int:
    """The term under work as a new term."""
    t = new_term(p, coefficient, owner)
    if p.size[FAILED]:
        return 0
    for i in range(n):
        add_factor(p, t, p.work_atom[i], p.work_exponent[i])
    return t
