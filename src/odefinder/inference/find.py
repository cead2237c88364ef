"""From a dataset to ranked systems: decode, estimate states, search, back to the user's units.

This is the main path of a fit; `ODEFormer` is the face that it shows to users.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path

import numpy as np
from threadpoolctl import ThreadpoolController

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.observations import Ints, Observations
from odefinder.data.thinning import points_for, thinned
from odefinder.data.units import Scaling
from odefinder.errors import ExpressionError, NoSystemError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.choose.hidden import HiddenSearch
from odefinder.inference.choose.search import Candidate, Search, SearchSettings
from odefinder.inference.choose.ties import tie_constants
from odefinder.inference.choose.windowed import WindowedSearch
from odefinder.inference.claims import (
    all_constants,
    all_starts,
    claim,
    in_users_units,
    predictions,
    rounded_or_not,
    sound_first,
    still,
)
from odefinder.inference.conserved import conserved_notes
from odefinder.inference.doubts import data_doubts, doubted, fit_notes
from odefinder.inference.fit.digits import SECONDS, SHORT, with_digits
from odefinder.inference.fit.gauge import readable
from odefinder.inference.fit.knowledge import Knowledge
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.rounding import round_constants
from odefinder.inference.fit.windows import long_period
from odefinder.inference.known_parts import (
    Named,
    found_in,
    known_templates,
    named_system,
    with_given,
    with_varied,
)
from odefinder.inference.law import law_of
from odefinder.inference.long_records import (
    WINDOWS_SHARE,
    chaos_notes,
    defeats,
    search_windows,
    time_for_windows,
    windowed_explanations,
)
from odefinder.inference.prepared import LARGE, Prepared, estimated
from odefinder.inference.propose.decode import (
    Decoding,
    Proposal,
    Reading,
    decode,
    derivative_template,
    program_log_probabilities,
)
from odefinder.inference.propose.unseen import hidden_states
from odefinder.inference.remarks import (
    CUT_SHORT,
    INTERRUPTED,
    Explanation,
    out_of_time,
    outliers_left_out,
    remarks,
)
from odefinder.inference.still import without_still
from odefinder.inference.unmeasured import hidden_notes, known_notes, turning_notes
from odefinder.inference.varying import varying_explanation, varying_note
from odefinder.inference.warmup import compile_first, prepare, prepare_windows
from odefinder.language.grammar import Forced
from odefinder.language.tokens import Vocabulary
from odefinder.limits.alarm import alarm_rings
from odefinder.limits.deadline import (
    CLAIMING,
    DECODING_LATEST,
    DECODING_SHARE,
    ESTIMATING,
    JUDGING,
    READING,
    Deadline,
)
from odefinder.limits.interrupt import Interrupt
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.loading import Kind, load_runtime
from odefinder.network.runtime import Runtime
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.system import ODESystem

BUDGET, MOST_BUDGET = 10.0, 60.0  # seconds: up to three variables, and at most
ROUNDED = 5  # systems of a result whose constants are rounded
PRINTED = 6  # systems whose digits are counted although time is over, and until when
COUNTING = 1.2, 0.4  # budgets and seconds; the first system has its digits however late it is
MOST_COUNTED = 20  # variables: with more, there must be time for it
PREPARING = "preparing"
DECODING, SEARCHING = "the network proposes systems", "searching"
Better = Callable[[ODESystem, Floats], None]


def default_budget(dimension: int) -> float:
    """Seconds for data of this many variables: searches of more than three take longer."""
    return min(BUDGET * max(dimension - 2, 1), MOST_BUDGET)


@dataclass(frozen=True)
class FindSettings:
    """How systems are looked for."""

    time_budget: float = BUDGET  # seconds
    decoding: Decoding = field(default_factory=Decoding)
    operators: frozenset[str] | None = None  # those that may occur, add and mul among them; None: all
    guesses: tuple[Program, ...] = ()  # in the user's units
    knowledge: Knowledge | None = None  # what the user knows of the equations
    network: bool = True
    sparse: bool = True
    weights: Path | None = None
    runtime: Kind = "onnx"
    threads: int = 1
    round_constants: bool = True  # to simple numbers where the data allow it
    spent: float = 0.0  # seconds of the budget that reading the data took


@dataclass(frozen=True)
class Outcome:
    """What a fit found, best first."""

    explanations: list[Explanation]
    noise: Floats  # (D,): standard deviation of the observations' errors
    notes: list[str]  # sentences for the user
    early: bool = False  # whether time or Ctrl-C ended the search
    prepared: Prepared | None = None  # large data as they were fitted; others are quickly prepared again


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
    # Matrices are small here: more threads of linear algebra wait for each other most of the time.
    with _blas().limit(limits=how.threads, user_api="blas"):
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
        kept = None
        if whole is not dataset or data.states.size > LARGE:
            kept = Prepared(dataset, scaling, data, estimate, outliers, chosen)
        data = with_given(data, how.knowledge, scaling, estimate)
        guesses = [found_in(Form.of(scaling.to_scaled(program)), data) for program in how.guesses]
        notes += [outliers_left_out(outliers)] * bool(outliers)
        windows = None
        long = how.sparse and how.knowledge is None and not deadline.over
        period = long_period(data) if long else None
        if period is not None:
            windows = WindowedSearch(data, estimate, period, deadline, how.operators)
            with _until(deadline.within(WINDOWS_SHARE), interrupt, deadline) as share:
                settled = search_windows(windows, share, guesses)
            if settled:
                found = _windowed(windows, (dataset, whole, chosen), scaling, notes, deadline)
                return replace(found, prepared=kept)
            deadline = time_for_windows(data, deadline)
        if runtime is not None and data.roles and not runtime.knows_roles:
            runtime = None  # it would misread them
        reading = None
        if runtime is not None and not deadline.stopped:
            reading = Reading.of(runtime, data, _forced(runtime, data))
        proposals, decoded = _proposals(reading, how, deadline, interrupt)
        proposals = [replace(one, form=found_in(one.form, data)) for one in proposals]
        report(SEARCHING)
        log_prior = None
        if reading is not None:
            log_prior = partial(program_log_probabilities, reading, how=how.decoding, operators=how.operators)
        size = float(np.median(np.abs(scaling.factors[: data.dimension][~data.unseen])))
        settings = SearchSettings(sparse=how.sparse, hidden_size=size)
        kind = HiddenSearch if hidden_states(data) else Search
        search = kind(data, estimate, settings, deadline, log_prior, how.operators)
        if better is not None:
            named = partial(
                named_system, data=data, scaling=scaling, dataset=dataset, knowledge=how.knowledge
            )
            search.better = partial(_tell, better, named, scaling)
        with _until(deadline, interrupt):
            searched = _searched(search, guesses, proposals, how, interrupt)
            early = bool(decoded or searched)
            if not search.ranked() and (how.sparse or early):
                search.fit_simplest()
        if windows is not None:
            with _until(deadline.within(*JUDGING), interrupt) as share:
                if defeats(windows, search, share):
                    found = _windowed(windows, (dataset, whole, chosen), scaling, notes, deadline)
                    return replace(found, prepared=kept)
        notes += dict.fromkeys(decoded + searched)  # each once
        original = _original(dataset, data, scaling)
        with _until(deadline.within(*JUDGING), interrupt) as judge:
            judged = search.rescored(judge)
        with _until(deadline.within(*CLAIMING), interrupt):
            explanations = _explanations(search, judged, dataset, scaling, original, how, early)
            if not explanations:
                raise NoSystemError(_why_nothing(deadline, how))
            if how.knowledge is None and not hidden_states(data) and not (deadline.stopped or alarm_rings()):
                share = deadline.within(*CLAIMING)
                varied = varying_explanation(judged, search, dataset, scaling, original, share)
                if varied is not None:
                    notes.append(varying_note(varied))
                    rest = [replace(one, weight=min(one.weight, varied.weight)) for one in explanations]
                    explanations = [varied, *rest]
            doubts = data_doubts(dataset)
            explanations = doubted(explanations, dataset, doubts)
            notes += [doubt.sentence for doubt in doubts]
            best = explanations[0]
            original = with_varied(original, best.constants, best.system.inputs)
            if outliers and (seen := predictions(best.system, best.starts, original, scaling)) is not None:
                best = replace(best, r2=variance_weighted_r2(original.states, seen))
            noise = scaling.original_states(search.estimate.noise)
            notes += remarks([best, *explanations[1:]], original, noise, early) + turning_notes(
                dataset, noise
            )
            if how.knowledge is None or not how.knowledge.sums:
                notes += conserved_notes(dataset)
            notes += fit_notes(best, original) if not early and not alarm_rings() else []
            if hidden_states(data) and how.knowledge is not None:
                notes += known_notes(judged[0].fit, data, how.knowledge, search.estimate.smoothed)
            elif hidden_states(data):
                notes += hidden_notes(best, _error_of(best, original), original, search.estimate.smoothed)
            if period is not None and not alarm_rings():
                notes += chaos_notes(best, original, period / scaling.rate)
            if whole is not dataset:
                explanations = _of_all(explanations, whole, chosen, scaling)
    return Outcome(explanations, noise, notes, early, kept)


def _windowed(
    windows: WindowedSearch, data: tuple[Dataset, Dataset, Ints], scaling: Scaling, notes: list[str],
    deadline: Deadline,
) -> Outcome:  # fmt: skip
    """What a search over windows found; data: the fitted ones, all, and which trajectories were fitted."""
    dataset, whole, chosen = data
    early = deadline.over
    with deadline.within(*CLAIMING):
        found = windowed_explanations(windows, dataset, scaling, early) or [still(dataset)]
        original = _original(dataset, windows.data, scaling)
        noise = scaling.original_states(windows.estimate.noise)
        notes = notes + [out_of_time(deadline.seconds)] * early + remarks(found, original, noise, early)
        notes += chaos_notes(found[0], original, windows.period / scaling.rate, windowed=True)
        found = [replace(one, starts=all_starts(one.starts, whole, chosen)) for one in found]
    return Outcome(found, noise, notes, early)


def _prepared(dataset: Dataset, how: FindSettings, report: Callable[[str], None]) -> Runtime | None:
    """What is not part of a fit's time: compile, and load the network, if it is used."""
    everything = how.knowledge is not None and how.knowledge.complete
    use_network = how.network and dataset.dimension <= MAX_DIMENSION and not everything
    compile_first(report)  # before the network, as both need much memory
    with ThreadPoolExecutor(1) as pool:  # the network loads without the GIL
        loading = pool.submit(_runtime, how.weights, how.runtime, how.threads) if use_network else None
        prepare(report)
        data = dataset.observations(dataset.scaling())
        if long_period(data) is not None or hidden_states(data):
            prepare_windows(report)
        return None if loading is None else loading.result()


@contextmanager
def _until(deadline: Deadline, interrupt: Interrupt, *others: Deadline) -> Iterator[Deadline]:
    """What is inside ends with the deadline, or soon after Ctrl-C, which stops the other deadlines, too."""

    def stop() -> None:
        for one in (deadline, *others):
            one.stop()

    interrupt.heard = stop
    with deadline:
        yield deadline


def _original(dataset: Dataset, data: Observations, scaling: Scaling) -> Observations:
    """The data as they are fitted, in the user's units."""
    original = Observations.joined(dataset.times, dataset.states)
    return replace(
        original,
        states=np.where(np.isfinite(data.states), original.states, np.nan),
        errors=None if data.errors is None else scaling.original_states(data.errors),
        roles=data.roles,
        derivative_of=data.derivative_of,
        known=None if data.known is None else data.known * scaling.factors[scaling.dimension :],
        signals=dataset.all_signals() if data.signals else (),
    )


def _forced(runtime: Runtime, data: Observations) -> Forced:
    """The equations that the network need not find, x' = v."""
    vocabulary, longest = Vocabulary.preset(runtime.settings.vocabulary), runtime.settings.max_length
    velocities = {
        state: derivative_template(vocabulary, velocity) for state, velocity in data.velocities.items()
    }
    return {**velocities, **known_templates(vocabulary, data.given, longest)}


def _proposals(
    reading: Reading | None, how: FindSettings, deadline: Deadline, interrupt: Interrupt
) -> tuple[list[Proposal], list[str]]:
    """What the network proposes, and what to say if it was cut short."""
    if reading is None:
        return [], []
    share, latest = deadline.within(DECODING_SHARE), deadline.within(*DECODING_LATEST)
    interrupt.heard = share.stop

    def enough(finished: int) -> bool:
        share.ended = share.stopped or (share.over if finished else latest.over)  # one, if there is any time
        return share.ended

    proposals = decode(reading, how.decoding, how.operators, enough)
    interrupt.heard = deadline.stop
    if share.stopped:
        return proposals, [CUT_SHORT]
    return proposals, [out_of_time(how.time_budget)] if share.ended else []


def _searched(
    search: Search,
    guesses: Sequence[Form],
    proposals: Sequence[Proposal],
    how: FindSettings,
    interrupt: Interrupt,
) -> list[str]:
    """Search, and say if it came to an end before its time."""
    try:
        search.fit_whole(guesses, "guess")
        search.collect_equations(guesses, "guess")
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


# ---------------------------------------------------------------------------------------- results


def _explanations(
    search: Search, judged: Sequence[Candidate], dataset: Dataset, scaling: Scaling, original: Observations,
    how: FindSettings, early: bool,
) -> list[Explanation]:  # fmt: skip
    """The judged systems in the user's units that may be used, with their weights.

    original: data in these units.  early: something ended the search before its time.
    """
    hidden = hidden_states(search.data)
    rows: list[tuple[Candidate, Named, Floats]] = []
    for found in judged:
        try:
            named = named_system(found.fit.program, search.data, scaling, dataset, how.knowledge)
            starts = scaling.original_states(found.fit.starts)
            if hidden and named.given is None:
                program, starts = readable(named.system.program, starts, hidden)
                program = canonical(program, explicit=True)
                named = replace(named.with_found(program), found=program)
        except ExpressionError:  # constants that no number can hold in the user's units
            continue
        rows.append((found, named, starts))
    if not rows:
        return [still(dataset)] if judged else []
    weights = search.weights([found for found, _, _ in rows], early)
    free = search.estimate.smoothed
    observed = in_users_units(dataset)
    result = []
    known = set[bytes]()
    for place, ((found, named, starts), weight) in enumerate(zip(rows, weights, strict=True)):
        if how.round_constants and place < ROUNDED and not search.deadline.over:
            data = replace(original, given=named.given)
            fit = Fit(named.found, starts, found.fit.error)
            rounded, ties = _simple_constants(fit, data, free)
            if rounded is not fit:
                simple = replace(named.with_found(rounded.program), found=rounded.program, ties=ties)
                named, starts = rounded_or_not((simple, rounded.starts), (named, starts), observed, scaling)
        key = structure(canonical(named.system.program, explicit=True))
        if key in known:  # rounded constants may make it one of the others: x^2.02 becomes x^2
            continue
        system = named.system
        late = search.deadline.over
        hurried = place < PRINTED and dataset.dimension <= MOST_COUNTED
        if not late or (hurried and (place == 0 or not search.deadline.within(*COUNTING).over)):
            driven = with_varied(original, named.constants, system.inputs)
            short = late and dataset.dimension > MAX_DIMENSION
            seconds = SHORT if short else SECONDS
            system = with_digits(system, starts, driven, centre=named.given is None, seconds=seconds)
        if (r2 := claim(system, starts, observed, scaling, named.constants)) is not None:
            known.add(key)
            law = law_of(named, replace(original, given=named.given), system)
            result.append(
                Explanation(
                    system, starts, r2, found.criterion, float(weight), found.source, named.constants, law
                )
            )
    return sound_first(result) or [still(dataset)]


def _simple_constants(fit: Fit, data: Observations, free: bool) -> tuple[Fit, Ints | None]:
    """The fit (in the user's units) with equal constants tied and simple ones rounded, and the ties."""
    tied = tie_constants(fit, data, fit_starts=free)
    if tied is None:
        return round_constants(fit, data, fit_starts=free), None
    rounded = round_constants(tied.fit, tied.data, fit_starts=free)
    return Fit(tied.back(rounded), rounded.starts, rounded.error), tied.groups


def _error_of(one: Explanation, data: Observations) -> float:
    """The mean squared scaled residual of a result; data in the user's units."""
    return fit_constants(one.system.program, data, starts=one.starts, iterations=0).error


def _of_all(
    explanations: Sequence[Explanation], whole: Dataset, chosen: Ints, scaling: Scaling
) -> list[Explanation]:
    """The same with initial values of all trajectories; R2 of the first over all points."""
    result = [
        replace(
            one,
            starts=all_starts(one.starts, whole, chosen),
            constants=all_constants(one.constants, whole, chosen),
            law=None if one.law is None else one.law.of_trajectories(chosen, len(whole)),
        )
        for one in explanations
    ]
    best = result[0]
    r2 = claim(best.system, best.starts, in_users_units(whole), scaling, best.constants)
    return [best if r2 is None else replace(best, r2=r2), *result[1:]]


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


# ---------------------------------------------------------------------------------------- preparation


@lru_cache(maxsize=2)
def _runtime(weights: Path | None, kind: Kind, threads: int) -> Runtime:
    """The network, loaded once in a process."""
    return load_runtime(weights, kind, threads=threads)


@cache
def _blas() -> ThreadpoolController:
    """What limits the threads of NumPy's and SciPy's linear algebra; it looks for their libraries once."""
    return ThreadpoolController()
