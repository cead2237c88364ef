"""The rules of the canonical form: products, powers and functions of sums (compiled).

Every function takes sums (start and number of terms in the pool) and returns a new one.
"""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.canonical.atoms import (
    common_exponent,
    function_atom,
    positive_group,
    signed_group,
    wrapped_atom,
)
from odefinder.expressions.canonical.pool import (
    FAILED,
    FUNCTION,
    GROUP,
    N_TERMS,
    ROOT,
    Pool,
    add_factor,
    add_factors_of,
    constant_term,
    load,
    merged,
    new_term,
    push_factor,
    same_factors,
    scaled,
    store_work,
    total_coefficient,
)
from odefinder.expressions.program import ABS, EXP, SQRT

EXACT = 1e-12  # a phase or exponent this close to a special value is that value


# ---------------------------------------------------------------- normalising terms


@compiled
def _remove(p: Pool, n: int, i: int) -> int:
    """Take factor i out of the term under work."""
    return push_factor(p, n, p.work_atom[i], -p.work_exponent[i])


@compiled
def _is_whole(x: float) -> bool:
    return abs(x - np.round(x)) < EXACT


@compiled
def _merge_exponentials(p: Pool, n: int) -> int:
    """exp(u)^a exp(v)^b -> exp(a u + b v)."""
    start, count, i = p.size[N_TERMS], 0, 0
    while i < n:
        a, e = p.work_atom[i], p.work_exponent[i]
        if p.kind[a] == FUNCTION and p.op[a] == EXP:
            start, count = merged(p, start, count, p.arg_start[a], p.arg_count[a], e)
            n = _remove(p, n, i)
        else:
            i += 1
    if count == 0 or p.size[FAILED]:
        return n
    rest = store_work(p, n, 1.0, -1)
    atom = function_atom(p, EXP, start, count)
    return push_factor(p, load(p, 0, rest, 1.0), atom, 1.0)


@compiled
def _simplify_once(p: Pool, n: int, coefficient: float) -> tuple[bool, int, float]:
    """Apply the first rule that fits the factors of the term under work."""
    exponentials = 0
    for i in range(n):
        a, e = p.work_atom[i], p.work_exponent[i]
        if p.kind[a] == GROUP and p.arg_count[a] == 1 and _is_whole(e):
            term = p.arg_start[a]  # a signed product: (-x y)^2 -> x^2 y^2
            n = load(p, _remove(p, n, i), term, np.round(e))
            return True, n, coefficient * p.coefficient[term] ** np.round(e)
        if p.kind[a] == FUNCTION and p.op[a] == ABS and abs(e) > 1.5 and _is_whole(e):
            odd = e - 2.0 * np.trunc(e / 2.0)  # |x|^3 -> x^2 |x|
            n = push_factor(p, n, a, odd - e)
            return True, push_factor(p, n, p.inner[a], e - odd), coefficient
        if p.kind[a] == ROOT:
            if _is_whole(e):
                n = _remove(p, n, i)
                return True, push_factor(p, n, p.inner[a], np.round(e)), coefficient
            for j in range(n):
                if p.work_atom[j] == p.inner[a]:  # x x^0.2 -> x^1.2
                    power = p.work_exponent[j]
                    return True, push_factor(p, _remove(p, n, j), a, power), coefficient
        if p.kind[a] == FUNCTION and p.op[a] == EXP:
            exponentials += 1
            if exponentials > 1 or e != 1.0:
                return True, _merge_exponentials(p, n), coefficient
    return False, n, coefficient


@compiled
def _lone_group(p: Pool, n: int) -> int:
    """The place of the only group with exponent 1 in the term under work, or -1."""
    place = -1
    for i in range(n):
        if p.kind[p.work_atom[i]] == GROUP and p.work_exponent[i] == 1.0:
            if place >= 0:
                return -1
            place = i
    return place


@compiled
def gather(p: Pool, begin: int) -> tuple[int, int]:
    """The sum of the raw terms from `begin` to the end of the pool (their owner is `begin`)."""
    done = -2 - begin
    i = begin
    while i < p.size[N_TERMS] and not p.size[FAILED]:
        if p.owner[i] == begin:
            n, c, changed = load(p, 0, i, 1.0), p.coefficient[i], True
            while changed and not p.size[FAILED]:
                changed, n, c = _simplify_once(p, n, c)
            g = _lone_group(p, n)
            if g >= 0:  # multiply out
                group = p.work_atom[g]
                rest = store_work(p, _remove(p, n, g), c, -1)
                for s in range(p.arg_start[group], p.arg_start[group] + p.arg_count[group]):
                    t = new_term(p, c * p.coefficient[s], begin)
                    add_factors_of(p, t, rest, 1.0)
                    add_factors_of(p, t, s, 1.0)
            else:
                t = store_work(p, n, c, done)
                for r in range(begin, t):
                    if p.owner[r] == done and same_factors(p, r, t):
                        p.coefficient[r] = total_coefficient(p.coefficient[r], c)
                        p.owner[t] = -1
                        break
        i += 1
    start, count = p.size[N_TERMS], 0
    for i in range(begin, start):
        if p.owner[i] == done and p.coefficient[i] != 0.0 and not p.size[FAILED]:
            scaled(p, i, 1, 1.0)
            count += 1
    return start, count


@compiled
def _shared_factors(p: Pool, start: int, count: int) -> int:
    """Load what all terms of a sum have in common as the term under work."""
    n = 0
    for t in range(start, start + count):
        for f in range(p.first[t], p.first[t] + p.length[t]):
            known = False
            for i in range(n):
                known = known or p.work_atom[i] == p.atom[f]
            if not known:
                n = push_factor(p, n, p.atom[f], common_exponent(p, start, count, p.atom[f]))
    return n


@compiled
def as_term(p: Pool, start: int, count: int) -> int:
    """A sum (not zero) as one term: number times common factors times a group of what remains."""
    common = new_term(p, 1.0, -1)
    while count > 1 and not p.size[FAILED]:
        n = _shared_factors(p, start, count)
        if n == 0:
            break
        shared = store_work(p, n, 1.0, -1)
        begin = p.size[N_TERMS]
        for t in range(start, start + count):
            raw = new_term(p, p.coefficient[t], begin)
            add_factors_of(p, raw, t, 1.0)
            add_factors_of(p, raw, shared, -1.0)
        start, count = gather(p, begin)  # which may uncover more to share
        n = load(p, load(p, 0, common, 1.0), shared, 1.0)
        common = store_work(p, n, 1.0, -1)
    if p.size[FAILED] or count == 0:
        p.size[FAILED] = 1
        return 0
    if count == 1:
        result = new_term(p, p.coefficient[start], -1)
        add_factors_of(p, result, common, 1.0)
        add_factors_of(p, result, start, 1.0)
        return result
    scale, group = positive_group(p, start, count)
    result = new_term(p, scale, -1)
    add_factors_of(p, result, common, 1.0)
    add_factor(p, result, group, 1.0)
    return result


# ---------------------------------------------------------------- arithmetic


@compiled
def number(p: Pool, value: float) -> tuple[int, int]:
    """A constant as a sum; zero is the empty sum."""
    start = p.size[N_TERMS]
    if value == 0.0:
        return start, 0
    new_term(p, value, -1)
    return start, 1


@compiled
def is_number(p: Pool, start: int, count: int) -> bool:
    """Whether a sum has no factors."""
    return count == 0 or (count == 1 and p.length[start] == 0)


@compiled
def single_factor(p: Pool, coefficient: float, atom: int, exponent: float) -> tuple[int, int]:
    """The sum of one term with one factor."""
    begin = p.size[N_TERMS]
    t = new_term(p, coefficient, begin)
    add_factor(p, t, atom, exponent)
    return gather(p, begin)


@compiled
def product(p: Pool, a: int, m: int, b: int, n: int) -> tuple[int, int]:
    """The product of the sums (a, m) and (b, n)."""
    if m == 0 or n == 0:
        return p.size[N_TERMS], 0
    if m == 1 and n > 1:
        a, m, b, n = b, n, a, m
    if n == 1:
        if p.length[b] == 0:
            return scaled(p, a, m, p.coefficient[b]), m
        has_group = False
        for f in range(p.first[b], p.first[b] + p.length[b]):
            has_group = has_group or p.kind[p.atom[f]] == GROUP
        if m == 1 or not has_group:
            begin = p.size[N_TERMS]
            for t in range(a, a + m):
                raw = new_term(p, p.coefficient[t] * p.coefficient[b], begin)
                add_factors_of(p, raw, t, 1.0)
                add_factors_of(p, raw, b, 1.0)
            return gather(p, begin)
    left, right = as_term(p, a, m), as_term(p, b, n)
    begin = p.size[N_TERMS]
    raw = new_term(p, p.coefficient[left] * p.coefficient[right], begin)
    add_factors_of(p, raw, left, 1.0)
    add_factors_of(p, raw, right, 1.0)
    return gather(p, begin)


@compiled
def whole_power(p: Pool, start: int, count: int, power: float) -> tuple[int, int]:
    """A sum to an integer power."""
    if count == 0:
        p.size[FAILED] |= power < 0.0
        return number(p, 1.0 if power == 0.0 else 0.0)
    source = as_term(p, start, count)
    begin = p.size[N_TERMS]
    raw = new_term(p, p.coefficient[source] ** power, begin)
    add_factors_of(p, raw, source, power)
    return gather(p, begin)


@compiled
def real_power(p: Pool, start: int, count: int, power: float) -> tuple[int, int]:
    """A sum to a constant power; only positive numbers may leave a real power."""
    if _is_whole(power) and abs(power) < 100.0:
        return whole_power(p, start, count, np.round(power))
    if is_number(p, start, count):
        return number(p, constant_term(p, start, count) ** power)
    if count == 1 and p.length[start] == 1 and p.coefficient[start] > 0.0:
        f = p.first[start]
        a = p.atom[f]
        if p.kind[a] == ROOT or (p.kind[a] == FUNCTION and p.op[a] == EXP):
            return single_factor(p, p.coefficient[start] ** power, a, p.exponent[f] * power)
    scale, base = signed_group(p, start, count)
    return single_factor(p, scale**power, wrapped_atom(p, SQRT, base), power)
