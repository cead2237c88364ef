"""The rules of the canonical form: products, powers and functions of sums (compiled).

Every function takes sums (start and number of terms in the pool) and returns a new one.
"""

from __future__ import annotations

import math

import numpy as np

from odefinder.canonical.atoms import (
    collected,
    common_exponent,
    function_atom,
    leading_coefficient,
    positive_group,
    power_atom,
    signed_group,
    wrapped_atom,
)
from odefinder.canonical.pool import (
    FAILED,
    FUNCTION,
    GROUP,
    N_TERMS,
    ROOT,
    VANISHED,
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
)
from odefinder.compiled import compiled
from odefinder.program import ABS, COS, EXP, LOG, SIN, SQRT, TAN, TANH

EXACT = 1e-12  # a phase or exponent this close to a special value is that value
MAX_EXPONENT = 600.0  # of e in a coefficient; a larger shift stays inside the exponential


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
                        total = p.coefficient[r] + c
                        if abs(total) <= VANISHED * max(abs(c), abs(p.coefficient[r])):
                            total = 0.0
                        p.coefficient[r] = total
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


# ---------------------------------------------------------------- functions


@compiled
def _without_constant(p: Pool, start: int, count: int) -> tuple[int, int]:
    """The terms of a sum that have factors."""
    begin, n = p.size[N_TERMS], 0
    for t in range(start, start + count):
        if p.length[t] > 0:
            scaled(p, t, 1, 1.0)
            n += 1
    return begin, n


@compiled
def _with_constant(p: Pool, start: int, count: int, constant: float) -> tuple[int, int]:
    begin = scaled(p, start, count, 1.0)
    if constant != 0.0:
        new_term(p, constant, -1)
        return begin, count + 1
    return begin, count


@compiled
def _odd_function(p: Pool, op: int, start: int, count: int) -> tuple[int, int]:
    """sin, cos, tan, tanh: positive leading coefficient; a phase in (-pi/2, pi/2]; cos is phase pi/2."""
    phase = constant_term(p, start, count)
    start, count = _without_constant(p, start, count)
    outside, n = collected(p, start, count)
    sign = 1.0
    if op == COS:
        op, phase = SIN, phase + math.pi / 2
    if leading_coefficient(p, outside, n) < 0.0:
        start, phase, sign = scaled(p, start, count, -1.0), -phase, -1.0
    if op != TANH:
        turns = np.round(phase / math.pi)
        tolerance = EXACT * (1.0 + abs(phase))
        phase -= turns * math.pi
        if op == SIN and turns % 2.0 != 0.0:
            sign = -sign
        if abs(phase) < tolerance:
            phase = 0.0
        if abs(abs(phase) - math.pi / 2) < tolerance:
            if op == SIN and phase < 0.0:
                sign = -sign
            phase = math.pi / 2
            if op == SIN:
                op, phase = COS, 0.0
    start, count = _with_constant(p, start, count, phase)
    return single_factor(p, sign, function_atom(p, op, start, count), 1.0)


@compiled
def _exponential(p: Pool, start: int, count: int) -> tuple[int, int]:
    """exp(b + u) -> e^b exp(u)."""
    shift = constant_term(p, start, count)
    if abs(shift) > MAX_EXPONENT:
        return single_factor(p, 1.0, function_atom(p, EXP, start, count), 1.0)
    start, count = _without_constant(p, start, count)
    return single_factor(p, math.exp(shift), function_atom(p, EXP, start, count), 1.0)


@compiled
def _absolute(p: Pool, start: int, count: int) -> tuple[int, int]:
    """|a x (y + b)| -> |a| |x| |y + b|; what cannot be negative needs no bars."""
    source = as_term(p, start, count)
    first, length, magnitude = p.first[source], p.length[source], abs(p.coefficient[source])
    for f in range(first, first + length):
        a, e = p.atom[f], p.exponent[f]
        positive = p.kind[a] == ROOT or (p.kind[a] == FUNCTION and (p.op[a] == EXP or p.op[a] == ABS))
        if not positive and e % 2.0 != 0.0:
            p.atom[f] = wrapped_atom(p, ABS, a)  # the term is fresh: nothing else refers to it
    begin = p.size[N_TERMS]
    raw = new_term(p, magnitude, begin)
    add_factors_of(p, raw, source, 1.0)
    return gather(p, begin)


@compiled
def _logarithm(p: Pool, start: int, count: int) -> tuple[int, int]:
    """log(a u) -> log a + log u for positive a; log(a exp(u)) -> log a + u."""
    if count == 1 and p.length[start] == 1 and p.coefficient[start] > 0.0:
        a = p.atom[p.first[start]]
        if p.kind[a] == FUNCTION and p.op[a] == EXP:
            shift, one = number(p, math.log(p.coefficient[start]))
            return merged(p, p.arg_start[a], p.arg_count[a], shift, one, 1.0)
    scale, base = signed_group(p, start, count)
    result, n = single_factor(p, 1.0, wrapped_atom(p, LOG, base), 1.0)
    shift, one = number(p, math.log(scale))
    return merged(p, result, n, shift, one, 1.0)


@compiled
def power(p: Pool, base: int, base_count: int, start: int, count: int) -> tuple[int, int]:
    """A sum to the power of a sum."""
    if is_number(p, start, count):
        return real_power(p, base, base_count, constant_term(p, start, count))
    if is_number(p, base, base_count) and constant_term(p, base, base_count) > 0.0:
        rate = math.log(constant_term(p, base, base_count))
        if rate == 0.0:
            return number(p, 1.0)
        return _exponential(p, scaled(p, start, count, rate), count)
    return single_factor(p, 1.0, power_atom(p, base, base_count, start, count), 1.0)


@compiled
def _of_number(op: int, x: float) -> float:
    """A function of a constant."""
    if op == SIN:
        return math.sin(x)
    if op == COS:
        return math.cos(x)
    if op == TAN:
        return math.tan(x)
    if op == TANH:
        return math.tanh(x)
    if op == EXP:
        return np.exp(x)
    if op == ABS:
        return abs(x)
    if op == LOG:
        return np.log(x) if x > 0.0 else np.nan
    return np.sqrt(x) if x >= 0.0 else np.nan


@compiled
def function(p: Pool, op: int, start: int, count: int) -> tuple[int, int]:
    """A unary function of a sum."""
    if is_number(p, start, count):
        return number(p, _of_number(op, constant_term(p, start, count)))
    if op == EXP:
        return _exponential(p, start, count)
    if op == LOG:
        return _logarithm(p, start, count)
    if op == ABS:
        return _absolute(p, start, count)
    if op == SQRT:
        return real_power(p, start, count, 0.5)
    return _odd_function(p, op, start, count)
