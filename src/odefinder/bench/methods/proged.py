"""ProGED: systems drawn from probabilistic grammars, their constants fitted on the integrated trajectory.

The package is not on the package index; this is our own implementation of the published idea (see
`bench/grammars.py`).  As in the paper, the grammar is chosen by the 70/30 search, and a system is drawn as a
whole: one equation for each variable.  The paper's code draws 32 systems of each grammar and fits them by
differential evolution.  Ours draws `SAMPLES` distinct ones, screens them by fits in integral form, which
solve no ODE and serve as starting values, and fits the constants of the best `FITTED` on the trajectory, from
its first observed state on, by Levenberg-Marquardt.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import partial
from heapq import nsmallest

import numpy as np

from odefinder.bench.grammars import GRAMMARS, sample_equation
from odefinder.bench.methods.grid import most_accurate, search
from odefinder.bench.methods.method import Floats, Method
from odefinder.data.observations import Observations
from odefinder.data.units import fit_scaling
from odefinder.errors import ExpressionError, NoSystemError
from odefinder.expressions.canonical import canonical, structure
from odefinder.expressions.program import Program, concatenate
from odefinder.inference.fit.integral import match_component
from odefinder.inference.fit.refine import fit_constants
from odefinder.inference.fit.states import StateEstimate, estimate_states
from odefinder.inference.warmup import prepare as compile_search

SAMPLES, FITTED = 500, 32  # systems per grammar
REPEATS = 100  # draws without a new system after which a grammar counts as exhausted, as in the paper

Equation = tuple[float, Program]  # error in integral form, and the fitted equation


def proged_method(samples: int = SAMPLES, fitted: int = FITTED) -> Method:
    """samples: systems drawn from each grammar; fitted: how many of them are fitted on the trajectory."""
    return Method(
        "proged",
        "ProGED",
        partial(_fit, samples, fitted),
        prepare=compile_search,
        settings={"grammars": tuple(GRAMMARS), "samples": samples, "fitted": fitted},
    )


def _fit(samples: int, fitted: int, t: Floats, x: Floats, seed: int) -> Program:
    return search(tuple(GRAMMARS), partial(_system, samples=samples, fitted=fitted, seed=seed), t, x)


def _system(t: Floats, x: Floats, grammar: str, *, samples: int, fitted: int, seed: int) -> Program:
    """The best system of one grammar; the fits are done in canonical units, in which numbers are near 1."""
    scaling = fit_scaling([t], [x])
    data = Observations.joined([scaling.times(t)], [scaling.states(x)])
    rng = np.random.default_rng([seed, zlib.crc32(grammar.encode())])
    estimate = estimate_states(data)
    originals = []
    for start in _screened(grammar, data, estimate, samples, fitted, rng):
        fit = fit_constants(start, data)
        if np.isfinite(fit.error):
            with suppress(ExpressionError):  # constants that are not finite in the user's units
                originals.append(scaling.to_original(fit.program))
    if not originals:
        raise NoSystemError(f"no system of the {grammar} grammar could be integrated")
    return most_accurate(originals, t, x)


def _screened(
    grammar: str, data: Observations, estimate: StateEstimate, samples: int, fitted: int,
    rng: np.random.Generator,
) -> list[Program]:  # fmt: skip
    """The systems, among distinct samples, whose equations fit best in integral form."""
    known: list[dict[bytes, Equation]] = [{} for _ in range(data.dimension)]
    systems: dict[tuple[bytes, ...], float] = {}
    repeated = 0
    while len(systems) < samples and repeated < REPEATS:
        repeated += 1
        keys = []
        for component, equations in enumerate(known):
            try:
                equation = canonical(sample_equation(GRAMMARS[grammar], data.dimension, rng), explicit=True)
            except ExpressionError:  # such as 1 / 0
                break
            key = structure(equation)
            if key not in equations:
                fit = match_component(equation, component, data, estimate)
                equations[key] = fit.error, fit.program
            keys.append(key)
        if len(keys) == data.dimension and tuple(keys) not in systems:
            repeated = 0
            systems[tuple(keys)] = sum(equations[key][0] for equations, key in zip(known, keys, strict=True))
    finite = [keys for keys, error in systems.items() if np.isfinite(error)]
    return [
        concatenate([equations[key][1] for equations, key in zip(known, keys, strict=True)])
        for keys in nsmallest(fitted, finite, key=systems.__getitem__)
    ]


METHODS = (proged_method(),)
