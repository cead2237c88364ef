"""From a dataset to ranked systems: decode, estimate states, search, back to the user's units.

This is the main path of a fit; `ODEFormer` is the face that it shows to users.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.observations import Observations
from odefinder.data.thinning import points_for, thinned
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.hidden import HiddenSearch
from odefinder.inference.choose.hidden_known import KnownHiddenSearch
from odefinder.inference.choose.search import Search, SearchSettings
from odefinder.inference.choose.windowed import WindowedSearch
from odefinder.inference.fit.known_starts import with_starts
from odefinder.inference.fit.refine import Fit
from odefinder.inference.fit.windows import long_period
from odefinder.inference.known_parts import Named, found_in, named_system, with_given
from odefinder.inference.long_records import (
    CHAOS_NEEDS,
    WINDOWS_SHARE,
    convincing_systems,
    defeats,
    search_windows,
    time_for_windows,
)
from odefinder.inference.outcome import Outcome, outcome_of, outcome_of_windows
from odefinder.inference.prepared import LARGE, Prepared, estimated
from odefinder.inference.proposals import log_prior_of, outlines_of, proposals_of, reading_of, runtime_of
from odefinder.inference.propose.decode import Proposal, Reading, distinct
from odefinder.inference.propose.unseen import hidden_states
from odefinder.inference.remarks import INTERRUPTED, out_of_time, outliers_left_out
from odefinder.inference.settings import FindSettings
from odefinder.inference.still import without_still
from odefinder.inference.warmup import compile_first, prepare, prepare_windows
from odefinder.limits.deadline import (
    CLAIMING,
    ESTIMATING,
    FIRST_FITS,
    JUDGING,
    POLYNOMIALS,
    READING,
    Deadline,
)
from odefinder.limits.interrupt import Interrupt
from odefinder.limits.processors import linear_algebra
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.runtime import Runtime
from odefinder.system import ODESystem

PREPARING = "preparing"
DECODING, SEARCHING = "the network proposes systems", "searching"
FEW = 0.32  # share of the samples that are drawn first; outlines take the place of the others
Better = Callable[[ODESystem, Floats], None]


def find(
    dataset: Dataset,
    how: FindSettings,
    report: Callable[[str], None] = lambda stage: None,
    better: Better | None = None,
) -> Outcome:
    """The systems that explain the data.  `better` is called with each best one so far, and its starts.

    The first Ctrl-C ends decoding, and the search continues with the systems written so far; or, at any
    other time, it ends the fit with the best system so far.  A second one aborts.
    """
    with linear_algebra(how.threads):
        still = without_still(dataset) if how.knowledge is None and not how.guesses else None
        if still is None:
            return _found(dataset, how, report, better)
        told = None if better is None else lambda one, starts: better(still.system(one), still.starts(starts))
        found = _found(still.moving, how, report, told)
    explanations, noise = still.explanations(found.explanations), still.noise(found.noise)
    return replace(found, explanations=explanations, noise=noise, prepared=None)


def _found(
    dataset: Dataset, how: FindSettings, report: Callable[[str], None], better: Better | None
) -> Outcome:
    report(PREPARING)
    begin = time.perf_counter() - min(how.spent, READING * how.time_budget)
    whole = dataset
    dataset, chosen, notes = thinned(whole, points_for(whole.dimension, how.time_budget))
    preparing = time.perf_counter()
    runtime = _prepared(dataset, how, report)
    deadline = Deadline(how.time_budget, begin + time.perf_counter() - preparing)
    with Interrupt(signal.SIGINT) as interrupt:
        scaling = dataset.scaling()
        data = dataset.observations(scaling)
        report(DECODING if runtime is not None else SEARCHING)
        with _until(deadline.within(ESTIMATING), interrupt, deadline):
            data, estimate, outliers = estimated(data)
        if how.knowledge is not None:
            data, estimate = with_starts(data, estimate, how.knowledge.starts, scaling)
        ready = Prepared(dataset, scaling, data, estimate, outliers, chosen)
        kept = ready if whole is not dataset or data.states.size > LARGE else None
        data = with_given(data, how.knowledge, scaling, estimate)
        guesses = [found_in(Form.of(scaling.to_scaled(program)), data) for program in how.guesses]
        notes += [outliers_left_out(outliers)] * bool(outliers)
        windows, offered = None, {"guess": guesses}
        long = how.sparse and how.knowledge is None and not deadline.over
        period = long_period(data) if long else None
        if period is not None:
            windows = WindowedSearch(data, estimate, period, deadline, how.operators)
            if data.dimension >= CHAOS_NEEDS:
                with _until(deadline.within(WINDOWS_SHARE), interrupt, deadline) as share:
                    settled = search_windows(windows, share, guesses)
                if settled:
                    outcome = outcome_of_windows(windows, ready, whole, how, deadline)
                    return replace(outcome, notes=notes + outcome.notes, prepared=kept)
                offered["sparse"] = convincing_systems(windows)
                deadline = time_for_windows(data, deadline)
        reading = None if deadline.stopped else reading_of(runtime, data)
        size = float(np.median(np.abs(scaling.factors[: data.dimension][~data.unseen])))
        settings = SearchSettings(sparse=how.sparse, hidden_size=size, factors=scaling.factors)
        kind = _kind_for(data)
        search = kind(data, estimate, settings, deadline, log_prior_of(reading, how), how.operators)
        if better is not None:
            named = partial(
                named_system, data=data, scaling=scaling, dataset=dataset, knowledge=how.knowledge
            )
            search.better = partial(_tell, better, named, scaling)
        proposals, decoded = _proposed(reading, search, how, deadline, interrupt)
        report(SEARCHING)
        with _until(deadline, interrupt):
            searched = _searched(search, offered, proposals, how, interrupt)
            early = bool(decoded or searched)
            if not search.ranked() and (how.sparse or early):
                search.fit_simplest()
        if windows is not None:
            with _until(deadline.within(*JUDGING), interrupt) as share:
                if defeats(windows, search, share):
                    outcome = outcome_of_windows(windows, ready, whole, how, deadline)
                    return replace(outcome, notes=notes + outcome.notes, prepared=kept)
        notes += dict.fromkeys(decoded + searched)  # each once
        with _until(deadline.within(*JUDGING), interrupt) as judge:
            judged = search.rescored(judge)
        with _until(deadline.within(*CLAIMING), interrupt):
            outcome = outcome_of(search, judged, ready, whole, how, early, period)
    return replace(outcome, notes=notes + outcome.notes, prepared=kept)


def _prepared(dataset: Dataset, how: FindSettings, report: Callable[[str], None]) -> Runtime | None:
    """What is not part of a fit's time: compile, and load the network, if it is used."""
    everything = how.knowledge is not None and how.knowledge.complete
    use_network = how.network and dataset.dimension <= MAX_DIMENSION and not everything
    compile_first(report)  # before the network, as both need much memory
    with ThreadPoolExecutor(1) as pool:  # the network loads without the GIL
        loading = pool.submit(runtime_of, how.weights, how.runtime, how.threads) if use_network else None
        prepare(report)
        data = dataset.observations(dataset.scaling())
        if long_period(data) is not None or hidden_states(data):
            prepare_windows(report)
        try:
            return None if loading is None else loading.result()
        finally:
            del loading  # an error holds this frame, which held the error: damaged weights stayed in memory


@contextmanager
def _until(deadline: Deadline, interrupt: Interrupt, *others: Deadline) -> Iterator[Deadline]:
    """What is inside ends with the deadline, or soon after Ctrl-C, which stops the other deadlines, too."""

    def stop() -> None:
        for one in (deadline, *others):
            one.stop()

    interrupt.heard = stop
    with deadline:
        yield deadline


def _proposed(
    reading: Reading | None, search: Search, how: FindSettings, deadline: Deadline, interrupt: Interrupt
) -> tuple[list[Proposal], list[str]]:
    """What the network proposes, and what to say if it was cut short.

    First a few systems.  Where the data are exact, most laws are found by polynomials or among these, and
    leave nothing.  Otherwise the network writes outlines, or more systems if it has not learned to.
    """
    data, drawing = search.data, how.decoding
    ask = partial(proposals_of, reading, data, deadline=deadline, interrupt=interrupt)
    if type(search) is not Search or data.given is not None or reading is None:
        return ask(how=how)
    outlines = reading.runtime.writes_outlines
    if search.estimate.smoothed and not outlines:
        return ask(how=how)
    if not search.estimate.smoothed:
        with _until(deadline.within(POLYNOMIALS), interrupt, deadline) as search.deadline:
            if how.sparse:
                search.fit_polynomials()
    few = max(1, round(FEW * drawing.samples))
    proposals, said = ask(how=replace(how, decoding=replace(drawing, samples=few)))
    if not (said or search.estimate.smoothed or search.settled()):
        with _until(deadline.within(FIRST_FITS), interrupt, deadline) as search.deadline:
            search.fit_whole([one.form for one in proposals], "network")
    enough = bool(said) or search.settled()
    if outlines and not enough:
        search.outlines, said = outlines_of(reading, data, how, deadline, interrupt)
    elif few < drawing.samples and not enough:
        rest = replace(drawing, samples=drawing.samples - few, skipped=drawing.skipped + few)
        more, said = ask(how=replace(how, decoding=rest))
        proposals = distinct([*proposals, *more])
    search.deadline = deadline
    return proposals, said


def _kind_for(data: Observations) -> type[Search]:
    """Which search these data need."""
    if not hidden_states(data):
        return Search
    return HiddenSearch if data.given is None else KnownHiddenSearch


def _searched(
    search: Search,
    offered: Mapping[str, Sequence[Form]],
    proposals: Sequence[Proposal],
    how: FindSettings,
    interrupt: Interrupt,
) -> list[str]:
    """Search, and say if it came to an end before its time.

    offered: systems that are fitted first, by where they come from.
    """
    try:
        for source, forms in offered.items():
            search.fit_whole(forms, source)
            search.collect_equations(forms, source)
        search.run([one.form for one in proposals], votes=[one.count for one in proposals])
    except KeyboardInterrupt:  # the second Ctrl-C; or the first, where others handle signals
        if interrupt.asked or not search.ranked():
            raise
        search.deadline.stop()
    if search.deadline.stopped:
        return [INTERRUPTED]
    return [out_of_time(how.time_budget)] if search.deadline.over else []


def _tell(better: Better, named: Callable[[Program], Named], scaling: Scaling, fit: Fit) -> None:
    """Pass on a system in the user's units."""
    with suppress(ExpressionError):  # constants that no number can hold there
        better(named(fit.program).system, scaling.original_states(fit.starts))
