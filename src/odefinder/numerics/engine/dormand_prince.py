"""The Dormand-Prince 5(4) method: tableau, one step, its error norm and dense output.

As in SciPy's RK45 (Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, sections II.4 to II.6;
Shampine 1986 for the interpolant).  Stage s works in lane s of the translated program (`bytecode.py`): its
variables are written straight into their slots, and dx/dt of variable d is the slot `roots[d]` in that lane.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import inlined, kernel
from odefinder.numerics.engine.bytecode import LANES, Bytecode, run

# The tableau.
A21 = 1 / 5
A31, A32 = 3 / 40, 9 / 40
A41, A42, A43 = 44 / 45, -56 / 15, 32 / 9
A51, A52, A53, A54 = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
A61, A62, A63, A64, A65 = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
B1, B3, B4, B5, B6 = 35 / 384, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
E1, E3, E4, E5, E6, E7 = -71 / 57600, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40

# The same as a table, for loops over the stages: the weight of stage j in stage i at i * LANES + j.
TABLEAU = np.zeros(LANES * LANES)
for _stage, _row in enumerate(
    (
        (A21,),
        (A31, A32),
        (A41, A42, A43),
        (A51, A52, A53, A54),
        (A61, A62, A63, A64, A65),
        (B1, 0.0, B3, B4, B5, B6),
    ),
    start=1,
):
    TABLEAU[_stage * LANES : _stage * LANES + _stage] = _row

# When in a step the stages are.
NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])

SAFETY = 0.9


@kernel
def first_step(
    target: Bytecode, state: NDArray[Any], dimension: int, span: float, rtol: float, atol: float
) -> float:
    """Hairer's automatic first step (II.4); dx/dt at the start is in stage 0, stage 1 is used up."""
    slots, roots = target.slots, target.roots
    size, slope = 0.0, 0.0
    for d in range(dimension):
        scale = atol + abs(state[d]) * rtol
        size += (state[d] / scale) ** 2
        slope += (slots[roots[d]] / scale) ** 2
    size, slope = math.sqrt(size / dimension), math.sqrt(slope / dimension)
    trial = 1e-6 if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    trial = min(trial, span)
    for d in range(dimension):
        slots[d * LANES + 1] = state[d] + trial * slots[roots[d]]
    run(target, 1)
    bend = 0.0
    for d in range(dimension):
        scale = atol + abs(state[d]) * rtol
        bend += ((slots[roots[d] + 1] - slots[roots[d]]) / scale) ** 2
    bend = math.sqrt(bend / dimension) / trial
    if not math.isfinite(bend):
        return trial * 1e-3
    largest = max(slope, bend)
    step = max(1e-6, trial * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** 0.2
    return min(min(100.0 * trial, step), span)


@inlined
def attempt_step(
    target: Bytecode, state: NDArray[Any], dimension: int, h: float, rtol: float, atol: float
) -> float:
    """Stages 1 to 6 of a step and the square of its error norm; the last stage's variables are the new state.

    The norm is not finite when any stage is not.
    """
    k, roots = target.slots, target.roots
    for stage in range(1, 7):
        # The newest derivative is added last, with as few operations behind it as possible.
        if stage == 1:
            for d in range(dimension):
                i = roots[d]
                k[d * LANES + 1] = state[d] + h * A21 * k[i]
        elif stage == 2:
            for d in range(dimension):
                i = roots[d]
                k[d * LANES + 2] = state[d] + h * A31 * k[i] + h * A32 * k[i + 1]
        elif stage == 3:
            for d in range(dimension):
                i = roots[d]
                older = A41 * k[i] + A42 * k[i + 1]
                k[d * LANES + 3] = state[d] + h * older + h * A43 * k[i + 2]
        elif stage == 4:
            for d in range(dimension):
                i = roots[d]
                older = A51 * k[i] + A52 * k[i + 1] + A53 * k[i + 2]
                k[d * LANES + 4] = state[d] + h * older + h * A54 * k[i + 3]
        elif stage == 5:
            for d in range(dimension):
                i = roots[d]
                older = A61 * k[i] + A62 * k[i + 1] + A63 * k[i + 2] + A64 * k[i + 3]
                k[d * LANES + 5] = state[d] + h * older + h * A65 * k[i + 4]
        else:
            for d in range(dimension):
                i = roots[d]
                older = B1 * k[i] + B3 * k[i + 2] + B4 * k[i + 3] + B5 * k[i + 4]
                k[d * LANES + 6] = state[d] + h * older + h * B6 * k[i + 5]
        run(target, stage)
    norm = 0.0
    for d in range(dimension):
        i = roots[d]
        error = E1 * k[i] + E3 * k[i + 2] + E4 * k[i + 3] + E5 * k[i + 4] + E6 * k[i + 5] + E7 * k[i + 6]
        error += 0.0 * k[i + 1]  # its weight is 0, but it must be finite too
        scale = atol + rtol * max(abs(state[d]), abs(k[d * LANES + 6]))
        norm += (h * error / scale) ** 2
    return norm / dimension


@inlined
def dense_weights(theta: float, weights: NDArray[Any]) -> None:
    """Weights of the stages' derivatives at the fraction theta of a step (fourth order, Shampine)."""
    q = theta * theta
    weights[0] = theta + q * (
        -8048581381 / 2820520608 + theta * (8663915743 / 2820520608 + theta * (-12715105075 / 11282082432))
    )
    weights[1] = 0.0
    weights[2] = q * (
        131558114200 / 32700410799
        + theta * (-68118460800 / 10900136933 + theta * (87487479700 / 32700410799))
    )
    weights[3] = q * (
        -1754552775 / 470086768 + theta * (14199869525 / 1410260304 + theta * (-10690763975 / 1880347072))
    )
    weights[4] = q * (
        127303824393 / 49829197408
        + theta * (-318862633887 / 49829197408 + theta * (701980252875 / 199316789632))
    )
    weights[5] = q * (
        -282668133 / 205662961 + theta * (2019193451 / 616988883 + theta * (-1453857185 / 822651844))
    )
    weights[6] = q * (40617522 / 29380423 + theta * (-110615467 / 29380423 + theta * (69997945 / 29380423)))


@inlined
def best_factor(error: float) -> float:
    """By how much the step may change, from the square of its error norm: 0.9 / norm^(1/5).

    In single precision, three times as fast, as nothing depends on its last digits.
    """
    return SAFETY * float(np.float32(error) ** np.float32(-0.1))
