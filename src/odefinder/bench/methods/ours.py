"""Our own method: all of it, with only one of its two sources, and its first stage alone.

`odefinder-decode` is what the paper calls ODEFormer (the sample of the network with the best R2 on the
observed data, from the first observed point), `odefinder-opt` its "ODEFormer (opt)": the constants of that
one system are then fitted by BFGS; both draw as many samples as the paper does.  `odefinder-decode-N` draws
N, for the figure of ablations.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from odefinder.bench.methods.method import Floats, Method
from odefinder.expressions.program import Program

BUDGET = 20.0  # seconds
SAMPLES, TEMPERATURE = 50, 0.7  # when the network works alone
FEWER_OR_MORE = (1, 5, 10, 100)


def prepare() -> None:
    """Import and compile, once for all fits.  Each fit loads the network: its threads survive no fork."""
    from odefinder.inference.warmup import prepare as compile_all

    compile_all()


def fit_full(t: Floats, x: Floats, seed: int, *, network: bool = True, sparse: bool = True) -> Program:
    """Default settings with a larger time budget, which is seldom used up, so results do not depend on it."""
    from odefinder.data import from_arrays
    from odefinder.inference.find import find
    from odefinder.inference.propose.decode import Decoding
    from odefinder.inference.settings import FindSettings

    how = FindSettings(time_budget=BUDGET, decoding=Decoding(seed=seed), network=network, sparse=sparse)
    return find(from_arrays(x, t), how).explanations[0].system.program


def fit_decoded(t: Floats, x: Floats, seed: int, samples: int = SAMPLES) -> Program:
    """The best sample of the network."""
    return _decoded(t, x, seed, samples, optimise=False)


def fit_optimised(t: Floats, x: Floats, seed: int) -> Program:
    """The best sample of the network, its constants fitted by BFGS."""
    return _decoded(t, x, seed, SAMPLES, optimise=True)


def _decoded(t: Floats, x: Floats, seed: int, samples: int, *, optimise: bool) -> Program:
    from odefinder.data import from_arrays
    from odefinder.errors import NoSystemError
    from odefinder.inference.fit.bfgs import fit_by_bfgs
    from odefinder.inference.propose.decode import Decoding, Reading, decode
    from odefinder.network.loading import load_runtime

    dataset = from_arrays(x, t)
    scaling = dataset.scaling()
    data = dataset.observations(scaling)
    proposals = decode(Reading.of(load_runtime(), data), Decoding(samples, TEMPERATURE, seed))
    programs = [proposal.form.program for proposal in proposals]
    scores = [_observed_r2(program, data.times, data.states) for program in programs]
    if not scores or max(scores) == -np.inf:
        raise NoSystemError(f"none of {len(scores)} decoded systems can be integrated")
    best = programs[int(np.argmax(scores))]
    if optimise:
        fitted = fit_by_bfgs(best, data).program
        if _observed_r2(fitted, data.times, data.states) >= max(scores):
            best = fitted
    return scaling.to_original(best)


def _observed_r2(program: Program, t: Floats, x: Floats) -> float:
    from odefinder.numerics.integrate import integrate
    from odefinder.numerics.r2 import variance_weighted_r2

    return variance_weighted_r2(x, integrate(program, x[0], t, rtol=1e-6, atol=1e-9, bound=1e4)[0])


_SAMPLES: dict[str, object] = {"samples": SAMPLES, "temperature": TEMPERATURE}
_FULL: dict[str, object] = {"samples": 50, "temperature": 1.0, "time_budget": BUDGET}
METHODS = (
    Method("odefinder", "odefinder", fit_full, settings=_FULL, prepare=prepare),
    Method(
        "odefinder-network",
        "odefinder (network only)",
        partial(fit_full, sparse=False),
        settings=_FULL,
        prepare=prepare,
    ),
    Method(
        "odefinder-sparse",
        "odefinder (no network)",
        partial(fit_full, network=False),
        settings={"time_budget": BUDGET},
        prepare=prepare,
    ),
    Method("odefinder-decode", "odefinder (decode only)", fit_decoded, settings=_SAMPLES, prepare=prepare),
    Method("odefinder-opt", "odefinder (opt)", fit_optimised, settings=_SAMPLES, prepare=prepare),
    *(
        Method(
            f"odefinder-decode-{samples}",
            f"odefinder (decode only, {samples} sample{'s' if samples > 1 else ''})",
            partial(fit_decoded, samples=samples),
            settings={**_SAMPLES, "samples": samples},
            prepare=prepare,
            listed=False,
        )
        for samples in FEWER_OR_MORE
    ),
)
