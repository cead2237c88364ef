"""Programs for the inner loop: three-address code over one array of slots.

The prefix program is turned into instructions `(opcode, a, b, c)` whose operands are positions in one
array: the variables first (the states, then the signals that drive them), then the constants, then one slot
for the result of every instruction.  Leaves
cost nothing at run time (half of all nodes), and a sum or product whose operand is a sum or product becomes
one instruction.  Measured on systems of 60 nodes: 2.5 times faster than a stack machine on the nodes
themselves (1.8 times with sines and exponentials).  Values are bit-identical to those of the stack machine.

Every slot is a vector of eight numbers, its lanes: one for each of the seven stages of a Runge-Kutta step,
one idle.  `run` fills one lane, and a stage's dx/dt are the slots of the components' roots in its lane.
When the derivatives are wanted too, one reverse sweep (`gradients.py`) serves all stages at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled, inlined, kernel
from odefinder.expressions.program import (
    ADD,
    CONST,
    MUL,
    POW,
    VAR,
)
from odefinder.expressions.values import arguments_left, unary
from odefinder.numerics.engine.vectors import WIDTH, zeros

# An ADD or MUL swallowed by the ADD or MUL above it: (a inner b) outer c.
MUL_MUL, MUL_ADD, ADD_MUL, ADD_ADD = 20, 21, 22, 23

LANES = WIDTH
LAST_STAGE = 6  # stages 1 to 6 are new in every step, 0 is the last of the step before


class Bytecode(NamedTuple):
    """The arrays of one compiled program; allocated once by `bytecode`, filled by `translate`."""

    code: NDArray[np.uint32]  # (max_nodes, 4): opcode, a, b, c
    slots: NDArray[np.float64]  # ((max_variables + max_nodes) * LANES,)
    roots: NDArray[np.int64]  # (max_nodes,): the slot of each component's value
    ends: NDArray[np.int64]  # (max_nodes,): one past the last instruction of each component
    component: NDArray[np.int64]  # (max_nodes,): the component of each constant
    operands: NDArray[np.int64]  # (max_nodes + 1,): the stack of `translate`
    counts: NDArray[np.int64]  # instructions, constants, slot of the first result, variables


@compiled
def bytecode(max_nodes: int, max_variables: int) -> Bytecode:
    """Room for any program with at most this many nodes and variables.

    There may be more components than variables: what is known of a system has its numbers as components.
    """
    return Bytecode(
        np.empty((max_nodes, 4), dtype=np.uint32),
        zeros((max_variables + max_nodes) * LANES),
        np.empty(max_nodes, dtype=np.int64),
        np.empty(max_nodes, dtype=np.int64),
        np.empty(max_nodes, dtype=np.int64),
        np.empty(max_nodes + 1, dtype=np.int64),
        np.empty(4, dtype=np.int64),
    )


@kernel
def translate(
    ops: NDArray[Any], values: NDArray[Any], n: int, dimension: int, variables: int, target: Bytecode
) -> None:
    """Turn the first n nodes, `dimension` complete expressions one after the other, into instructions.

    variables: how many they may read; the states come first.
    """
    code, slots, operands = target.code, target.slots, target.operands
    n_constants = 0
    component = -1
    missing = 0  # arguments that the component still waits for
    for i in range(n):
        op = ops[i]
        if missing == 0:
            component += 1
            target.ends[component] = i  # its first node, until the loop below puts the instruction there
        missing = arguments_left(missing, op)
        if op == CONST:
            for lane in range(LANES):
                slots[(variables + n_constants) * LANES + lane] = values[i]
            target.component[n_constants] = component
            n_constants += 1

    first = (variables + n_constants) * LANES
    m = 0  # instructions so far
    top = 0  # operands on the stack
    constant = n_constants
    for i in range(n - 1, -1, -1):
        op = ops[i]
        if op == CONST:
            constant -= 1
            operands[top] = (variables + constant) * LANES
            top += 1
        elif op == VAR:
            operands[top] = int(values[i]) * LANES
            top += 1
        elif op in (MUL, ADD, POW):
            top -= 1
            a, b = operands[top], operands[top - 1]
            last = first + (m - 1) * LANES
            inner = np.int64(code[m - 1, 0]) if m > 0 and (a == last or b == last) else -1
            if op != POW and inner in (MUL, ADD):
                if inner == MUL:
                    code[m - 1, 0] = MUL_MUL if op == MUL else MUL_ADD
                else:
                    code[m - 1, 0] = ADD_MUL if op == MUL else ADD_ADD
                code[m - 1, 3] = b if a == last else a
                operands[top - 1] = last
            else:
                code[m, 0], code[m, 1], code[m, 2] = op, a, b
                operands[top - 1] = first + m * LANES
                m += 1
        else:
            code[m, 0], code[m, 1] = op, operands[top - 1]
            operands[top - 1] = first + m * LANES
            m += 1
        if i == target.ends[component]:
            target.ends[component] = m
            component -= 1
    for d in range(dimension):
        target.roots[d] = operands[dimension - 1 - d]
    target.counts[0], target.counts[1], target.counts[2], target.counts[3] = m, n_constants, first, variables


@inlined
def run(target: Bytecode, lane: int) -> None:
    """Compute every slot of one lane from the variables that the caller wrote there."""
    code, slots = target.code, target.slots
    offset = np.uint64(lane)
    position = np.uint64(target.counts[2] + lane)
    step = np.uint64(LANES)
    for j in range(target.counts[0]):
        op = code[j, 0]
        a = slots[code[j, 1] + offset]
        if op == MUL_ADD:
            v = a * slots[code[j, 2] + offset] + slots[code[j, 3] + offset]
        elif op == MUL:
            v = a * slots[code[j, 2] + offset]
        elif op == MUL_MUL:
            v = a * slots[code[j, 2] + offset] * slots[code[j, 3] + offset]
        elif op == ADD:
            v = a + slots[code[j, 2] + offset]
        elif op == ADD_ADD:
            v = a + slots[code[j, 2] + offset] + slots[code[j, 3] + offset]
        elif op == ADD_MUL:
            v = (a + slots[code[j, 2] + offset]) * slots[code[j, 3] + offset]
        elif op == POW:
            v = a ** slots[code[j, 2] + offset]
        else:
            v = unary(op, a)
        slots[position] = v
        position += step
