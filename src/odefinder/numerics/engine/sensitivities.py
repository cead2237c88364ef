"""Forward sensitivities S = dx/dp along the steps of the integrator: dS/dt = J S + df/dp.

One column a parameter: the constants in program order, then the initial values.  The columns do not
interact; they are worked off in blocks of eight, so that a row of a block is one vector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled, inlined, kernel
from odefinder.numerics.engine.bytecode import LANES, LAST_STAGE, Bytecode
from odefinder.numerics.engine.dormand_prince import TABLEAU
from odefinder.numerics.engine.gradients import gradients
from odefinder.numerics.engine.vectors import WIDTH, add, fill, load, mul, store, store_first, zeros


class Sensitivities(NamedTuple):
    """Work arrays; a row of a block, number r = block * D + variable, is the vector at r * WIDTH."""

    adjoint: NDArray[np.float64]  # ((max_variables + max_nodes) * LANES,)
    jacobian: NDArray[np.float64]  # (max_variables**2 * LANES,)
    old: NDArray[np.float64]  # (rows * WIDTH,): S at the start of the step
    new: NDArray[np.float64]  # (rows * WIDTH,): S in the current stage, in the end at the end of the step
    slopes: NDArray[np.float64]  # (rows * LANES * WIDTH,): dS/dt in the stages, r's stage s at r * LANES + s
    forcing: NDArray[np.float64]  # (rows * LANES * WIDTH,): df/dp, as the slopes
    weights: NDArray[np.float64]  # (LANES * LANES,): the tableau times the step


@compiled
def sensitivities(max_nodes: int, max_variables: int, max_parameters: int) -> Sensitivities:
    """Work arrays for systems with at most this many nodes, variables and parameters."""
    size = (max_parameters + WIDTH - 1) // WIDTH * max_variables * WIDTH
    return Sensitivities(
        zeros((max_variables + max_nodes) * LANES),
        zeros(max_variables * max_variables * LANES),
        zeros(size),
        zeros(size),
        zeros(size * LANES),
        zeros(size * LANES),
        zeros(LANES * LANES),
    )


@kernel
def fits(work: Sensitivities, dimension: int, n_columns: int) -> bool:
    """Whether the work arrays are large enough."""
    return (n_columns + WIDTH - 1) // WIDTH * dimension * WIDTH <= len(work.new)


@inlined
def advance(
    target: Bytecode,
    dimension: int,
    n_columns: int,
    n_constants: int,
    h: float,
    work: Sensitivities,
) -> None:
    """One step of length h after the state's: the program's slots hold the values in all stages."""
    gradients(target, dimension, work.adjoint, work.jacobian)
    old, new, slopes, forcing = work.old, work.new, work.slopes, work.forcing
    for i in range(LANES * LANES):
        work.weights[i] = h * TABLEAU[i]
    for c in range(n_constants):
        row = c // WIDTH * dimension + target.component[c]
        for stage in range(1, LAST_STAGE + 1):
            value = work.adjoint[(target.counts[3] + c) * LANES + stage]
            forcing[(row * LANES + stage) * WIDTH + c % WIDTH] = value
    for block in range((n_columns + WIDTH - 1) // WIDTH):
        rows = block * dimension
        for row in range(rows, rows + dimension):
            store(old, row * WIDTH, load(new, row * WIDTH))
            store(slopes, row * LANES * WIDTH, load(slopes, (row * LANES + LAST_STAGE) * WIDTH))
        for stage in range(1, LAST_STAGE + 1):
            for row in range(rows, rows + dimension):
                s = load(old, row * WIDTH)
                for earlier in range(stage):
                    weight = fill(work.weights[stage * LANES + earlier])
                    s = add(s, mul(weight, load(slopes, (row * LANES + earlier) * WIDTH)))
                store(new, row * WIDTH, s)
            for d in range(dimension):
                i = ((rows + d) * LANES + stage) * WIDTH
                slope = load(forcing, i)
                for k in range(dimension):
                    factor = fill(work.jacobian[(d * dimension + k) * LANES + stage])
                    slope = add(slope, mul(factor, load(new, (rows + k) * WIDTH)))
                store(slopes, i, slope)


@kernel
def start(dimension: int, n_columns: int, n_constants: int, work: Sensitivities, out: NDArray[Any]) -> None:
    """S at the start, to out (D, P) as well: the identity for the initial values, zero for the constants."""
    size = (n_columns + WIDTH - 1) // WIDTH * dimension * WIDTH
    work.new[:size] = 0.0
    work.slopes[: size * LANES] = 0.0
    work.forcing[: size * LANES] = 0.0
    out[:] = 0.0
    if n_columns > n_constants:
        for d in range(dimension):
            column = n_constants + d
            work.new[(column // WIDTH * dimension + d) * WIDTH + column % WIDTH] = 1.0
            out[d, column] = 1.0


@inlined
def interpolate(
    work: Sensitivities,
    dimension: int,
    n_columns: int,
    h: float,
    weights: NDArray[Any],
    point: int,
    out: NDArray[Any],
) -> None:
    """S inside the step that `advance` made, with the dense output's weights: to out[point] (D, P)."""
    for block in range((n_columns + WIDTH - 1) // WIDTH):
        for d in range(dimension):
            row = block * dimension + d
            change = mul(fill(weights[0]), load(work.slopes, row * LANES * WIDTH))
            for stage in range(2, LAST_STAGE + 1):
                weight = fill(weights[stage])
                change = add(change, mul(weight, load(work.slopes, (row * LANES + stage) * WIDTH)))
            s = add(load(work.old, row * WIDTH), mul(fill(h), change))
            position = (point * dimension + d) * n_columns + block * WIDTH
            store_first(out, position, s, n_columns - block * WIDTH)
