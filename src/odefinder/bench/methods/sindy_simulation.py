"""SINDy chosen by simulation: the strongest simple baseline that we know of; not in the paper.

It uses libraries up to degree 4, derivatives from splines (our own state estimate: through the points if the
data look clean, smoothed if they look noisy) and seven thresholds; of all candidates it takes the one whose
simulated trajectory explains the data best for its size.  Measured on ODEBench, reconstruction /
generalization in %, clean and at sigma .05, rho .5: chosen by the trajectory's R2 alone 92.1 / 60.3 and
65.9 / 21.4; by the BIC 92.1 / 60.3 and 69.8 / 28.6; with sines and cosines in the libraries as well
92.1 / 65.1 and 72.2 / 28.6.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from odefinder.bench.methods.derivatives import check
from odefinder.bench.methods.grid import observed_r2
from odefinder.bench.methods.library import TermLibrary
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.bench.methods.quiet import quiet
from odefinder.bench.methods.sindy import threshold_regression
from odefinder.data.observations import Observations
from odefinder.errors import NoSystemError
from odefinder.expressions.program import Program
from odefinder.inference.fit.states import StateEstimate, estimate_states

TRIGONOMETRIC = ("sin", "cos")
LIBRARIES = (*((degree, ()) for degree in (1, 2, 3, 4)), *((degree, TRIGONOMETRIC) for degree in (1, 2, 3)))
THRESHOLDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4)  # of a term's length, relative to the derivative's
ALPHA = 1e-8  # for columns of unit length
FLOOR = 1e-6  # unexplained share of the variance below which trajectories count as equal


def fit(t: Floats, x: Floats, seed: int) -> Program:
    """The candidate with the smallest BIC, simulated from the estimated initial value."""
    check(t, x)
    with quiet():
        estimate = estimate_states(Observations.joined([t], [x]))
        candidates = dict.fromkeys(_candidates(estimate))
    seen = np.concatenate([estimate.starts, x[1:]])
    if not candidates:
        raise NoSystemError("no sparse model could be fitted to this trajectory")
    return min(candidates, key=lambda program: _information(program, t, seen))


def _candidates(estimate: StateEstimate) -> Iterator[Program]:
    count, dimension = estimate.states.shape
    length = np.linalg.norm(estimate.derivatives, axis=0)
    length[length == 0.0] = 1.0
    for degree, functions in LIBRARIES:
        library = TermLibrary(dimension, degree, functions)
        if library.size > count and degree > 1:
            continue
        columns = library.columns(estimate.states)
        for threshold in THRESHOLDS:
            try:
                found = threshold_regression(
                    columns, estimate.derivatives / length, threshold, ALPHA, normalize_columns=True
                )
                yield library.system(found * length[:, None])
            except NoSystemError:
                continue


def _information(program: Program, t: Floats, x: Floats) -> float:
    """The Bayesian information criterion of the simulated trajectory; a node costs half a constant."""
    rest = 1.0 - observed_r2(program, t, x)
    size = len(program.constants) + len(program) / 2
    return x.size * np.log(rest + FLOOR) + size * np.log(x.size)


METHODS = (
    Method(
        "sindy-simulation",
        "SINDy (simulation)",
        fit,
        needs=("pysindy",),
        prepare=load_compiled,
        install="pip install 'odefinder[bench]'",
        settings={"libraries (degree, functions)": LIBRARIES, "thresholds": THRESHOLDS, "alpha": ALPHA},
    ),
)
