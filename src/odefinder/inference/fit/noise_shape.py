"""How the noise of one variable depends on its value: variances (1 - s) + s x^2 / mean(x^2) up to a factor.

What a smooth curve leaves would not do: where values are small and precise, most of that is the curve's own
error.  So a point is compared with its neighbours, which predict it well where the data are dense.  Where
they are not, the noise counts as the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odefinder.data.observations import Floats
from odefinder.inference.fit.interpolation import Known, known_windows

ORDER = 3  # of the polynomials through a point's neighbours
SHARES = (0.5, 0.9, 0.99, 0.999)  # s: of the mean variance, what may be relative to the value
CLEARLY = 3.0  # nats by which one of these must be likelier than the same noise everywhere
MISSED = 3.0  # times the variance of the noise: where neighbours miss points by more, they miss the signal


def relative_variances(
    times: Sequence[Floats],
    values: Sequence[Floats],
    states: Sequence[Floats],
    noise: float,
    known: Known | None = None,
) -> list[Floats]:
    """The variance of each observation, relative to their mean, for each trajectory.

    states: a smooth curve at the same times.  noise: the standard deviation of the observations.  known: see
    `error_by_order`.
    """
    known = {} if known is None else known
    even = [np.ones(len(t)) for t in times]
    size = float(np.mean(np.concatenate(states) ** 2)) if sum(map(len, states)) else 0.0
    windows = [known_windows(t, ORDER, known) if len(t) >= ORDER + 3 else None for t in times]
    if not size > 0.0 or all(window is None for window in windows):
        return even
    errors = np.concatenate([w.errors(x) for w, x in zip(windows, values, strict=True) if w is not None])
    if np.mean(errors**2) > MISSED * noise**2:
        return even

    def log_likelihood(variances: list[Floats]) -> float:
        """With the most likely mean variance."""
        own = np.concatenate([w.mixed(v) for w, v in zip(windows, variances, strict=True) if w is not None])
        level = float(np.mean(errors**2 / own))
        return -0.5 * (len(errors) * float(np.log(level + 1e-300)) + float(np.log(own).sum()))

    shapes = [[(1.0 - share) + share * x**2 / size for x in states] for share in SHARES]
    likely = [log_likelihood(one) for one in shapes]
    return shapes[int(np.argmax(likely))] if max(likely) > log_likelihood(even) + CLEARLY else even
