"""AFP, FE-AFP, EHC and EPLEX: genetic programming on finite differences, one run for each component.

The paper runs the package `ellyn`, which is not on the package index; these are our own implementations on
our own compiled interpreter (see `bench/genetic/`), with the paper's settings: populations and generations,
operators with and without waves, orders of the differences and smoothing, chosen by the 70/30 search; then
the Cartesian product of the components' fronts, and the choice by accuracy on the observed data.

One saving is ours: in the search each of the 36 combinations gets `SEARCH_SHARE` of its generations, and only
the best one runs in full, on the whole trajectory.  `genetic_method(name, search_share=1.0)` is the paper's
full search, at about fifteen times the cost.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from odefinder.bench.genetic import Algorithm, Evolution, evolve
from odefinder.bench.methods.derivatives import derivatives
from odefinder.bench.methods.grid import DERIVATIVES, cartesian, search
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.expressions.program import Program

Sizes = tuple[tuple[int, int], ...]  # populations and generations

SEARCH_SHARE = 0.03  # of the generations, for each combination in the search
SEARCH_COMBINATIONS, COMBINATIONS = 50, 1000  # of equations that are integrated, in the search and at the end
SIZES: Sizes = ((100, 2500), (500, 500), (1000, 250))  # population, generations
EHC_SIZES: Sizes = ((100, 1000), (500, 200), (1000, 100))
OPERATORS = "+ - * / exp log 2 3 sqrt"
TITLES: dict[Algorithm, str] = {"afp": "AFP", "fe-afp": "FE-AFP", "ehc": "EHC", "eplex": "EPLEX"}

Setting = tuple[int, int | None, Evolution]  # order, window, how to evolve


def genetic_method(name: Algorithm, search_share: float = SEARCH_SHARE, sizes: Sizes | None = None) -> Method:
    """One of the four.

    search_share: share of the generations that the search spends on each combination.  sizes: populations and
    generations to choose from, by default the paper's.
    """
    sizes = sizes or (EHC_SIZES if name == "ehc" else SIZES)
    return Method(
        name,
        TITLES[name],
        partial(_fit, name, sizes, search_share),
        prepare=partial(_prepare, name),
        settings={
            "population, generations": sizes,
            "operators": (OPERATORS, f"{OPERATORS} sin cos"),
            "order, window": DERIVATIVES,
            "share of the generations in the search": search_share,
            "combinations of equations": COMBINATIONS,
        },
    )


def _prepare(name: Algorithm) -> None:
    """Compile, once for all fits."""
    load_compiled()
    x = np.linspace(0.1, 1.0, 12)[:, None]
    evolve(x, x[:, 0] ** 2, Evolution(name, 20, 2, True), seed=0)


def _fit(name: Algorithm, sizes: Sizes, search_share: float, t: Floats, x: Floats, seed: int) -> Program:
    settings: list[Setting] = [
        (order, window, Evolution(name, population, generations, waves))
        for waves, (order, window), (population, generations) in product((False, True), DERIVATIVES, sizes)
    ]
    return search(
        settings,
        partial(_system, share=search_share, count=SEARCH_COMBINATIONS, seed=seed),
        t,
        x,
        refit=partial(_system, share=1.0, count=COMBINATIONS, seed=seed),
    )


def _system(t: Floats, x: Floats, setting: Setting, *, share: float, count: int, seed: int) -> Program:
    """The system of the best equations that one setting finds."""
    order, window, how = setting
    states, slopes = derivatives(t, x, order, window)
    fronts = []
    for component in range(x.shape[1]):
        target = slopes[:, component]
        with np.errstate(over="ignore"):
            spread = float(target.var()) + 1e-300
        # Every component has its own stream, the same in every setting.
        front = evolve(states, target, how.shortened(share), seed=1000 * seed + component)
        fronts.append([(member.error / spread, member.program) for member in front])
    return cartesian(fronts, t, x, count)


METHODS = tuple(genetic_method(name) for name in TITLES)
