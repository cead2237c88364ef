"""Functions of sums in canonical form: sines, exponentials, logarithms, bars, powers (compiled)."""

from __future__ import annotations

import math

import numpy as np

from odefinder.compiling.jit import compiled
from odefinder.expressions.canonical.atoms import (
    collected,
    function_atom,
    leading_coefficient,
    power_atom,
    signed_group,
    wrapped_atom,
)
from odefinder.expressions.canonical.pool import (
    FUNCTION,
    N_TERMS,
    ROOT,
    Pool,
    add_factors_of,
    constant_term,
    merged,
    new_term,
    scaled,
)
from odefinder.expressions.canonical.rules import (
    EXACT,
    as_term,
    gather,
    is_number,
    number,
    real_power,
    single_factor,
)
from odefinder.expressions.program import ABS, COS, EXP, LOG, SIN, SQRT, TANH
from odefinder.expressions.values import unary

MAX_EXPONENT = 600.0  # of e in a coefficient; a larger shift stays inside the exponential


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
def function(p: Pool, op: int, start: int, count: int) -> tuple[int, int]:
    """A unary function of a sum."""
    if is_number(p, start, count):
        return number(p, unary(op, constant_term(p, start, count)))
    if op == EXP:
        return _exponential(p, start, count)
    if op == LOG:
        return _logarithm(p, start, count)
    if op == ABS:
        return _absolute(p, start, count)
    if op == SQRT:
        return real_power(p, start, count, 0.5)
    return _odd_function(p, op, start, count)
