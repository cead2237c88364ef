"""Waves of the time: forces that nobody measured, whose frequencies are found in what polynomials leave.

A wave that is off by a quarter of a period at the end of the data explains little, so a coarse grid of
frequencies passes it by.  Here every frequency is tried, with any phase, next to all polynomials at once, as
in a periodogram; the best become terms of the library, alone and times a state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.data.roles import Role
from odefinder.expressions.drafts import Draft
from odefinder.expressions.monomials import product
from odefinder.expressions.program import ADD, CONST, COS, MUL, SIN, VAR
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.propose.library import Feature, feature_integrals, monomials
from odefinder.inference.propose.terms import make_problem, orthonormal, outside

SLOWEST = 4.0  # radians over all of the time
STEP = 1.25  # likewise, by which neighbouring frequencies differ: a fifth of what can be resolved
POINTS = 4  # of a period, at least
MOST = 400  # frequencies
DEGREES = {1: 3, 2: 3, 3: 2}  # of the polynomials, by the number of states; 1 for more
PEAKS = 2  # frequencies of each factor


def waves(data: Observations, estimate: StateEstimate) -> list[Feature]:
    """The waves sin(a t + b) that explain most of each equation, next to polynomials."""
    if Role.TIME not in data.roles:
        return []
    time, states = data.roles.index(Role.TIME), data.dimension
    frequencies = _frequencies(data, float(np.ptp(estimate.nodes[:, time])))
    base = [one for one in monomials(states, DEGREES.get(states, 1)) if one.draft]
    base += [Feature((), "polynomial"), Feature(((VAR, float(time)),), "polynomial", 1)]
    found: list[Feature] = []
    for component in range(states):
        state, depth = data.lineage(component)
        if component in data.closed or np.isfinite(data.states[:, state]).sum() < 3 * len(base):
            continue
        for factor in (None, *(k for k in range(states) if k not in data.velocities.values())):
            tried = [
                _feature(factor, [(function, 0.0), *_angle(time, float(a))])
                for a in frequencies
                for function in (SIN, COS)
            ]
            features = [*base, *tried]
            integrals = feature_integrals(features, estimate, depth)
            problem = make_problem(component, data, estimate, features, integrals)
            columns, lengths = problem.columns[len(base) :], problem.lengths[len(base) :]
            basis = orthonormal(problem.columns[: len(base)])
            gains, weights = _explained(outside(columns, basis), outside(problem.target[None], basis)[0])
            for place in _peaks(gains):
                sine, cosine = weights[place] / lengths[2 * place : 2 * place + 2]
                angle = [(ADD, 0.0), (CONST, float(np.arctan2(cosine, sine)))]
                angle += _angle(time, float(frequencies[place]))
                found.append(_feature(factor, [(SIN, 0.0), *angle]))
    return found


def _frequencies(data: Observations, span: float) -> Floats:
    """All that the data can show; span: the time from the first to the last of them, as equations read it."""
    steps = max(last - first for first, last in data.spans()) - 1
    radians = np.arange(SLOWEST, 2.0 * np.pi * steps / POINTS, STEP)[:MOST]
    return np.asarray(radians / span)


def _angle(time: int, frequency: float) -> Draft:
    return [(MUL, 0.0), (CONST, frequency), (VAR, float(time))]


def _feature(factor: int | None, wave: Draft) -> Feature:
    draft = wave if factor is None else product([[(VAR, float(factor))], wave])
    return Feature(tuple(draft), "trigonometric")


def _explained(columns: Floats, target: Floats) -> tuple[Floats, Floats]:
    """How much of the target pairs of neighbouring columns explain, and their coefficients (pairs, 2)."""
    pairs = columns.reshape(-1, 2, columns.shape[1])
    along = pairs @ target
    squares = np.einsum("kin,kjn->kij", pairs, pairs) + 1e-9 * np.eye(2)
    weights = np.linalg.solve(squares, along[:, :, None])[:, :, 0]
    return (weights * along).sum(axis=1), weights


def _peaks(gains: Floats) -> Sequence[int]:
    """The places of the largest values that are larger than their neighbours."""
    around = np.concatenate([[-np.inf], gains, [-np.inf]])
    peaks = np.flatnonzero((gains >= around[:-2]) & (gains >= around[2:]) & np.isfinite(gains))
    return [int(place) for place in peaks[np.argsort(-gains[peaks], kind="stable")][:PEAKS]]
