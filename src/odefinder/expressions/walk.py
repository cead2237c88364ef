"""The walk through a prefix program from right to left, which meets every argument before its operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from odefinder.expressions.program import ARITY, Ops, Values

T = TypeVar("T")


def fold(
    ops: Ops,
    values: Values,
    build: Callable[[int, float, Sequence[T]], T],
    arity: NDArray[np.int8] = ARITY,
) -> T:
    """The result for the first expression of calling `build(opcode, value, arguments)` node by node.

    There is no recursion, so no expression is nested too deeply.  arity: that of opcodes other than ours.
    """
    stack: list[T] = []
    for op, value in zip(ops[::-1].tolist(), values[::-1].tolist(), strict=True):
        stack.append(build(op, value, [stack.pop() for _ in range(arity[op])]))
    return stack[-1]
