"""Decoded metrics: what a network is judged by, because the loss is a poor guide.

For every case the network's samples are decoded; the figures are the share of cases in which the true
skeleton is among them, and in which the chosen system reconstructs the clean trajectory (R2 > 0.9) and
predicts another one of the same system (generalization), with the decoded constants and with fitted ones.
The choice sees the observed data only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.bench.metrics import trajectory_r2
from odefinder.bench.systems import BenchSystem
from odefinder.canonical import canonical, skeleton
from odefinder.corruption import corrupt
from odefinder.inference.decode import Candidate, Decoding, distinct_candidates, network_points, sample
from odefinder.inference.observations import Observations
from odefinder.inference.refine import Fit, fit_constants
from odefinder.inference.select import best_fit
from odefinder.integrate import Status, integrate
from odefinder.network.model import Network
from odefinder.network.runtime import Runtime
from odefinder.network.torch_runtime import TorchRuntime
from odefinder.prior.examples import EXAMPLE, MAX_POINTS, Example, new_counts
from odefinder.prior.presets import Prior, prior_preset
from odefinder.prior.sampler import fill
from odefinder.program import Program
from odefinder.scaling import T_START, fit_scaling
from odefinder.tokens import MAX_DIMENSION, Vocabulary

Floats = NDArray[np.float64]
VALIDATION_SEED = 987_654_321  # never used for training
GOOD = 0.9  # R2 above which a trajectory counts as found


@dataclass(frozen=True)
class Case:
    """Observed data in canonical units, and the truth to compare with, in the same units."""

    data: Observations
    truth: Program
    dense_times: Floats
    dense: Floats  # clean trajectory from its own start
    other: Floats  # clean trajectory from another start
    group: str

    @property
    def dimension(self) -> int:
        return self.data.dimension


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: Case
    recovered: bool  # the true skeleton is among the samples
    decoded: tuple[float, float]  # R2 of reconstruction and generalization, decoded constants
    fitted: tuple[float, float]  # the same with fitted constants
    distinct: int  # skeletons among the samples


# ---------------------------------------------------------------- cases


def synthetic_cases(
    count: int, *, prior: Prior | None = None, points: int = 100, seed: int = VALIDATION_SEED
) -> list[Case]:
    """Cases from a prior, the same number for every dimension 1 to 6, all with so many points."""
    base = prior or prior_preset("default")
    cases: list[Case] = []
    for dimension in range(1, MAX_DIMENSION + 1):
        weights = np.zeros(MAX_DIMENSION)
        weights[dimension - 1] = 1.0
        chosen = base._replace(
            dimension_weights=weights, siblings=1, canonical_units=True, canonical_target=True
        )
        examples = np.zeros(count, EXAMPLE)
        layout = Vocabulary.preset("coarse").layout
        fill(
            examples,
            new_counts(),
            seed=seed,
            first=dimension * 1_000_000,
            prior=chosen,
            layout=layout,
            points=points,
        )
        cases += [case for example in examples if (case := _synthetic_case(example)) is not None]
    return cases


def _synthetic_case(example: Example) -> Case | None:
    d, n, nodes = int(example["dimension"]), int(example["n_points"]), int(example["n_nodes"])
    truth = Program(example["ops"][:nodes].copy(), example["values"][:nodes].copy())
    trajectory = example["trajectory"][:n]
    bounds = np.searchsorted(trajectory, np.arange(example["n_trajectories"] + 1)).astype(np.int64)
    times = np.ascontiguousarray(example["times"][:n])
    data = Observations(times, np.ascontiguousarray(example["states"][:n, :d]), bounds)
    start = example["starts"][0, :d].copy()
    t = np.linspace(T_START, times[: bounds[1]].max(), 150)
    dense, status = integrate(truth, start, t, rtol=1e-8, atol=1e-10)
    other = _other_trajectory(truth, start, t)
    if status != Status.OK or other is None:
        return None
    noise = "clean" if example["sigma"] == 0 else ("low noise" if example["sigma"] < 0.05 else "high noise")
    return Case(data, truth, t, dense, other, f"{d}-D|{noise}|{example['n_trajectories']} traj")


def _other_trajectory(truth: Program, start: Floats, t: Floats) -> Floats | None:
    """A clean trajectory from elsewhere: the first of a few starts from which the system stays finite.

    As on ODEBench, repeating the observed trajectory shall not do: every variable starts elsewhere, by turns
    larger and smaller, at least by 0.1, and with the same sign.
    """
    even = np.arange(len(start)) % 2 == 0
    for first, second in ((0.5, -0.5), (-0.5, 0.5), (-0.4, -0.2), (0.2, -0.2)):
        share = np.where(even, first, second)
        outward = (share > 0.0) | (np.abs(start) < 0.2)
        shift = np.maximum(np.abs(share * start), 0.1) * np.where(outward, 1.0, -1.0)
        begin = start + np.where(start < 0.0, -shift, shift)
        states, status = integrate(truth, begin, t, rtol=1e-8, atol=1e-10, bound=50.0)
        if status == Status.OK:
            return states
    return None


def bench_cases(
    systems: Sequence[BenchSystem], *, sigma: float = 0.0, rho: float = 0.0, points: int = 150, seed: int = 0
) -> list[Case]:
    """Both initial values of each benchmark system (protocol: t in [0, 10], noise first, then dropping)."""
    cases: list[Case] = []
    t = np.linspace(0.0, 10.0, points)
    for system in systems:
        program = system.system().program
        clean = system.trajectories(t)
        for k, x in enumerate(clean):
            number = int(system.id) if isinstance(system.id, int) else sum(map(ord, system.id))
            times, states = corrupt(t, x, sigma=sigma, rho=rho, seed=seed + 1000 * number + k)
            scaling = fit_scaling([times], [states])
            data = Observations(
                scaling.times(times), scaling.states(states), np.array([0, len(times)], dtype=np.int64)
            )
            others = [scaling.states(y) for j, y in enumerate(clean) if j != k]
            cases.append(
                Case(
                    data,
                    scaling.to_scaled(program),
                    T_START + scaling.rate * (t - times[0]),
                    scaling.states(x),
                    others[0],
                    f"{system.dimension}-D",
                )
            )
    return cases


# ---------------------------------------------------------------- decoding


def decode_cases(
    network: Network | Runtime, cases: Sequence[Case], how: Decoding, *, batch: int = 0
) -> list[list[Candidate]]:
    """Distinct candidates of every case.  batch: cases decoded at once; 0: as suits the device."""
    runtime = TorchRuntime(network) if isinstance(network, Network) else network
    batch = batch or runtime.together
    vocabulary = Vocabulary.preset(runtime.settings.vocabulary)
    result: list[list[Candidate]] = [[] for _ in cases]
    by_points: dict[int, list[int]] = {}
    for i, case in enumerate(cases):
        by_points.setdefault(min(len(case.data.times), MAX_POINTS), []).append(i)
    for indices in by_points.values():
        for first in range(0, len(indices), batch):
            chunk = indices[first : first + batch]
            inputs = [network_points(cases[i].data, runtime.settings) for i in chunk]
            points, trajectory = (np.concatenate(arrays) for arrays in zip(*inputs, strict=True))
            memory = runtime.encode(points, trajectory)
            ids, chance = sample(runtime, memory, [cases[i].dimension for i in chunk], how)
            for row, i in enumerate(chunk):
                result[i] = distinct_candidates(ids[row], chance[row], vocabulary)
    return result


def judge(case: Case, candidates: Sequence[Candidate], *, refine: int) -> Outcome:
    """Choose among decoded and among fitted candidates, and compare the choices with the truth."""
    data = case.data
    start = data.states[data.bounds[:-1]].copy()
    plain = [fit_constants(c.program, data, starts=start, iterations=0) for c in candidates]
    order = np.argsort([fit.error for fit in plain], kind="stable")
    chosen = plain[order[0]] if len(order) and np.isfinite(plain[order[0]].error) else None
    fits: list[Fit] = []
    for i in order[:refine]:
        fit = fit_constants(canonical(candidates[i].program, explicit=True), data, fit_starts=True)
        fits.append(fit)
    best = best_fit(fits, data)
    recovered = skeleton(case.truth) in {c.skeleton for c in candidates}
    return Outcome(case, recovered, _scores(case, chosen), _scores(case, best), len(candidates))


def _scores(case: Case, fit: Fit | None) -> tuple[float, float]:
    if fit is None:
        return -np.inf, -np.inf
    reconstruction = trajectory_r2(fit.program, case.dense[0], case.dense_times, case.dense)
    generalization = trajectory_r2(fit.program, case.other[0], case.dense_times, case.other)
    return reconstruction, generalization


def validate(
    network: Network | Runtime,
    cases: Sequence[Case],
    *,
    samples: int = 50,
    temperature: float = Decoding.temperature,
    refine: int = 12,
    seed: int = 0,
    batch: int = 0,
) -> list[Outcome]:
    """Outcomes of all cases."""
    how = Decoding(samples=samples, temperature=temperature, seed=seed)
    candidates = decode_cases(network, cases, how, batch=batch)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda pair: judge(*pair, refine=refine), zip(cases, candidates, strict=True)))


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Percentages over all outcomes."""

    def share(values: list[bool]) -> float:
        return round(100.0 * float(np.mean(values)), 1) if values else float("nan")

    return {
        "cases": len(outcomes),
        "skeleton": share([o.recovered for o in outcomes]),
        "decoded reconstruction": share([o.decoded[0] > GOOD for o in outcomes]),
        "decoded generalization": share([o.decoded[1] > GOOD for o in outcomes]),
        "fitted reconstruction": share([o.fitted[0] > GOOD for o in outcomes]),
        "fitted generalization": share([o.fitted[1] > GOOD for o in outcomes]),
        "distinct": round(float(np.mean([o.distinct for o in outcomes])), 1),
    }


def by_group(outcomes: Sequence[Outcome], part: int) -> dict[str, dict[str, float]]:
    """Summaries by one part of the group's name: 0 dimension, 1 noise, 2 trajectories."""
    names = sorted({o.case.group.split("|")[part] for o in outcomes})
    return {name: summary([o for o in outcomes if o.case.group.split("|")[part] == name]) for name in names}
