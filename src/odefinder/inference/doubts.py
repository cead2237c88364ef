"""What is odd about data or about what a fit leaves: sensors that stick, switches, random walks, residuals.

No law can be found behind a broken sensor or a random walk, and a fit alone does not show it: flexible
formulas follow anything.  These checks look at each variable by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from odefinder.data.dataset import Dataset
from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.residuals import Check, checks, residuals_of
from odefinder.inference.remarks import Explanation

LEAST_RUN, RUN_SHARE = 6, 0.05  # values in a row, at least, and as a share of all, that are exactly the same
REPEATED = 0.03  # share of other neighbours that are equal: with more, the values are rounded
SUDDEN = 3.0  # times the usual step: equal values between larger steps than this are not a state of rest
LEAPS, JUMP, LEVEL = 3, 0.3, 0.06  # a switch: leaps, their least size and other steps, relative to the range
MOST_LEAPS = 0.2  # share of the steps that are leaps
MIN_WALK, LAGS, CHANCE = 40, 8, 0.1  # points of a random walk, lags of its steps, and significance
BLOCKS = 4  # parts of a random walk whose steps are equally large
LAWLESS_WEIGHT = 0.1  # the largest weight of a system behind data in which there is no law to be found
LITTLE = 1e-4  # mean squared residual, relative to the variance: what is left is not worth a note


@dataclass(frozen=True)
class Doubt:
    """Something odd about a variable."""

    sentence: str
    lawless: bool  # whether there is no law to be found


def data_doubts(dataset: Dataset) -> list[Doubt]:
    """What is wrong with the data themselves, at most one for each variable."""
    found = []
    at_rest = bool(dataset.known or dataset.doses)  # a system may wait for what drives it
    for d, name in enumerate(dataset.variables):
        if dataset.roles[d] == Role.OBSERVED:
            columns = [states[np.isfinite(states[:, d]), d] for states in dataset.states]
            doubt = _switched(name, columns) or _stuck(name, columns, at_rest) or _walk(name, columns)
            found += [doubt] if doubt else []
    return found


def doubted(
    explanations: Sequence[Explanation], dataset: Dataset, doubts: Sequence[Doubt]
) -> list[Explanation]:
    """The same systems with small weights if no variable looks like that of a system with a law."""
    first = explanations[0].weight
    if sum(doubt.lawless for doubt in doubts) < len(dataset.observed) or first <= LAWLESS_WEIGHT:
        return list(explanations)
    return [replace(one, weight=one.weight * LAWLESS_WEIGHT / first) for one in explanations]


def fit_notes(best: Explanation, data: Observations) -> list[str]:
    """Sentences about what the chosen system leaves of the data, in the user's units."""
    left = residuals_of(Fit(best.system.program, best.starts, 0.0), data)
    seen = left[np.isfinite(left)]
    error = float(np.mean(seen**2)) if len(seen) else 0.0
    return residual_notes(best.system.variables, checks(left, data), error)


def _stuck(name: str, columns: Sequence[Floats], at_rest: bool) -> Doubt | None:
    """Exactly the same value many times in a row, but no rest at the end."""
    for values in columns:
        steps = np.abs(np.diff(values))
        runs = [run for run in _runs(steps == 0.0) if run[1] - run[0] + 1 >= LEAST_RUN]
        equal = sum(last - first for first, last in runs)
        others = len(steps) - equal
        if not runs or equal < RUN_SHARE * len(steps) or others < LEAST_RUN:
            continue
        levels = [values[first] for first, _ in runs]
        repeated = np.count_nonzero((steps == 0.0) & ~np.isin(values[1:], levels))
        if repeated > REPEATED * others:  # rounded values are often equal
            continue
        sudden = SUDDEN * float(np.median(steps[steps > 0.0]))
        ends = [steps[k] for first, last in runs for k in (first - 1, last) if 0 <= k < len(steps)]
        again = any(last < len(steps) for _, last in runs)  # no smooth system rests and moves again by itself
        if not ((again and not at_rest) or max(ends) > sudden or _back_and_forth(values)):
            continue
        first, last = max(runs, key=lambda run: run[1] - run[0])
        level = float(values[first])
        extreme = {float(values.max()): "largest", float(values.min()): "smallest"}.get(level)
        what = f"{last - first + 1} values in a row are exactly {level:.4g}"
        advice = "no law explains these values; leave them out (NaN)."
        if extreme and len(runs) > 1:
            return Doubt(f"{name} seems to be cut off: {what}, its {extreme} value; {advice}", False)
        return Doubt(f"{name} seems to be stuck: {what}; {advice}", False)
    return None


def _switched(name: str, columns: Sequence[Floats]) -> Doubt | None:
    """Levels with sudden leaps between them."""
    values = max(columns, key=len)
    if len(values) < 2 * LEAST_RUN:
        return None
    steps, size = np.abs(np.diff(values)), float(np.ptp(values))
    leaps = steps > JUMP * size
    if not LEAPS <= np.count_nonzero(leaps) <= MOST_LEAPS * len(steps):
        return None
    parts = np.split(values, np.flatnonzero(leaps) + 1)
    flat = [abs(part[-1] - part[0]) < 3.0 * LEVEL * size for part in parts if len(part) > 1]
    if np.quantile(steps[~leaps], 0.95) > 2.0 * LEVEL * size or not flat or np.mean(flat) < 0.9:
        return None
    return Doubt(
        f"{name} jumps between levels and rests in between: it looks like a switch, not like the state of a "
        "smooth system. If it is known, give it as an input (inputs=, --input).",
        True,
    )


def _walk(name: str, columns: Sequence[Floats]) -> Doubt | None:
    """Steps that know nothing of each other, and are as large in the beginning as in the end."""
    steps = [np.diff(values) for values in columns if len(values) > MIN_WALK]
    if not steps:
        return None
    count = sum(map(len, steps))
    square = sum(float(own @ own) for own in steps)
    if not square > 0.0 or len({float(step) for own in steps for step in own}) < 0.5 * count:
        return None  # it does not move, or is rounded
    lags = [sum(float(own[k:] @ own[:-k]) for own in steps) / square for k in range(1, LAGS + 1)]
    statistic = count * sum(lag**2 for lag in lags)
    if statistic > chdtri(LAGS, CHANCE):
        return None
    longest = max(steps, key=len)
    sizes = [float(np.std(part)) for part in np.array_split(longest, BLOCKS)]
    if max(sizes) > 2.5 * min(sizes):  # a transient that ends
        return None
    return Doubt(
        f"The steps of {name} from one time to the next are independent of each other, as those of a random "
        "walk: then there is no law to be found, or the times are too far apart to see it.",
        True,
    )


def residual_notes(names: Sequence[str], found: Sequence[Check | None], error: float) -> list[str]:
    """Sentences about what the chosen system leaves; error: its mean squared scaled residual."""
    if not error > LITTLE:
        return []
    notes = []
    alike = [(name, one) for name, one in zip(names, found, strict=True) if one and one.correlated]
    if alike:
        listed = ", ".join(f"{name} ({one.correlation:.2f})" for name, one in alike)
        notes.append(
            f"What the chosen system leaves is more than noise: neighbouring residuals are alike, {listed}. "
            "The law misses something, or the errors of neighbouring values are not independent."
        )
    drifting = [name for name, one in zip(names, found, strict=True) if one and one.drifts]
    if drifting:
        notes.append(f"The residuals of {', '.join(drifting)} drift: perhaps the sensor or the system does.")
    far = [(name, one.outliers) for name, one in zip(names, found, strict=True) if one and one.outliers]
    if far:
        listed = ", ".join(f"{count} of {name}" for name, count in far)
        notes.append(f"Some values are far from the fitted trajectory: {listed}.")
    return notes


def _runs(equal: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last step of each stretch of equal values; as values, first to last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], equal.astype(np.int8), [0]])))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _back_and_forth(values: Floats) -> bool:
    """Whether values scatter: steps change their sign most of the time."""
    steps = np.diff(values)
    moving = steps[steps != 0.0]
    return len(moving) > LEAST_RUN and float(np.mean(moving[1:] * moving[:-1] < 0.0)) > 0.4
