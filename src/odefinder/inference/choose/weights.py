"""How far a result may be trusted: the weights that users see.

The weight of the first system is the chance that it predicts trajectories from elsewhere (R2 > 0.9); those
of the others stand to it as their posteriors do.  They need not sum to 1: several systems may predict the
same, or none of them may be right.

The posterior compares candidates with each other, and a pool in which all are wrong has a best one, too.
So the chance is a logistic function of what is known without the truth: whether the plausible candidates
agree with the first about trajectories from elsewhere (from half and twice the initial values, and from other
places in the range of the data, whichever they agree less about), whether it leaves more than the noise,
whether it explains data without noise exactly, and whether the data are one trajectory of one variable, which
shows nothing of what lies beyond its two ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats

# Fitted by logistic regression to 320 fits of synthetic (161) and textbook systems (159), clean and with both
# kinds of noise (`benchmarks/weights.py --fit`), when the network began to judge outlines.  Exactness has
# more than the fitted 1.05: of 195 exact first systems of these and earlier fits, 194 were right.
# How familiar a structure is was a feature until then; it says nothing more.
SPREAD = 4.0  # nats: likelihoods of candidates count with this temperature
BASE = 0.56
FACTORS = (0.67, -2.78, 2.0, -1.27)  # of agreement, excess, exactness, one path
FINEST, COARSEST = 1e-13, 1e-10  # mean squared scaled residuals of true systems, and of approximations
ROUNDED, SHORTEST = 3.0, 0.1  # times what rounding leaves is exact; if that is this near, nothing can be told
LEAST = 0.02  # agreement and disagreement below this share count as this much
EARLY = 0.5  # the largest weight if the time ended before the search did
ALIKE = 0.9  # R2 above which two trajectories count as the same


def relative_weights(criteria: Floats) -> Floats:
    """How plausible candidates are relative to each other, summing to 1."""
    relative = np.exp(-(criteria - criteria.min()) / SPREAD)
    return relative / relative.sum()


def agreement(paths: Sequence[Floats], shares: Floats) -> float:
    """The share of the candidates whose trajectories from elsewhere are those of the first.

    paths: of each candidate (trajectories, points, D), NaN where it runs away; shares (candidates,) sum to 1.
    """
    first = paths[0]
    spread = ((first - first.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    total = 0.0
    for path, share in zip(paths, shares, strict=True):
        left = ((path - first) ** 2).sum(axis=(1, 2))
        total += float(share) * float(np.mean(left <= (1.0 - ALIKE) * spread))  # NaN: does not agree
    return total


def exactness(error: float, resolution: float) -> float:
    """From 0, an approximation of data without noise, to 1, an exact system; 0 where the data cannot tell.

    error: the mean squared scaled residual; resolution: what the rounding of the data leaves of it.
    """
    finest = max(FINEST, ROUNDED * resolution)
    if finest > SHORTEST * COARSEST or not error < COARSEST:
        return 0.0
    return min(float(np.log(COARSEST / max(error, 1e-300)) / np.log(COARSEST / finest)), 1.0)


def evidence(agreed: float, excess: float, exact: float, one_path: bool) -> Floats:
    """What the weight of the first system depends on: the features of the logistic regression."""
    agreed = float(np.clip(agreed, LEAST, 1.0 - LEAST))
    return np.array([np.log(agreed / (1.0 - agreed)), np.tanh(max(excess, 0.0)), exact, float(one_path)])


def weights(
    criteria: Floats,
    paths: Sequence[Floats],
    excess: float,
    inside: Sequence[Floats] | None = None,
    *,
    exact: float = 0.0,
    one_path: bool = False,
    early: bool = False,
) -> Floats:
    """The weights of candidates, best criterion first; paths: see `agreement`.

    excess: the logarithm of what the first system leaves, relative to what the true one would leave.
    inside: more paths, of the first candidates, which begin inside the range of the data.  exact: see
    `exactness`.  one_path: whether the data are a single trajectory of a single variable.  early: whether
    time ended the search.
    """
    shares = relative_weights(criteria)
    agreed = agreement(paths, shares)
    if inside:
        own = shares[: len(inside)]
        agreed = min(agreed, agreement(inside, own / own.sum()))
    chance = BASE + np.dot(FACTORS, evidence(agreed, excess, exact, one_path))
    first = 1.0 / (1.0 + np.exp(-chance))
    if exact == 1.0:  # the truth is exact, too: it may be one of the others that do not agree
        first = min(first, max(agreed, float(shares[0])))
    if early:
        first = min(first, EARLY)
    return first * shares / shares[0]
