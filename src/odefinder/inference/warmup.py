"""The compiled functions that a fit calls, made ready before its clock starts.

Each is called once on tiny data.  From the cache that takes milliseconds; the first time on a machine it
compiles them, in two processes that take about equally long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from odefinder.compiling.ready import Group, compile_missing
from odefinder.data.observations import Observations
from odefinder.data.units import change_units, fit_scaling, largest_magnitudes
from odefinder.expressions.canonical import canonical, canonicalise
from odefinder.expressions.parse import parse
from odefinder.expressions.program import concatenate
from odefinder.inference.fit import integral, refine, segments, shooting, smoothing, splines
from odefinder.inference.fit.states import SMOOTHING_ORDER, estimate_states
from odefinder.inference.fit.trajectories import fit_trajectories
from odefinder.inference.propose import library, subsets
from odefinder.language.number_words import NUMBER_SCHEMES, split_number
from odefinder.language.outlines import outline
from odefinder.language.tokens import Vocabulary, encode_program
from odefinder.numerics import evaluate, integrate

SYSTEM = concatenate([parse(text, ("x", "y")) for text in ("-0.1*x", "0.2 - 0.1*x*y")])
TIMES = np.linspace(1.0, 2.0, 12)
_lock = threading.RLock()
_done = set[str]()


def compile_first(report: Callable[[str], None] = lambda text: None) -> None:
    """Compile what was never compiled on this machine; nothing in all later processes."""
    with _lock:
        if "compiled" not in _done:
            compile_missing(GROUPS, report)
            _done.add("compiled")


def prepare(report: Callable[[str], None] = lambda text: None) -> None:
    """Make ready what a fit calls, once in a process, so that its time budget is not spent on this."""
    with _lock:
        compile_first(report)
        if "called" not in _done:
            for group in GROUPS:
                group.call()
            _done.add("called")


def prepare_windows(report: Callable[[str], None] = lambda text: None) -> None:
    """Make ready what only fits of long records call."""
    with _lock:
        if "windows" not in _done:
            compile_missing([WINDOWS], report)
            WINDOWS.call()
            _done.add("windows")


def trajectories() -> None:
    """Call what smooths data, solves equations and fits constants to trajectories."""
    states, _ = integrate.integrate(SYSTEM, [1.0, 0.5], TIMES)
    evaluate.evaluate(SYSTEM, states)
    evaluate.evaluate_gradients(SYSTEM, states)
    evaluate.eval_system(
        SYSTEM.ops, SYSTEM.values, len(SYSTEM), states[0], np.empty(len(SYSTEM)), np.empty(2)
    )
    data = Observations.joined([TIMES], [states])
    refine.fit_constants(SYSTEM, data, iterations=1)
    smoothing.likeliest_levels(TIMES, TIMES, TIMES[0] == TIMES, SMOOTHING_ORDER)
    smoothing.smoothed(TIMES, TIMES, 0.1, SMOOTHING_ORDER, 1.0)


def formulas() -> None:
    """Call what rewrites, rescales and spells formulas, and fits equations in integral form."""
    pair = np.stack([TIMES, np.exp(-TIMES)], axis=1)
    fit_scaling([TIMES], [pair]).to_scaled(canonical(SYSTEM))
    words = Vocabulary.preset("coarse")
    ids = words.encode(SYSTEM).astype(np.int16)
    outline(ids, np.arange(1), words.one, words.layout, np.empty(len(ids) + 2, np.int16))
    NUMBER_SCHEMES["coarse"].split(1.5)
    data = Observations.joined([TIMES], [pair])
    estimate = estimate_states(data, smoothed=False)
    library.feature_integrals(list(library.monomials(2, 1)), estimate)
    integral.match_component(SYSTEM.components()[0], 0, data, estimate, iterations=1)
    subsets.square_sum(pair.T.copy(), TIMES, [0])
    list(subsets.grow(pair.T.copy(), TIMES, 2))


def windows() -> None:
    """Call what fits long records over windows and finds chaos in systems."""
    states, _, _ = integrate.integrate_with_sensitivities(SYSTEM, [1.0, 0.5], TIMES, initial=True)
    evaluate.evaluate_gradients(SYSTEM, states)
    data = Observations.joined([TIMES], [states])
    cuts = shooting.cut(data, 6)
    unknown = np.where(np.arange(2) == 1, np.nan, states)  # so that states are carried along, too
    shots = shooting.fit_shots(SYSTEM, data, unknown, cuts, iterations=1)
    shooting.outlook(SYSTEM, data, shots.nodes, cuts, 1.0)


GROUPS = (
    Group(
        trajectories,
        (
            fit_trajectories,
            integrate._integrate,
            integrate._is_fine,
            evaluate._evaluate,
            evaluate.eval_gradients,
            evaluate.eval_system,  # of stiff systems
            smoothing.likeliest_levels,
            smoothing.smoothed,
        ),
    ),
    Group(
        formulas,
        (
            canonicalise,
            change_units,
            largest_magnitudes,
            splines.evaluate_spline,
            splines.spline_coefficients,
            encode_program,
            outline,
            split_number,
            library._feature_integrals,
            integral.fit_integral,
            subsets.leftover,
            subsets.selection,
        ),
    ),
)
WINDOWS = Group(
    windows,
    (
        segments.carry_states,
        segments.eliminate,
        segments.expand_segments,
        segments.solve_step,
        integrate._integrate_with_sensitivities,
        evaluate.eval_gradients,
    ),
)
