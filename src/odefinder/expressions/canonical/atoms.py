"""Atoms and their prefix code: how variables, functions and groups are written (compiled)."""

from __future__ import annotations

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.canonical.pool import (
    FAILED,
    FUNCTION,
    GROUP,
    MAX_ATOMS,
    MAX_CODE,
    N_ATOMS,
    N_CODE,
    N_TERMS,
    ROOT,
    SAME,
    VARIABLE,
    Ints,
    Pool,
    add_factor,
    compare_code,
    constant_term,
    load,
    new_term,
    push_factor,
    scaled,
    sort_terms,
    store_work,
)
from odefinder.expressions.program import ADD, CONST, INV, MUL, POW, POW5, SQRT, SQUARE, VAR

# ---------------------------------------------------------------- code


@compiled
def emit(p: Pool, op: int, value: float) -> None:
    """Append one node of prefix code."""
    i = p.size[N_CODE]
    if i >= MAX_CODE:
        p.size[FAILED] = 1
        return
    p.ops[i] = op
    p.values[i] = value
    p.size[N_CODE] = i + 1


@compiled
def emit_copy(p: Pool, start: int, length: int) -> None:
    """Append a copy of earlier code."""
    for i in range(start, start + length):
        emit(p, p.ops[i], p.values[i])


@compiled
def _inverted_group(p: Pool, f: int) -> bool:
    """Whether a factor is written as inverse of 1 + ..., which moves a constant to the coefficient."""
    a = p.atom[f]
    return p.kind[a] == GROUP and p.exponent[f] < 0.0 and p.constant[a] != 0.0


@compiled
def written_coefficient(p: Pool, t: int) -> float:
    """The coefficient as it appears in code."""
    c = p.coefficient[t]
    for f in range(p.first[t], p.first[t] + p.length[t]):
        if _inverted_group(p, f):
            c *= p.constant[p.atom[f]] ** p.exponent[f]
    return c


@compiled
def _emit_factor(p: Pool, f: int) -> None:
    """A factor: its atom under integer powers and an inverse, or under a real power."""
    a, exponent = p.atom[f], p.exponent[f]
    start, length = p.code_start[a], p.code_length[a]
    if exponent < 0.0 and (p.kind[a] != ROOT or exponent == -0.5):
        emit(p, INV, 0.0)
        exponent = -exponent
    if p.kind[a] == ROOT:
        if exponent == 0.5:
            emit_copy(p, start, length)
        else:
            emit(p, POW, 0.0)
            emit_copy(p, start + 1, length - 1)
            emit(p, CONST, exponent)
        return
    if _inverted_group(p, f):
        start, length = p.inverse_start[a], p.inverse_length[a]
    power = round(exponent)
    while power > 5:
        emit(p, MUL, 0.0)
        emit(p, POW5, 0.0)
        emit_copy(p, start, length)
        power -= 5
        if p.size[FAILED]:
            return
    if power > 1:
        emit(p, SQUARE + power - 2, 0.0)
    emit_copy(p, start, length)


@compiled
def emit_sum(p: Pool, start: int, count: int, divisor: float, normalised: bool) -> None:
    """The code of a collected sum divided by a number.

    Every term carries its coefficient, also where it is 1: structure must not depend on values.
    Only in a normalised sum the 1 of the leading term (which is never free) is left out.
    """
    if count == 0:
        emit(p, CONST, 0.0)
    leading = normalised
    for i in range(count):
        t = start + i
        if i < count - 1:
            emit(p, ADD, 0.0)
        c = written_coefficient(p, t) / divisor
        n = p.length[t]
        if n == 0:
            emit(p, CONST, c)
            continue
        if not (leading and abs(c - 1.0) < 1e-15):
            emit(p, MUL, 0.0)
            emit(p, CONST, c)
        leading = False
        for j in range(n):
            if j < n - 1:
                emit(p, MUL, 0.0)
            _emit_factor(p, p.first[t] + j)


# ---------------------------------------------------------------- atoms


@compiled
def _intern(p: Pool, kind: int, op: int, code_start: int) -> int:
    """The atom with the code written from `code_start` on: an earlier equal one, or a new one."""
    length = p.size[N_CODE] - code_start
    n = p.size[N_ATOMS]
    for a in range(n):
        same_kind = p.kind[a] == kind and p.op[a] == op
        if same_kind and compare_code(p, p.code_start[a], p.code_length[a], code_start, length) == 0:
            p.size[N_CODE] = code_start
            return a
    if n >= MAX_ATOMS:
        p.size[FAILED] = 1
        return 0
    p.kind[n] = kind
    p.op[n] = op
    p.inner[n] = -1
    p.arg_start[n] = 0
    p.arg_count[n] = 0
    p.code_start[n] = code_start
    p.code_length[n] = length
    p.inverse_length[n] = 0
    p.constant[n] = 0.0
    p.size[N_ATOMS] = n + 1
    return n


@compiled
def variable_atom(p: Pool, index: float) -> int:
    """The atom of a variable."""
    code = p.size[N_CODE]
    emit(p, VAR, index)
    return _intern(p, VARIABLE, VAR, code)


@compiled
def wrapped_atom(p: Pool, op: int, inner: int) -> int:
    """abs, log or real power (op SQRT) of an atom."""
    code = p.size[N_CODE]
    emit(p, op, 0.0)
    emit_copy(p, p.code_start[inner], p.code_length[inner])
    a = _intern(p, ROOT if op == SQRT else FUNCTION, op, code)
    p.inner[a] = inner
    return a


@compiled
def function_atom(p: Pool, op: int, start: int, count: int) -> int:
    """A function of a sum in which every coefficient is free."""
    outside, n = collected(p, start, count)
    code = p.size[N_CODE]
    emit(p, op, 0.0)
    emit_sum(p, outside, n, 1.0, False)
    a = _intern(p, FUNCTION, op, code)
    p.arg_start[a] = start
    p.arg_count[a] = count
    return a


@compiled
def power_atom(p: Pool, base: int, base_count: int, start: int, count: int) -> int:
    """A sum to the power of a sum: opaque, no rule applies to it."""
    outside, n = collected(p, base, base_count)
    upper, m = collected(p, start, count)
    code = p.size[N_CODE]
    emit(p, POW, 0.0)
    emit_sum(p, outside, n, 1.0, False)
    emit_sum(p, upper, m, 1.0, False)
    return _intern(p, FUNCTION, POW, code)


@compiled
def leading_coefficient(p: Pool, start: int, count: int) -> float:
    """The written coefficient of the first term with factors of a collected sum."""
    for t in range(start, start + count):
        if p.length[t] > 0:
            return written_coefficient(p, t)
    return constant_term(p, start, count)


@compiled
def _group_atom(p: Pool, start: int, count: int, outside: int, n: int, divisor: float) -> int:
    """The group of a sum over `divisor`; `outside` is the same sum, collected."""
    inside = scaled(p, start, count, 1.0 / divisor)
    code = p.size[N_CODE]
    emit_sum(p, outside, n, divisor, True)
    known = p.size[N_ATOMS]
    a = _intern(p, GROUP, 0, code)
    if a == known:
        p.arg_start[a] = inside
        p.arg_count[a] = count
        constant = constant_term(p, outside, n)
        if constant != 0.0:
            p.constant[a] = constant / divisor
            p.inverse_start[a] = p.size[N_CODE]
            emit_sum(p, outside, n, constant, False)
            p.inverse_length[a] = p.size[N_CODE] - p.inverse_start[a]
    return a


@compiled
def signed_group(p: Pool, start: int, count: int) -> tuple[float, int]:
    """A sum as positive number times an atom whose leading coefficient is 1 or -1."""
    if count == 1 and p.length[start] == 1 and p.coefficient[start] > 0.0:
        f = p.first[start]
        if p.exponent[f] == 1.0 and p.kind[p.atom[f]] != ROOT:
            return p.coefficient[start], p.atom[f]
    outside, n = collected(p, start, count)
    scale = abs(leading_coefficient(p, outside, n))
    return scale, _group_atom(p, start, count, outside, n, scale)


@compiled
def positive_group(p: Pool, start: int, count: int) -> tuple[float, int]:
    """A sum as number times a group whose leading coefficient is 1."""
    outside, n = collected(p, start, count)
    scale = leading_coefficient(p, outside, n)
    return scale, _group_atom(p, start, count, outside, n, scale)


# ---------------------------------------------------------------- collecting


@compiled
def _same_functions(p: Pool, s: int, t: int) -> bool:
    """Whether two terms agree in all factors that are not variables."""
    i, j = 0, 0
    while True:
        while i < p.length[s] and p.kind[p.atom[p.first[s] + i]] == VARIABLE:
            i += 1
        while j < p.length[t] and p.kind[p.atom[p.first[t] + j]] == VARIABLE:
            j += 1
        if i == p.length[s] or j == p.length[t]:
            return i == p.length[s] and j == p.length[t]
        f, g = p.first[s] + i, p.first[t] + j
        if p.atom[f] != p.atom[g] or abs(p.exponent[f] - p.exponent[g]) > SAME:
            return False
        i += 1
        j += 1


@compiled
def _has_functions(p: Pool, t: int) -> bool:
    for f in range(p.first[t], p.first[t] + p.length[t]):
        if p.kind[p.atom[f]] != VARIABLE:
            return True
    return False


@compiled
def common_exponent(p: Pool, start: int, count: int, atom: int) -> float:
    """The smallest exponent of an atom over the terms of a sum; 0 where it does not occur."""
    smallest = np.inf
    for t in range(start, start + count):
        exponent = 0.0
        for f in range(p.first[t], p.first[t] + p.length[t]):
            if p.atom[f] == atom:
                exponent = p.exponent[f]
        smallest = min(smallest, exponent)
    return smallest


@compiled
def collected(p: Pool, start: int, count: int) -> tuple[int, int]:
    """The outside form of a sum: terms with the same functions collected, then sorted."""
    taken = np.zeros(count, np.bool_)
    chosen = np.zeros(count, np.int64)
    for i in range(count):
        if taken[i]:
            continue
        chosen[i] = start + i
        if not _has_functions(p, start + i):
            continue
        members = 1
        for j in range(i + 1, count):
            if not taken[j] and _same_functions(p, start + i, start + j):
                taken[j] = True
                chosen[j] = -1 - i
                members += 1
        if members > 1:
            chosen[i] = _collect_group(p, start, i, count, chosen)
    begin = p.size[N_TERMS]
    n = 0
    for i in range(count):
        if not taken[i] and not p.size[FAILED]:
            scaled(p, chosen[i], 1, 1.0)
            n += 1
    if p.size[FAILED]:
        return 0, 0
    sort_terms(p, begin, n)
    return begin, n


@compiled
def _collect_group(p: Pool, start: int, i: int, count: int, chosen: Ints) -> int:
    """One term for all members of group i: common variables, shared functions, a group of the rest."""
    begin = p.size[N_TERMS]
    n = 0
    for j in range(i, count):
        if j == i or chosen[j] == -1 - i:
            source = start + j
            t = new_term(p, p.coefficient[source], -1)
            for f in range(p.first[source], p.first[source] + p.length[source]):
                if p.kind[p.atom[f]] == VARIABLE:
                    add_factor(p, t, p.atom[f], p.exponent[f])
            n += 1
    if p.size[FAILED]:
        return 0
    common = new_term(p, 1.0, -1)
    for t in range(begin, begin + n):
        for f in range(p.first[t], p.first[t] + p.length[t]):
            known = False
            for g in range(p.first[common], p.first[common] + p.length[common]):
                known = known or p.atom[g] == p.atom[f]
            if not known:
                add_factor(p, common, p.atom[f], common_exponent(p, begin, n, p.atom[f]))
    rest = p.size[N_TERMS]
    for t in range(begin, begin + n):
        size = load(p, 0, t, 1.0)
        size = load(p, size, common, -1.0)
        store_work(p, size, p.coefficient[t], -1)
    if p.size[FAILED]:
        return 0
    sort_terms(p, rest, n)
    scale = leading_coefficient(p, rest, n)
    group = _group_atom(p, rest, n, rest, n, scale)
    size = load(p, 0, common, 1.0)
    source = start + i
    for f in range(p.first[source], p.first[source] + p.length[source]):
        if p.kind[p.atom[f]] != VARIABLE:
            size = push_factor(p, size, p.atom[f], p.exponent[f])
    size = push_factor(p, size, group, 1.0)
    return store_work(p, size, scale, -1)
