"""Decoded metrics: what a network is judged by, because the loss is a poor guide.

For every case the network's samples are decoded.  The figures are the shares of cases in which the true
skeleton is among them, and in which the chosen system reconstructs the clean trajectory (R2 > 0.9) and
predicts another one of the same system (generalization), with the decoded constants and with fitted ones.
The choice sees only the observed data.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from odefinder.bench.cases import Case
from odefinder.bench.metrics import GOOD, trajectory_r2
from odefinder.data.observations import Observations
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.program import Program
from odefinder.inference.choose.criterion import best_fit
from odefinder.inference.fit.horizon import fit_segments
from odefinder.inference.fit.integral import match_system
from odefinder.inference.fit.refine import Fit, fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states
from odefinder.inference.propose.decode import (
    Decoding,
    Proposal,
    distinct_proposals,
    network_points,
    readable_variables,
    sample,
)
from odefinder.language.grammar import Forced
from odefinder.language.tokens import Vocabulary
from odefinder.limits.sizes import MAX_POINTS
from odefinder.network.model import Network
from odefinder.network.runtime import Runtime
from odefinder.network.torch_runtime import TorchRuntime

BY_SEGMENTS, BY_SEGMENTS_CLEAN = 0.02, 1e-4  # mean squared scaled residual above which segments are tried


@dataclass(frozen=True)
class Verdict:
    """The outcome of a case."""

    case: Case
    recovered: bool  # the true skeleton is among the samples
    decoded: tuple[float, float]  # R2 of reconstruction and generalization, decoded constants
    fitted: tuple[float, float]  # the same with fitted constants
    distinct: int  # different skeletons among the samples


# ---------------------------------------------------------------- decoding


def decode_cases(
    network: Network | Runtime, cases: Sequence[Case], how: Decoding, *, batch: int = 0
) -> list[list[Proposal]]:
    """Distinct proposals for every case."""
    return decode_all(network, [case.data for case in cases], how, batch=batch)


def decode_all(
    network: Network | Runtime,
    data: Sequence[Observations],
    how: Decoding,
    *,
    forced: Sequence[Forced] | None = None,
    batch: int = 0,
) -> list[list[Proposal]]:
    """Distinct proposals for all of the data.

    forced: known equations of each; batch: how many are decoded at once, 0: whatever suits the device.
    """
    runtime = TorchRuntime(network) if isinstance(network, Network) else network
    batch = batch or runtime.together
    vocabulary = Vocabulary.preset(runtime.settings.vocabulary)
    result: list[list[Proposal]] = [[] for _ in data]
    by_points: dict[int, list[int]] = {}
    for i, one in enumerate(data):
        by_points.setdefault(min(len(one.times), MAX_POINTS), []).append(i)
    for indices in by_points.values():
        for first in range(0, len(indices), batch):
            chunk = indices[first : first + batch]
            inputs = [network_points(data[i], runtime.settings) for i in chunk]
            memory = runtime.encode(*map(np.concatenate, zip(*inputs, strict=True)))
            ids, chance = sample(
                runtime,
                memory,
                [data[i].dimension for i in chunk],
                how,
                variables=[readable_variables(data[i]) for i in chunk],
                forced=[forced[i] for i in chunk] if forced else None,
            )
            for row, i in enumerate(chunk):
                result[i] = distinct_proposals(ids[row], chance[row], vocabulary)
    return result


def assess(case: Case, proposals: Sequence[Proposal], *, refine: int) -> Verdict:
    """Choose among decoded and among fitted systems, and compare the choices with the truth."""
    data = case.data
    first = data.states[data.bounds[:-1]]
    programs = [proposal.form.program for proposal in proposals]
    decoded = [fit_constants(program, data, starts=first, iterations=0) for program in programs]
    chosen = min(decoded, key=lambda fit: fit.error, default=None)
    estimate = estimate_states(data)
    begun = sorted((_begun(program, data, estimate) for program in programs), key=lambda fit: fit.error)
    best = best_fit([_fitted(fit, data, estimate) for fit in begun[:refine]], data)
    recovered = skeleton(case.truth) in {proposal.form.key for proposal in proposals}
    return Verdict(case, recovered, _scores(case, chosen), _scores(case, best), len(proposals))


def _begun(program: Program, data: Observations, estimate: StateEstimate) -> Fit:
    """The better of decoded constants and those fitted in integral form, from estimated or observed starts.

    What looks like noise may be a fast signal; then the first observed states do better.
    """
    programs = (program, match_system(program, data, estimate))
    starts = (estimate.starts, data.states[data.bounds[:-1]])
    fits = [fit_constants(p, data, starts=x0, iterations=0) for p in programs for x0 in starts]
    return min(fits, key=lambda fit: fit.error)


def _fitted(fit: Fit, data: Observations, estimate: StateEstimate) -> Fit:
    """Constants fitted by Levenberg-Marquardt; over short segments first if that fails."""
    noisy = estimate.smoothed
    whole = fit_constants(fit.program, data, starts=fit.starts, fit_starts=noisy)
    if whole.error < (BY_SEGMENTS if noisy else BY_SEGMENTS_CLEAN):
        return whole
    by_parts = fit_segments(fit.program, data, estimate.states, fit_starts=noisy)
    return min(whole, by_parts, key=lambda one: one.error)


def _scores(case: Case, fit: Fit | None) -> tuple[float, float]:
    if fit is None or not np.isfinite(fit.error):
        return -np.inf, -np.inf
    reconstruction = trajectory_r2(fit.program, case.dense[0], case.dense_times, case.dense)
    generalization = trajectory_r2(fit.program, case.other[0], case.dense_times, case.other)
    return reconstruction, generalization


def validate(
    network: Network | Runtime,
    cases: Sequence[Case],
    *,
    samples: int = 50,
    temperature: float = 0.7,
    refine: int = 12,
    seed: int = 0,
    batch: int = 0,
) -> list[Verdict]:
    """Verdicts on all cases."""
    how = Decoding(samples=samples, temperature=temperature, seed=seed)
    proposals = decode_cases(network, cases, how, batch=batch)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda pair: assess(*pair, refine=refine), zip(cases, proposals, strict=True)))


def summary(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Percentages over all verdicts."""

    def share(values: list[bool]) -> float:
        return round(100.0 * float(np.mean(values)), 1) if values else float("nan")

    return {
        "cases": len(verdicts),
        "skeleton": share([o.recovered for o in verdicts]),
        "decoded reconstruction": share([o.decoded[0] > GOOD for o in verdicts]),
        "decoded generalization": share([o.decoded[1] > GOOD for o in verdicts]),
        "fitted reconstruction": share([o.fitted[0] > GOOD for o in verdicts]),
        "fitted generalization": share([o.fitted[1] > GOOD for o in verdicts]),
        "distinct": round(float(np.mean([o.distinct for o in verdicts])), 1),
    }


def by_group(verdicts: Sequence[Verdict], part: int) -> dict[str, dict[str, float]]:
    """Summaries by one part of the group's name: 0 dimension, 1 noise, 2 trajectories."""
    names = sorted({o.case.group.split("|")[part] for o in verdicts})
    return {name: summary([o for o in verdicts if o.case.group.split("|")[part] == name]) for name in names}
