"""Long records: when windows are searched, what they give, and what to say about chaos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.observations import Observations
from odefinder.data.units import Scaling
from odefinder.errors import DataError, ExpressionError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, VAR, Program
from odefinder.inference.choose.search import Search
from odefinder.inference.choose.windowed import WindowedSearch
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.window_rounding import round_windows
from odefinder.inference.remarks import BAD_R2, Explanation
from odefinder.limits.deadline import Deadline
from odefinder.numerics.chaos.divergence import Divergence, divergence_of_neighbours
from odefinder.numerics.chaos.lyapunov import lyapunov_spectrum
from odefinder.system import ODESystem

CHAOS_NEEDS = 3  # variables: with fewer, windows are only searched where the plain search fails
WINDOWS_SHARE = 0.6  # of the time budget that windows may take before the plain search
RESERVED = 0.3  # of the time budget, for windows after a plain search of data that look chaotic
ROUNDED = 3  # systems of a result whose constants are rounded
CLEARLY = 2.0  # factor by which a windowed fit must leave less than a plain one
JOINING = 8  # systems of the plain search that are fitted over windows
LYAPUNOV_SECONDS, TRUSTED_PERIODS = 1.5, 100.0
OVER_WINDOWS = (
    "No one can follow chaotic motion for long: R2 is that of one simulation from the start, R2 over windows "
    "that of simulations over half a period each."
)


def search_windows(search: WindowedSearch, deadline: Deadline, guesses: Sequence[Form]) -> bool:
    """Look for polynomial systems over windows; whether the best is chaotic and explains the data."""
    search.deadline = deadline
    search.fit_programs([form.program for form in guesses], "guess")
    search.run_polynomials()
    return search.convincing and search.spectrum.chaotic


def convincing_systems(search: WindowedSearch) -> list[Form]:
    """The best systems over windows, for the plain search, where the best explains the data."""
    if not search.convincing:
        return []
    return [Form.of(found.fit.program) for found in search.ranked()[:JOINING]]


def time_for_windows(data: Observations, deadline: Deadline) -> Deadline:
    """The deadline of a plain search: where the data look chaotic, windows have some time after it."""
    return deadline.within(1.0 - RESERVED) if not deadline.over and looks_chaotic(data) else deadline


def looks_chaotic(data: Observations) -> bool:
    """Whether neighbouring pieces of the data part as in chaotic motion."""
    found = _divergence(data)
    return found is not None and found.chaotic


def _divergence(data: Observations) -> Divergence | None:
    """How fast neighbouring pieces of the data part; None where there are too few to say."""
    times, states = zip(*data.trajectories(), strict=True)
    try:
        return divergence_of_neighbours(times, states)
    except DataError:
        return None


def defeats(windows: WindowedSearch, plain: Search, deadline: Deadline) -> bool:
    """Whether windows explain what the plain search does not; its systems are fitted over windows, too."""
    ranked = plain.ranked()
    left = ranked[0].fit.error if ranked else np.inf
    if windows.convinces(left):
        return False
    windows.deadline = deadline
    if not windows.found:
        windows.run_polynomials()
    windows.fit_programs([found.fit.program for found in ranked[:JOINING]], "search")
    best = windows.ranked()
    return windows.convincing and left > CLEARLY * (best[0].fit.error + FLOOR)


def windowed_explanations(
    windows: WindowedSearch, dataset: Dataset, scaling: Scaling, early: bool
) -> list[Explanation]:
    """The systems that were found over windows, in the user's units; nothing is claimed of them yet."""
    found = windows.rescored()
    if not found:
        return []
    rtol = 1e-6 if windows.estimate.smoothed else 1e-9
    result = []
    for place, (one, weight) in enumerate(zip(found, windows.weights(found, early), strict=True)):
        try:
            if place < ROUNDED:
                program = round_windows(
                    one.fit, windows.nodes_of(one), windows.data, windows.windows, scaling, rtol=rtol,
                    enough=lambda: windows.deadline.over,
                )  # fmt: skip
            else:
                program = scaling.to_original(one.fit.program)
            system = ODESystem(canonical(program), dataset.variables, dataset.known)
        except ExpressionError:  # constants that no number can hold in the user's units
            continue
        starts = scaling.original_states(one.fit.starts)
        explained = windows.r2(one, scaling.factors[: scaling.dimension])
        result.append(
            Explanation(
                system, starts, -np.inf, one.criterion, float(weight), one.source, r2_windows=explained
            )
        )
    return result


def chaos_notes(best: Explanation, data: Observations, period: float, windowed: bool = False) -> list[str]:
    """What to say about chaos in the model or, where no model fits, in the data; all in the user's units.

    windowed: whether the system was found over windows.
    """
    if best.system.dimension < CHAOS_NEEDS and best.r2 >= BAD_R2:
        return []
    if not windowed and not best.r2 >= BAD_R2:
        found = _divergence(data)
        return [_sentence(str(found))] if found is not None and found.chaotic else []
    spectrum = lyapunov_spectrum(
        _in_first_trajectory(best), best.starts[0], period, periods=TRUSTED_PERIODS, seconds=LYAPUNOV_SECONDS
    )
    if not spectrum.chaotic:
        return []
    return [_sentence(str(spectrum)), *([OVER_WINDOWS] if windowed else [])]


def _in_first_trajectory(best: Explanation) -> Program:
    """The system of the first trajectory: constants that differ between trajectories become numbers."""
    ops, values = best.system.program.ops.copy(), best.system.program.values.copy()
    for variable, name in enumerate(best.system.inputs, start=best.system.dimension):
        here = (ops == VAR) & (values == variable)
        ops[here], values[here] = CONST, np.ravel(best.constants[name])[0]
    return Program(ops, values)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
