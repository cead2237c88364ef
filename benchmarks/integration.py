"""Speed of the integrator on ODEBench, at equal measured accuracy, and the cost of its sensitivities.

    python benchmarks/integration.py            about two minutes
    python benchmarks/integration.py --quick    every fourth system

Each of the 63 systems is integrated from both initial values to t = 10, 150 points, by our `integrate` and by
SciPy's `solve_ivp` with RK45 and with LSODA (right-hand side: NumPy code from `sympy.lambdify`, as a user of
SciPy would write it).  Each method runs at tolerances from 1e-2 downwards; its error is the largest deviation
from a reference (DOP853 at rtol = 1e-13), relative to the range of the variable.  The time at an error of
1e-3 or 1e-6 is interpolated between the tolerances on either side, logarithmically.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import sympy
from numba import njit
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from odefinder.bench import BenchSystem, odebench
from odefinder.expressions.program import ADD, CONST, MUL, VAR, Program, concatenate
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import (
    Status,
    Tolerance,
    Wanted,
    integrate,
    sensitivity_workspace,
    solve,
    solve_driven,
    solve_with_sensitivities,
    workspace,
)
from odefinder.numerics.signals import Signals, linear

TIMES = np.linspace(0.0, 10.0, 150)
TARGETS = (1e-3, 1e-6)
TOLERANCES = 10.0 ** -np.arange(2.0, 13.0)
REPEATS = 3
Derivative = Callable[[float, NDArray], NDArray]


@dataclass(frozen=True)
class Case:
    """One system and one of its initial values."""

    entry: BenchSystem
    program: Program
    x0: NDArray
    derivative: Derivative
    reference: NDArray  # (150, D)

    def error(self, x: NDArray) -> float:
        """The largest deviation relative to the variable's range; infinite if rows are missing."""
        if x.shape != self.reference.shape or not np.isfinite(x).all():
            return np.inf
        return float((np.abs(x - self.reference) / np.ptp(self.reference, axis=0)).max())


def lambdified(entry: BenchSystem, modules: str) -> Derivative:
    """The right-hand side by SymPy, from the published text."""
    names = list(entry.variables)
    symbols = sympy.symbols(names)
    known = dict(zip(names, symbols, strict=True))
    known |= {name: sympy.Float(value) for name, value in entry.parameters.items()}
    expressions = [sympy.sympify(text, locals=known) for text in entry.equations]
    function = sympy.lambdify([symbols], expressions, modules=modules, cse=True)
    if modules == "math":
        return lambda _, x: function(x.tolist())
    return lambda _, x: function(x)


def make_cases(every: int) -> list[Case]:
    cases = []
    for entry in odebench()[::every]:
        derivative, quick = lambdified(entry, "numpy"), lambdified(entry, "math")
        for x0 in entry.initial_values:
            tight = solve_ivp(quick, (0.0, 10.0), x0, method="DOP853", t_eval=TIMES, rtol=1e-13, atol=1e-15)
            cases.append(Case(entry, entry.system().program, np.array(x0), derivative, tight.y.T))
    return cases


def best_time(function: Callable[[], object]) -> float:
    """Seconds for one call: the best of some repeats, each long enough for the clock."""
    begin = time.perf_counter()
    function()
    once = time.perf_counter() - begin
    number = max(1, int(5e-4 / once))
    best = once
    for _ in range(REPEATS - 1 if once > 0.01 else 3 * REPEATS):
        begin = time.perf_counter()
        for _ in range(number):
            function()
        best = min(best, (time.perf_counter() - begin) / number)
    return best


def ours(case: Case, tolerance: float) -> NDArray:
    x, status = integrate(case.program, case.x0, TIMES, rtol=tolerance, atol=0.01 * tolerance)
    return x if status == Status.OK else x[:0]


def scipys(method: str) -> Callable[[Case, float], NDArray]:
    def run(case: Case, tolerance: float) -> NDArray:
        result = solve_ivp(
            case.derivative,
            (0.0, 10.0),
            case.x0,
            method=method,
            t_eval=TIMES,
            rtol=tolerance,
            atol=0.01 * tolerance,
        )
        return np.asarray(result.y.T)

    return run


def times_at_targets(run: Callable[[Case, float], NDArray], case: Case) -> list[float]:
    """Seconds that this method needs for each target error; NaN if it does not get there."""
    errors, seconds = [], []
    for tolerance in TOLERANCES:
        errors.append(case.error(run(case, tolerance)))
        seconds.append(best_time(lambda tolerance=tolerance: run(case, tolerance)))  # type: ignore[misc]
        if errors[-1] < min(TARGETS):
            break
    result = []
    for target in TARGETS:
        reached = [i for i, error in enumerate(errors) if error <= target]
        if not reached:
            result.append(np.nan)
            continue
        i = reached[0]
        if i == 0 or not np.isfinite(errors[i - 1]):
            result.append(seconds[i])
        else:
            share = np.log(errors[i - 1] / target) / np.log(errors[i - 1] / max(errors[i], 1e-16))
            result.append(float(np.exp(np.interp(share, [0.0, 1.0], np.log([seconds[i - 1], seconds[i]])))))
    return result


@njit
def repeat_plain(count: int, ops: NDArray, values: NDArray, x0: NDArray, t: NDArray, out: NDArray) -> None:
    work = workspace(len(ops), len(x0))
    for _ in range(count):
        solve(ops, values, len(ops), x0, t, Tolerance(1e-8, 1e-10, 100_000, 1e12), work, out)


@njit
def repeat_sensitivities(
    count: int, ops: NDArray, values: NDArray, x0: NDArray, t: NDArray, out: NDArray, out_s: NDArray
) -> None:
    work = sensitivity_workspace(len(ops), len(x0), out_s.shape[2])
    for _ in range(count):
        solve_with_sensitivities(
            ops, values, len(ops), x0, t, work.no_signals, Tolerance(1e-8, 1e-10, 100_000, 1e12),
            Wanted(True, False), work, out, out_s,
        )  # fmt: skip


@njit
def repeat_driven(
    count: int, ops: NDArray, values: NDArray, x0: NDArray, t: NDArray, signals: Signals, out: NDArray
) -> None:
    work = workspace(len(ops), len(x0) + 1)
    for _ in range(count):
        solve_driven(ops, values, len(ops), x0, t, signals, Tolerance(1e-8, 1e-10, 100_000, 1e12), work, out)


def driven_ratio(case: Case) -> float:
    """How much longer an integration takes with a piecewise-linear signal of 150 knots in its first equation.

    The signal is small, so that the trajectory stays what it is.
    """
    term = Program(np.array([ADD, MUL, CONST, VAR], np.int8), np.array([0.0, 0.0, 1e-3, len(case.x0)]))
    driven = concatenate([term, case.program])  # the first equation becomes 0.001 u + what it was
    signals = linear(TIMES, np.sin(TIMES)[:, None])
    out, count = np.empty((len(TIMES), len(case.x0))), 20
    plain = best_time(lambda: repeat_plain(count, case.program.ops, case.program.values, case.x0, TIMES, out))
    return (
        best_time(lambda: repeat_driven(count, driven.ops, driven.values, case.x0, TIMES, signals, out))
        / plain
    )


def compiled_times(case: Case) -> tuple[float, float, float]:
    """Seconds of one right-hand side, one integration and one with sensitivities, in compiled code."""
    program, x0, count = case.program, case.x0, 20
    points = np.tile(x0, (20_000, 1))
    one = best_time(lambda: evaluate(program, points)) / len(points)
    out = np.empty((len(TIMES), len(x0)))
    out_s = np.empty((len(TIMES), len(x0), len(program.constants)))
    plain = best_time(lambda: repeat_plain(count, program.ops, program.values, x0, TIMES, out)) / count
    with_sensitivities = (
        best_time(lambda: repeat_sensitivities(count, program.ops, program.values, x0, TIMES, out, out_s))
        / count
    )
    return one, plain, with_sensitivities


def print_ratios(name: str, ratios: NDArray, n_cases: int) -> None:
    known = ratios[np.isfinite(ratios)]
    low, median, high = np.percentile(known, [25, 50, 75])
    skipped = n_cases - len(known)
    print(f"  {name:32} median {median:6.0f} x   quartiles {low:.0f} to {high:.0f}   skipped {skipped}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="every fourth system only")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")  # LSODA and coarse tolerances are talkative

    cases = make_cases(4 if arguments.quick else 1)
    for case in cases[:1]:  # compile before the clock runs
        ours(case, 1e-3)
        compiled_times(case)
    compiled = np.array([compiled_times(case) for case in cases])
    table = {
        name: np.array([times_at_targets(run, case) for case in cases])
        for name, run in (("ours", ours), ("RK45", scipys("RK45")), ("LSODA", scipys("LSODA")))
    }

    n_nodes = np.median([len(case.program) for case in cases])
    print(f"{len(cases)} trajectories of ODEBench, t = 0 to 10, 150 points, one thread")
    print(f"one right-hand side: median {1e9 * np.median(compiled[:, 0]):.0f} ns ({n_nodes:.0f} nodes)")
    print(f"one integration at rtol = 1e-8: median {1e6 * np.median(compiled[:, 1]):.1f} microseconds")
    print("\ntime of SciPy / time of ours, at equal measured error")
    for i, target in enumerate(TARGETS):
        milliseconds = {name: 1e3 * np.nanmedian(times[:, i]) for name, times in table.items()}
        print(f"error {target:g}: " + ", ".join(f"{name} {ms:.3f} ms" for name, ms in milliseconds.items()))
        for name in ("RK45", "LSODA"):
            print_ratios(name, table[name][:, i] / table["ours"][:, i], len(cases))

    ratio = compiled[:, 2] / compiled[:, 1]
    limit = np.array([1.0 + len(case.program.constants) for case in cases])
    print("\ntime with sensitivities to all constants / time without, and whether it is below 1 + constants")
    for count in sorted(set(limit)):
        rows = limit == count
        print(
            f"  {count - 1:2.0f} constants, {rows.sum():3d} cases: median {np.median(ratio[rows]):.2f}, "
            f"largest {ratio[rows].max():.2f}, below {100 * (ratio < limit)[rows].mean():.0f} %"
        )
    print(f"  all: median {np.median(ratio):.2f}, below {100 * (ratio < limit).mean():.1f} %")

    driven = np.array([driven_ratio(case) for case in cases])
    low, median, high = np.percentile(driven, [5, 50, 95])
    print("\ntime with a piecewise-linear input of 150 knots / time without")
    print(f"  median {median:.2f}, 5 to 95 %: {low:.2f} to {high:.2f}, largest {driven.max():.2f}")


if __name__ == "__main__":
    main()
