"""What the network proposes within its share of the time, and how likely it finds systems from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from odefinder.data.observations import Floats, Observations
from odefinder.expressions.program import Program
from odefinder.inference.known_parts import found_in, known_templates
from odefinder.inference.propose.decode import (
    Proposal,
    Reading,
    decode,
    derivative_template,
)
from odefinder.inference.propose.likeliest import Outline, likeliest, outline_log_probabilities
from odefinder.inference.remarks import CUT_SHORT, out_of_time
from odefinder.inference.settings import FindSettings
from odefinder.language.grammar import Forced
from odefinder.language.tokens import Vocabulary
from odefinder.limits.deadline import DECODING_LATEST, DECODING_SHARE, Deadline
from odefinder.limits.interrupt import Interrupt
from odefinder.network.loading import Kind, load_runtime
from odefinder.network.runtime import Runtime

OUTLINES = 30  # of each variable
TOGETHER = 90  # of all variables


@lru_cache(maxsize=2)
def runtime_of(weights: Path | None, kind: Kind, threads: int) -> Runtime:
    """The network, loaded once in a process."""
    return load_runtime(weights, kind, threads=threads)


def reading_of(runtime: Runtime | None, data: Observations) -> Reading | None:
    """The data as the network reads them; None where there is none, or it would misread their roles."""
    if runtime is None or (data.roles and not runtime.knows_roles):
        return None
    return Reading.of(runtime, data, _forced(runtime, data))


def proposals_of(
    reading: Reading | None, data: Observations, how: FindSettings, deadline: Deadline, interrupt: Interrupt
) -> tuple[list[Proposal], list[str]]:
    """What the network proposes about what is to be found, and what to say if it was cut short."""
    if reading is None:
        return [], []
    share, latest = deadline.within(DECODING_SHARE), deadline.within(*DECODING_LATEST)
    interrupt.heard = share.stop

    def enough(finished: int) -> bool:
        share.ended = share.stopped or (share.over if finished else latest.over)  # one, if there is any time
        return share.ended

    written = decode(reading, how.decoding, how.operators, enough)
    interrupt.heard = deadline.stop
    proposals = [replace(one, form=found_in(one.form, data)) for one in written]
    if share.stopped:
        return proposals, [CUT_SHORT]
    return proposals, [out_of_time(how.time_budget)] if share.ended else []


def outlines_of(
    reading: Reading, data: Observations, how: FindSettings, deadline: Deadline, interrupt: Interrupt
) -> tuple[list[list[Outline]], list[str]]:
    """The likeliest equations of every variable apart from their constants; see `proposals_of`."""
    wanted = [k for k in range(data.dimension) if k not in data.closed]
    share = deadline.within(DECODING_SHARE)
    interrupt.heard = share.stop
    count = min(OUTLINES, TOGETHER // max(len(wanted), 1))
    written = likeliest(reading, wanted, count, how.operators, lambda: share.stopped or share.over)
    interrupt.heard = deadline.stop
    result: list[list[Outline]] = [[] for _ in range(data.dimension)]
    for component, outlines in zip(wanted, written, strict=True):
        result[component] = outlines
    return result, [CUT_SHORT] if share.stopped else []


def log_prior_of(reading: Reading | None, how: FindSettings) -> Callable[[Sequence[Program]], Floats] | None:
    """What gives the log-probability of systems according to the network, whatever their constants are.

    None if it has not learned to write outlines.
    """
    if reading is None or not reading.runtime.writes_outlines:
        return None
    return partial(outline_log_probabilities, reading, operators=how.operators)


def _forced(runtime: Runtime, data: Observations) -> Forced:
    """The equations that the network need not find, x' = v."""
    vocabulary, longest = Vocabulary.preset(runtime.settings.vocabulary), runtime.settings.max_length
    velocities = {
        state: derivative_template(vocabulary, velocity) for state, velocity in data.velocities.items()
    }
    return {**velocities, **known_templates(vocabulary, data.given, longest)}
