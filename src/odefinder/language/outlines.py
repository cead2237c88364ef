"""Outlines: what the equations of a system look like apart from their constants, as targets of their own.

    | x1 add mul 1 x0 mul 1 mul x0 x1 | x0 mul 1 x1        x1' = a x0 + b x0 x1,  x0' = c x1

An outline begins with SEP, which begins no system.  Each equation follows the variable it belongs to, in any
order, and every constant is the word 1.  So the network says how likely a structure is whatever its constants
are, and begins with any equation that it is asked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.language.tokens import EOS, SEP, Layout
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.randomness import integer, seed_stream, uniform

APART = 0x5EED  # added to the seed: the choice of outlines is independent of what examples are drawn with


@compiled
def outline(
    ids: NDArray[np.int16], order: NDArray[np.int64], one: int, layout: Layout, out: NDArray[np.int16]
) -> int:
    """Write the outline of a system's ids, its equations in this order; returns its length, EOS included.

    one: the id of the word 1.  `out` has room for two words more per equation than the system has.
    """
    # Of a number only its first token counts.
    end = layout.number_first[1] if len(layout.number_first) > 1 else np.iinfo(np.int16).max
    length = 0
    for wanted in order:
        out[length] = SEP
        out[length + 1] = layout.first_variable + wanted
        length += 2
        component = 0
        for word in ids:
            if word == EOS or component > wanted:
                break
            if word == SEP:
                component += 1
            elif component == wanted and word < end:
                out[length] = one if word >= layout.first_exact else word
                length += 1
    out[length] = EOS
    return length + 1


@compiled
def outline_some(
    tokens: NDArray[np.int16],
    lengths: NDArray[np.int16],
    dimensions: NDArray[np.int8],
    indices: NDArray[np.int64],
    seed: int,
    share: float,
    one: int,
    layout: Layout,
) -> None:
    """Replace a share of the targets (B, L) by the outlines of their systems, in place.

    Which ones, and the order of their equations, depend on the seed and the examples' numbers only.  Where an
    outline would be longer than L, the system stays.
    """
    stream = np.zeros(4, np.uint64)
    written = np.zeros(tokens.shape[1] + 2 * MAX_DIMENSION, np.int16)
    for k in range(len(indices)):
        seed_stream(stream, seed + APART, indices[k])
        if uniform(stream) >= share:
            continue
        order = np.arange(dimensions[k])
        for i in range(len(order) - 1, 0, -1):
            j = integer(stream, 0, i)
            order[i], order[j] = order[j], order[i]
        n = outline(tokens[k, : lengths[k]], order, one, layout, written)
        if n <= tokens.shape[1]:
            tokens[k, :n] = written[:n]
            lengths[k] = n
