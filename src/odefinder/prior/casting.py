"""Who plays what in an example: states that nobody sees, signals that drive it, conditions (compiled).

A system is drawn as usual, and then cast: some of its variables become velocities that were not measured
(x' = v), one may be hidden, and known variables enter in one of three ways: one of the system's own variables
loses its equation, a term with the signal is added to an equation, or a coefficient is multiplied by it.  The
variables are then brought into the order that every program keeps: observed, velocities, hidden, known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.data.roles import KNOWN, SEEN, UNSEEN
from odefinder.expressions.program import ADD, CONST, MUL, VAR, Ops, Values
from odefinder.expressions.values import arguments_left
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.randomness import Stream, chance, integer, pick, uniform
from odefinder.prior.features import signed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# What may be special about an example; kinds combine them.
ORDER, HIDDEN, INPUT, CONDITION, TIME = 1, 2, 4, 8, 16
KINDS = (
    0, ORDER, HIDDEN, INPUT, ORDER | INPUT, HIDDEN | INPUT, CONDITION, ORDER | CONDITION, TIME, ORDER | TIME,
)  # fmt: skip
KIND_NAMES = (
    "plain", "order", "hidden", "input", "order and input", "hidden and input", "condition",
    "order and condition", "time", "order and time",
)  # fmt: skip
_KINDS = np.array(KINDS)

BODIES = np.array([0.74, 0.21, 0.05])  # one, two or three second-order variables
ONE_STATE_MORE = 0.15  # systems with another state of first order, or of third order
THIRD_ORDER_OF_THREE = 0.5  # of those with three states
HIDDEN_STATES = np.array([0.0, 0.6, 0.3, 0.1])  # one to four states, one of them hidden
DRIVEN_STATES = np.array([0.35, 0.4, 0.2, 0.05])
TWO_SIGNALS = 0.2
OWN_VARIABLE, ADDED_TERM, MODULATED = range(3)  # how a known variable enters
WAYS = np.array([0.35, 0.4, 0.25])
WAYS_OF_CONDITIONS = np.array([0.35, 0.1, 0.55])
TIMES_A_STATE = 0.2  # added terms in which the signal multiplies a state


class Cast(NamedTuple):
    """The roles of one system's variables, by their place in the program."""

    roles: NDArray[np.int8]  # (MAX_DIMENSION,): SEEN, UNSEEN or KNOWN
    parent: Ints  # (MAX_DIMENSION,): of a velocity, the variable whose derivative it is; else -1
    slope: Floats  # (MAX_DIMENSION,): of a velocity v of x: x' = slope * v
    facts: Ints  # (3,): by KIND, STATES and SIGNALS


KIND, STATES, SIGNALS = 0, 1, 2


@compiled
def no_cast() -> Cast:
    """Room for a cast."""
    return Cast(
        np.zeros(MAX_DIMENSION, np.int8),
        np.full(MAX_DIMENSION, -1, np.int64),
        np.ones(MAX_DIMENSION),
        np.zeros(3, np.int64),
    )


@compiled
def plain_cast(dimension: int, cast: Cast) -> None:
    """Every variable is an observed state."""
    cast.roles[:] = SEEN
    cast.parent[:] = -1
    cast.slope[:] = 1.0
    cast.facts[KIND], cast.facts[STATES], cast.facts[SIGNALS] = 0, dimension, 0


@compiled
def draw_kind(s: Stream, weights: Floats) -> int:
    """What is special about an example; 0: nothing."""
    return 0 if weights[0] >= weights.sum() else _KINDS[pick(s, weights)]


@compiled
def draw_sizes(s: Stream, kind: int, cast: Cast) -> None:
    """How many states and signals an example of this kind has."""
    signals = 0
    if kind & (INPUT | CONDITION):
        signals = 2 if chance(s, TWO_SIGNALS) else 1
    if kind & TIME:
        signals = 1
    if kind & ORDER:
        bodies = 1 + pick(s, BODIES)
        while 2 * bodies + signals > MAX_DIMENSION:
            bodies -= 1
        states = 2 * bodies
        if states + signals < MAX_DIMENSION and chance(s, ONE_STATE_MORE):
            states += 1
    elif kind & HIDDEN:
        states = 1 + pick(s, HIDDEN_STATES)
    else:
        states = 1 + pick(s, DRIVEN_STATES)
    cast.facts[KIND], cast.facts[STATES], cast.facts[SIGNALS] = kind, states, signals


@compiled
def draw_ways(s: Stream, cast: Cast, ways: Ints) -> int:
    """How each known variable enters; the number of those that are variables of the system drawn first."""
    own = 0
    for i in range(cast.facts[SIGNALS]):
        weights = WAYS_OF_CONDITIONS if cast.facts[KIND] & CONDITION else WAYS
        ways[i] = pick(s, weights)
        own += ways[i] == OWN_VARIABLE
    return own


@compiled
def equation_bounds(ops: Ops, n: int, bounds: Ints) -> int:
    """Where each equation begins, and the end; returns their number."""
    count, missing = 0, 0
    for i in range(n):
        if missing == 0:
            bounds[count] = i
            count += 1
        missing = arguments_left(missing, ops[i])
    bounds[count] = n
    return count


@compiled
def _reads(ops: Ops, values: Values, first: int, last: int, variable: int) -> bool:
    """Whether nodes first..last - 1 read a variable."""
    for i in range(first, last):
        if ops[i] == VAR and int(values[i]) == variable:
            return True
    return False


@compiled
def _pair_velocities(ops: Ops, values: Values, bounds: Ints, states: int, parent: Ints, slope: Floats) -> int:
    """Find equations x' = c v, each variable used once; how many there are."""
    pairs = 0
    for i in range(states):
        first, length = bounds[i], bounds[i + 1] - bounds[i]
        if length == 1 and ops[first] == VAR:
            v, c = int(values[first]), 1.0
        elif length == 3 and ops[first] == MUL and ops[first + 1] == CONST and ops[first + 2] == VAR:
            v, c = int(values[first + 2]), values[first + 1]
        else:
            continue
        used = v == i or v >= states or c == 0.0 or parent[v] >= 0
        for k in range(states):
            used = used or parent[k] == i or parent[k] == v
        if not used:
            parent[v], slope[v] = i, c
            pairs += 1
    return pairs


@compiled
def _make_velocities(s: Stream, states: int, parent: Ints) -> None:
    """Declare half of the variables velocities of the others; of three, they may be one of third order."""
    if states == 3 and chance(s, THIRD_ORDER_OF_THREE):
        parent[1], parent[2] = 0, 1
        return
    for k in range(states // 2):
        parent[states // 2 + k] = k


@compiled
def _hide(s: Stream, ops: Ops, values: Values, bounds: Ints, states: int) -> int:
    """A variable that another equation reads, at random; -1 if there is none."""
    start = integer(s, 0, states - 1)
    for shift in range(states):
        hidden = (start + shift) % states
        for i in range(states):
            if i != hidden and _reads(ops, values, bounds[i], bounds[i + 1], hidden):
                return hidden
    return -1


@compiled
def _arrange(states: int, variables: int, parent: Ints, hidden: int, order: Ints) -> None:
    """The old place of each new variable: observed, velocities after their parents, hidden, known."""
    count = 0
    for i in range(states):
        if parent[i] < 0 and i != hidden:
            order[count] = i
            count += 1
    for _ in range(states):  # a velocity whose parent is a velocity comes after it
        for i in range(states):
            if parent[i] < 0:
                continue
            placed = parent_placed = False
            for k in range(count):
                placed = placed or order[k] == i
                parent_placed = parent_placed or order[k] == parent[i]
            if parent_placed and not placed:
                order[count] = i
                count += 1
    if hidden >= 0:
        order[count] = hidden
        count += 1
    for i in range(states, variables):
        order[i] = i


@compiled
def _write_arranged(
    ops: Ops, values: Values, bounds: Ints, order: Ints, parent: Ints, slope: Floats, cast: Cast,
    out_ops: Ops, out_values: Values,
) -> int:  # fmt: skip
    """The equations of the states in their new order, velocities' parents as x' = slope * v."""
    states = cast.facts[STATES]
    place = np.empty(MAX_DIMENSION, np.int64)
    for k in range(len(order)):
        place[order[k]] = k
    n = 0
    for k in range(states):
        old = order[k]
        velocity = -1
        for v in range(states):
            if parent[v] == old:
                velocity = v
        if velocity >= 0:
            out_ops[n], out_ops[n + 1], out_ops[n + 2] = MUL, CONST, VAR
            out_values[n], out_values[n + 1], out_values[n + 2] = 0.0, slope[velocity], place[velocity]
            n += 3
        else:
            for i in range(bounds[old], bounds[old + 1]):
                if n + 8 > len(out_ops):
                    return -1
                out_ops[n] = ops[i]
                out_values[n] = place[int(values[i])] if ops[i] == VAR else values[i]
                n += 1
        cast.parent[k] = place[parent[old]] if parent[old] >= 0 else -1
        cast.slope[k] = slope[old]
    return n


@compiled
def _insert(ops: Ops, values: Values, n: int, at: int, count: int) -> int:
    """Make room for nodes; the new length, or -1 if there is none."""
    if n + count > len(ops):
        return -1
    for i in range(n - 1, at - 1, -1):
        ops[i + count], values[i + count] = ops[i], values[i]
    return n + count


@compiled
def _add_term(s: Stream, ops: Ops, values: Values, n: int, variable: int, cast: Cast) -> int:
    """Add c u, or c u x, to one of the equations that are not x' = v."""
    states = cast.facts[STATES]
    bounds = np.empty(MAX_DIMENSION + 1, np.int64)
    equation_bounds(ops, n, bounds)
    target = integer(s, 0, states - 1)
    for _ in range(states):
        fixed = False
        for v in range(states):
            fixed = fixed or cast.parent[v] == target
        if not fixed:
            break
        target = (target + 1) % states
    at, product = bounds[target], chance(s, TIMES_A_STATE)
    count = 6 if product else 4
    n = _insert(ops, values, n, at, count)
    if n < 0:
        return -1
    values[at : at + count] = 0.0
    ops[at], ops[at + 1], ops[at + 2] = ADD, MUL, CONST
    values[at + 2] = 1.0 if chance(s, 0.25) else signed(s)
    if product:
        ops[at + 3], ops[at + 4], ops[at + 5] = MUL, VAR, VAR
        values[at + 4], values[at + 5] = variable, integer(s, 0, states - 1)
    else:
        ops[at + 3], values[at + 3] = VAR, variable
    return n


@compiled
def _modulate(s: Stream, ops: Ops, values: Values, n: int, variable: int, cast: Cast) -> int:
    """Multiply a coefficient by the known variable; -1 if there is none."""
    count = 0
    chosen = -1
    bounds = np.empty(MAX_DIMENSION + 1, np.int64)
    equations = equation_bounds(ops, n, bounds)
    for d in range(equations):
        fixed = False
        for v in range(equations):
            fixed = fixed or cast.parent[v] == d
        if fixed:
            continue
        for i in range(bounds[d] + 1, bounds[d + 1]):
            if ops[i] == CONST and ops[i - 1] == MUL:
                count += 1
                if uniform(s) * count < 1.0:  # each with the same chance
                    chosen = i
    if chosen < 0:
        return -1
    constant = values[chosen]
    n = _insert(ops, values, n, chosen, 2)
    if n < 0:
        return -1
    ops[chosen], ops[chosen + 1], ops[chosen + 2] = MUL, CONST, VAR
    values[chosen], values[chosen + 1], values[chosen + 2] = 0.0, constant, variable
    return n


@compiled
def cast_system(
    s: Stream, cast: Cast, ways: Ints, own: int, ops: Ops, values: Values, n: int, out_ops: Ops,
    out_values: Values,
) -> int:  # fmt: skip
    """Write a drawn system with its roles; its length, or -1 if they do not suit it.

    own: how many of the known variables are variables of the drawn system, after its states.
    """
    kind, states, signals = cast.facts[KIND], cast.facts[STATES], cast.facts[SIGNALS]
    bounds = np.empty(MAX_DIMENSION + 1, np.int64)
    equation_bounds(ops, n, bounds)
    parent, slope = np.full(MAX_DIMENSION, -1, np.int64), np.ones(MAX_DIMENSION)
    hidden = -1
    if kind & ORDER and _pair_velocities(ops, values, bounds, states, parent, slope) == 0:
        _make_velocities(s, states, parent)
    if kind & HIDDEN:
        hidden = _hide(s, ops, values, bounds, states)
        if hidden < 0:
            return -1
    order = np.empty(states + own, np.int64)
    _arrange(states, states + own, parent, hidden, order)
    n = _write_arranged(ops, values, bounds, order, parent, slope, cast, out_ops, out_values)
    variable = states + own
    for i in range(signals):
        if n > 0 and ways[i] == ADDED_TERM:
            n = _add_term(s, out_ops, out_values, n, variable, cast)
            variable += 1
        elif n > 0 and ways[i] == MODULATED:
            n = _modulate(s, out_ops, out_values, n, variable, cast)
            variable += 1
    if n < 0:
        return -1
    for i in range(states, states + signals):
        if not _reads(out_ops, out_values, 0, n, i):
            return -1
    for k in range(MAX_DIMENSION):
        cast.roles[k] = KNOWN if states <= k < states + signals else SEEN
        if k >= states:
            cast.parent[k] = -1
        elif cast.parent[k] >= 0 or (hidden >= 0 and k == states - 1):
            cast.roles[k] = UNSEEN
    return n
