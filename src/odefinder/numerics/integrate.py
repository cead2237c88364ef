"""Trajectories of a program: one, one with sensitivities, or many different systems at once.

From compiled code call `solve` with the arrays of a `workspace` (see `solver.py`); the functions here are for
Python.  An ODE that blows up is not an error: the `Status` says so, and the rows not reached are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from odefinder.compiling.jit import compiled
from odefinder.errors import DataError, SettingsError
from odefinder.expressions.program import CONST, VAR, Ops, Program, Values, check_system
from odefinder.expressions.values import arguments_left
from odefinder.limits.processors import cores
from odefinder.numerics.signals import NO_SIGNALS, Signals
from odefinder.numerics.solver import (
    Status,
    Tolerance,
    Wanted,
    Workspace,
    sensitivity_workspace,
    solve,
    solve_driven,
    solve_with_sensitivities,
    workspace,
)

__all__ = [
    "Signals",
    "Status",
    "Tolerance",
    "Wanted",
    "Workspace",
    "integrate",
    "integrate_batch",
    "integrate_with_sensitivities",
    "sensitivity_workspace",
    "solve",
    "solve_driven",
    "solve_with_sensitivities",
    "workspace",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNKS_PER_THREAD = 8  # more than one, because some systems take much longer than others


def integrate(
    program: Program,
    x0: ArrayLike,
    t: ArrayLike,
    *,
    signals: Signals | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_steps: int = 100_000,
    bound: float = 1e12,
) -> tuple[NDArray[np.float64], Status]:
    """States (N, D) at the strictly increasing times t, from x0 at t[0].

    signals: the values of the variables D, D + 1, ..., which have no equations, and doses; rtol, atol:
    tolerated error of a step; max_steps: accepted and rejected together; bound: the largest absolute value of
    a variable that does not yet count as divergence.
    """
    _check_settings(rtol, atol, max_steps, bound)
    driven = _check_signals(signals)
    x0, t = _check(program, x0, t, driven)
    out = np.empty((len(t), len(x0)))
    tolerance = Tolerance(float(rtol), float(atol), int(max_steps), float(bound))
    status = _integrate(program.ops, program.values, x0, t, driven, tolerance, out)
    return out, Status(status)


def integrate_with_sensitivities(
    program: Program,
    x0: ArrayLike,
    t: ArrayLike,
    *,
    signals: Signals | None = None,
    constants: bool = True,
    initial: bool = False,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_steps: int = 100_000,
    bound: float = 1e12,
) -> tuple[NDArray[np.float64], NDArray[np.float64], Status]:
    """States (N, D) as of `integrate`, bit for bit, and their derivatives (N, D, P).

    The P parameters are the constants in program order (if `constants`), then the initial values (if
    `initial`).  The step size follows the states alone, so the derivatives are a little less accurate.
    """
    _check_settings(rtol, atol, max_steps, bound)
    driven = _check_signals(signals)
    x0, t = _check(program, x0, t, driven)
    n_parameters = (np.count_nonzero(program.ops == CONST) if constants else 0) + (len(x0) if initial else 0)
    out = np.empty((len(t), len(x0)))
    derivatives = np.empty((len(t), len(x0), n_parameters))
    tolerance = Tolerance(float(rtol), float(atol), int(max_steps), float(bound))
    wanted = Wanted(bool(constants), bool(initial))
    status = _integrate_with_sensitivities(
        program.ops, program.values, x0, t, driven, tolerance, wanted, out, derivatives
    )
    return out, derivatives, Status(status)


def integrate_batch(
    programs: Sequence[Program],
    x0s: Sequence[ArrayLike],
    ts: Sequence[ArrayLike],
    *,
    signals: Sequence[Signals | None] | None = None,
    n_threads: int | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_steps: int = 100_000,
    bound: float = 1e12,
) -> list[tuple[NDArray[np.float64], Status]]:
    """`integrate` for many different systems, each with its own initial values, times and signals.

    n_threads: None for all processors that this process may use.
    """
    _check_settings(rtol, atol, max_steps, bound)
    if signals is None:
        signals = [None] * len(programs)
    if not len(programs) == len(x0s) == len(ts) == len(signals):
        raise DataError(
            f"one x0 and one t per program are needed (and signals, if any), got {len(programs)} programs, "
            f"{len(x0s)} initial values, {len(ts)} times and {len(signals)} signals"
        )
    if n_threads is not None and n_threads < 1:
        raise SettingsError(f"n_threads must be at least 1 (or None for all processors), got {n_threads}")
    if not programs:
        return []
    driven = [_check_signals(one) for one in signals]
    checked = [
        _check(program, x0, t, one) for program, x0, t, one in zip(programs, x0s, ts, driven, strict=True)
    ]
    ops = np.concatenate([program.ops for program in programs])
    values = np.concatenate([program.values for program in programs])
    x0_all = np.concatenate([x0 for x0, _ in checked])
    t_all = np.concatenate([t for _, t in checked])
    # Column by column: where the nodes, initial values, times and results of a system begin.
    sizes = [
        (len(p), len(x0), len(t), len(x0) * len(t)) for p, (x0, t) in zip(programs, checked, strict=True)
    ]
    starts = np.zeros((len(programs) + 1, 4), dtype=np.int64)
    np.cumsum(sizes, axis=0, out=starts[1:])
    out = np.empty(starts[-1, 3])
    statuses = np.empty(len(programs), dtype=np.int64)

    tolerance = Tolerance(float(rtol), float(atol), int(max_steps), float(bound))

    def result(i: int) -> Floats:
        x0, t = checked[i]
        return out[starts[i, 3] : starts[i + 1, 3]].reshape(len(t), len(x0))

    def run(first: int, last: int) -> None:
        if any(len(one.knots) for one in driven[first:last]):
            for i in range(first, last):
                program, (x0, t) = programs[i], checked[i]
                statuses[i] = _integrate(program.ops, program.values, x0, t, driven[i], tolerance, result(i))
        else:
            chunk = starts[first : last + 1]
            _integrate_chunk(ops, values, x0_all, t_all, chunk, tolerance, out, statuses[first:last])

    n_threads = n_threads or cores()
    n_chunks = 1 if n_threads == 1 else min(len(programs), n_threads * CHUNKS_PER_THREAD)
    if n_chunks == 1:
        run(0, len(programs))
    else:
        bounds = np.linspace(0, len(programs), n_chunks + 1).astype(int)
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(run, bounds[:-1], bounds[1:]))
    return [(result(i), Status(statuses[i])) for i in range(len(programs))]


@compiled
def _integrate(
    ops: Ops,
    values: Values,
    x0: Floats,
    t: Floats,
    signals: Signals,
    tolerance: Tolerance,
    out: Floats,
) -> int:
    work = workspace(len(ops), len(x0) + signals.before.shape[1])
    return solve_driven(ops, values, len(ops), x0, t, signals, tolerance, work, out)


@compiled
def _integrate_with_sensitivities(
    ops: Ops,
    values: Values,
    x0: Floats,
    t: Floats,
    signals: Signals,
    tolerance: Tolerance,
    wanted: Wanted,
    out: Floats,
    out_s: Floats,
) -> int:
    work = sensitivity_workspace(len(ops), len(x0) + signals.before.shape[1], out_s.shape[2])
    return solve_with_sensitivities(
        ops, values, len(ops), x0, t, signals, tolerance, wanted, work, out, out_s
    )


@compiled
def _integrate_chunk(
    ops: Ops,
    values: Values,
    x0: Floats,
    t: Floats,
    starts: Ints,
    tolerance: Tolerance,
    out: Floats,
    statuses: Ints,
) -> None:
    sizes = starts[1:] - starts[:-1]
    work = workspace(sizes[:, 0].max(), sizes[:, 1].max())
    for i in range(len(statuses)):
        nodes, variable, time, result = starts[i]
        n, dimension, n_times, n_results = sizes[i]
        statuses[i] = solve(
            ops[nodes : nodes + n],
            values[nodes : nodes + n],
            n,
            x0[variable : variable + dimension],
            t[time : time + n_times],
            tolerance,
            work,
            out[result : result + n_results].reshape(n_times, dimension),
        )


@compiled
def _is_fine(ops: Ops, values: Values, x0: Floats, t: Floats, n_signals: int) -> bool:
    """Whether this can be integrated; the quick way, as it is asked before every integration."""
    dimension = len(x0)
    components, missing = 0, 0
    for i in range(len(ops)):
        if missing == 0:
            components += 1
        missing = arguments_left(missing, ops[i])
        if ops[i] == VAR and values[i] >= dimension + n_signals:
            return False
    if components != dimension or missing != 0 or len(t) == 0:
        return False
    for i in range(1, len(t)):
        if not t[i] > t[i - 1]:
            return False
    return bool(np.isfinite(x0).all() and np.isfinite(t).all())


def _check(program: Program, x0: ArrayLike, t: ArrayLike, signals: Signals) -> tuple[Floats, Floats]:
    """Initial values and times as arrays; an error that says what to do where they cannot be used."""
    x0 = np.ascontiguousarray(x0, dtype=np.float64)
    t = np.ascontiguousarray(t, dtype=np.float64)
    if x0.ndim != 1 or t.ndim != 1:
        raise DataError(
            f"initial values and times must be lists of numbers, got the shapes {x0.shape} and {t.shape}"
        )
    n_signals = signals.before.shape[1]
    if signals.doses.shape[1] not in (0, len(x0)):
        raise DataError(f"doses for {signals.doses.shape[1]} states were given; the system has {len(x0)}")
    if _is_fine(program.ops, program.values, x0, t, n_signals):
        return x0, t
    if not np.isfinite(x0).all():
        raise DataError("the initial values contain NaN or infinity; give a finite number for each variable")
    if len(t) == 0:
        raise DataError("there are no times; give at least the time of the initial values")
    if not np.isfinite(t).all():
        raise DataError("the times contain NaN or infinity; remove these points")
    if not (np.diff(t) > 0).all():
        raise DataError("the times must increase strictly; sort them and remove repeated ones")
    check_system(program, len(x0), len(x0) + n_signals)
    raise DataError("the program is not complete; make it with make_program")


def _check_signals(signals: Signals | None) -> Signals:
    """Signals that the integrator can read, or an error that says what is wrong with them."""
    if signals is None:
        return NO_SIGNALS
    driven = Signals(*(np.ascontiguousarray(part, dtype=np.float64) for part in signals))
    n_knots = len(driven.knots)
    if any(part.ndim != 2 or len(part) != n_knots for part in driven[1:]) or driven.knots.ndim != 1:
        raise DataError("signals need one row of values for each of their knots, before and after it")
    if driven.before.shape != driven.after.shape or (n_knots == 0 and driven.before.shape[1]):
        raise DataError("signals need at least one knot, and as many values before as after it")
    if not all(np.isfinite(part).all() for part in driven):
        raise DataError("the signals contain NaN or infinity; give finite values at every knot")
    if not (np.diff(driven.knots) > 0).all():
        raise DataError("the knots of signals must increase strictly; sort them and remove repeated ones")
    return driven


def _check_settings(rtol: float, atol: float, max_steps: int, bound: float) -> None:
    if not (0 <= rtol < 1 and 0 < atol < np.inf):
        raise SettingsError(f"rtol must be in [0, 1) and atol positive, got {rtol} and {atol}")
    if max_steps < 1 or not bound > 0:
        raise SettingsError(f"max_steps and bound must be positive, got {max_steps} and {bound}")
