"""What a fit tells in the end: systems in the user's units, best first, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.observations import Observations
from odefinder.data.units import Scaling
from odefinder.errors import NoSystemError
from odefinder.inference.choose.candidates import Candidate
from odefinder.inference.choose.search import Search
from odefinder.inference.choose.windowed import WindowedSearch
from odefinder.inference.claims import all_starts, as_fitted, predictions, simulated, still
from odefinder.inference.conserved import conserved_notes
from odefinder.inference.doubts import data_doubts, doubted, fit_notes
from odefinder.inference.explanations import explanations, of_all
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.known_parts import with_varied
from odefinder.inference.long_records import chaos_notes, windowed_explanations
from odefinder.inference.prepared import Prepared
from odefinder.inference.propose.unseen import hidden_states
from odefinder.inference.remarks import Explanation, out_of_time, remarks, taken_for_constants
from odefinder.inference.settings import FindSettings
from odefinder.inference.unmeasured import hidden_notes, known_notes, turning_notes
from odefinder.inference.varying import varying_explanation, varying_note
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import CLAIMING, VARYING, Deadline
from odefinder.numerics.r2 import variance_weighted_r2


@dataclass(frozen=True)
class Outcome:
    """What a fit found, best first."""

    explanations: list[Explanation]
    noise: Floats  # (D,): standard deviation of the observations' errors
    notes: list[str]  # sentences for the user
    early: bool = False  # whether time or Ctrl-C ended the search
    prepared: Prepared | None = None  # large data as they were fitted; others are quickly prepared again


def outcome_of(
    search: Search, judged: Sequence[Candidate], ready: Prepared, whole: Dataset, how: FindSettings,
    early: bool, period: float | None,
) -> Outcome:  # fmt: skip
    """What a search found.  ready: the data that were fitted; whole: all of them.

    early: whether something ended the search before its time.  period: of a long record, in canonical units.
    """
    dataset, scaling = ready.dataset, ready.scaling
    original = as_fitted(dataset, search.data, scaling)
    found = explanations(search, judged, dataset, scaling, original, how, early)
    if not found:
        raise NoSystemError(_why_nothing(search.deadline, how))
    notes = list[str]()
    if how.knowledge is not None:
        notes += taken_for_constants(how.knowledge.assumed, how.knowledge.names)
    if how.knowledge is None and not hidden_states(search.data):
        found, notes = _with_varying(found, judged, search, dataset, scaling, original)
    doubts = data_doubts(dataset)
    found = doubted(found, dataset, doubts)
    notes += [doubt.sentence for doubt in doubts]
    best = found[0]
    original = with_varied(original, best.constants, best.system.inputs)
    if ready.outliers and (seen := predictions(best.system, best.starts, original, scaling)) is not None:
        best = replace(best, r2=variance_weighted_r2(original.states, seen))
    noise = scaling.original_states(search.estimate.noise)
    notes += remarks([best, *found[1:]], original, noise, early, search.exact())
    notes += turning_notes(dataset, noise)
    if how.knowledge is None or not how.knowledge.sums:
        notes += conserved_notes(dataset)
    notes += fit_notes(best, original) if not early and not alarm_rings() else []
    notes += _notes_on_constants(best, search, original, how) if not alarm_rings() else []
    if period is not None and not alarm_rings():
        notes += chaos_notes(best, original, period / scaling.rate)
    if whole is not dataset:
        found = of_all(found, whole, ready.chosen, scaling)
    return Outcome(found, noise, notes, early)


def outcome_of_windows(
    windows: WindowedSearch, ready: Prepared, whole: Dataset, how: FindSettings, deadline: Deadline
) -> Outcome:
    """What a search over windows found.  ready: the data that were fitted; whole: all of them.

    deadline: of the whole fit.  What counts as early is the end of this search, not that of a plain one.
    """
    dataset, scaling = ready.dataset, ready.scaling
    early = windows.deadline.over
    with deadline.within(*CLAIMING):
        found = windowed_explanations(windows, dataset, scaling, early)
        found = [replace(one, starts=all_starts(one.starts, whole, ready.chosen)) for one in found]
        found = simulated(found, whole, scaling) or [still(whole)]
        original = as_fitted(dataset, windows.data, scaling)
        noise = scaling.original_states(windows.estimate.noise)
        best = replace(found[0], starts=found[0].starts[ready.chosen])  # those of the data that were fitted
        notes = [out_of_time(how.time_budget)] * early
        notes += remarks([best, *found[1:]], original, noise, early)
        notes += chaos_notes(best, original, windows.period / scaling.rate, windowed=True)
    return Outcome(found, noise, notes, early)


def _with_varying(
    found: list[Explanation], judged: Sequence[Candidate], search: Search, dataset: Dataset, scaling: Scaling,
    original: Observations,
) -> tuple[list[Explanation], list[str]]:  # fmt: skip
    """The systems, one whose constants differ between trajectories first if it is better, and a note."""
    if search.deadline.stopped or alarm_rings():
        return found, []
    share = search.deadline.within(*VARYING)
    varied = varying_explanation(judged, search, dataset, scaling, original, share)
    if varied is None:
        return found, []
    rest = [replace(one, weight=min(one.weight, varied.weight)) for one in found]
    return [varied, *rest], [varying_note(varied)]


def _notes_on_constants(
    best: Explanation, search: Search, original: Observations, how: FindSettings
) -> list[str]:
    """What to say about hidden states, and about constants that the data do not determine."""
    free = search.estimate.smoothed
    if how.knowledge is not None:
        return known_notes(best, original, how.knowledge, free)
    if not hidden_states(search.data):
        return []
    error = fit_constants(best.system.program, original, starts=best.starts, iterations=0).error
    return hidden_notes(best, error, original, free)


def _why_nothing(deadline: Deadline, how: FindSettings) -> str:
    if deadline.over:
        return (
            f"no system was found within the time budget of {how.time_budget:g} s; give more time "
            "(time_budget, --budget), fewer variables or fewer points"
        )
    if not how.network and not how.sparse and not how.guesses:
        return "network and sparse are both off and there is no guess; turn one of them on"
    if how.operators is not None:
        return (
            "no system that has only the allowed operators "
            f"({', '.join(sorted(how.operators))}) could be fitted; allow more of them"
        )
    return (
        "no system could be fitted to these data; check the units, remove outliers, or give a guess of the "
        "equations (guess)"
    )
