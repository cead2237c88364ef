"""SINDy: sparse linear regression of derivatives on a library of terms (pysindy), with the paper's search.

The grid is the paper's without what cannot matter: libraries with more terms than points to fit them to (with
105 points: above degree 6 in 3-D and 4 in 4-D), libraries that are not defined on the data (logarithms of
negative values), and 100 iterations where 20 were enough to converge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from odefinder.bench.methods.derivatives import derivatives
from odefinder.bench.methods.grid import DERIVATIVES, search
from odefinder.bench.methods.library import TermLibrary
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.bench.methods.quiet import quiet
from odefinder.errors import NoSystemError
from odefinder.expressions.program import Program

DEGREES = tuple(range(1, 11))
POLYNOMIALS: tuple[str, ...] = ()
ENTIRE = ("sin", "cos", "exp")
ALL = (*ENTIRE, "log", "sqrt", "inv")
THRESHOLDS = (0.05, 0.1, 0.15)
ALPHAS = (0.025, 0.05, 0.075)
ITERATIONS = (20, 100)

Basis = tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """One combination of hyper-parameters."""

    degree: int
    functions: Basis
    order: int
    window: int | None
    threshold: float
    alpha: float


def settings(bases: tuple[Basis, ...]) -> list[Setting]:
    """All combinations, small libraries first."""
    grid = product(DEGREES, bases, DERIVATIVES, THRESHOLDS, ALPHAS)
    return [Setting(degree, basis, *how, *rest) for degree, basis, how, *rest in grid]


def threshold_regression(
    columns: Floats, target: Floats, threshold: float, alpha: float, **how: Any
) -> Floats:
    """Coefficients (D, P) by pysindy's sequentially thresholded ridge regression, refitted without alpha."""
    optimizer = _optimizer()
    for iterations in ITERATIONS:
        fitted = optimizer(threshold=threshold, alpha=alpha, max_iter=iterations, **how)
        try:
            with quiet():
                fitted.fit(columns, target)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise NoSystemError(f"the sparse regression failed: {error}") from None
        if len(fitted.history_) <= iterations:  # it also holds the start
            break
    return np.asarray(fitted.coef_)


@lru_cache(maxsize=1)
def _optimizer() -> type:
    """pysindy's STLSQ with ridge regressions solved directly: scikit-learn's checks cost ten times more."""
    from pysindy.optimizers import STLSQ
    from scipy.linalg import solve

    class DirectSTLSQ(STLSQ):
        def _regress(self, x: Any, y: Any, dim: int, sparse_sub: Any) -> Any:
            gram = x.T @ x
            gram[np.diag_indices_from(gram)] += self.alpha
            try:
                coefficients = solve(gram, x.T @ y, assume_a="pos")
            except np.linalg.LinAlgError:
                return super()._regress(x, y, dim, sparse_sub)
            self.iters += 1
            return coefficients

    return DirectSTLSQ


def fit(t: Floats, x: Floats, seed: int, *, bases: tuple[Basis, ...]) -> Program:
    """The system of the best combination of hyper-parameters."""

    @lru_cache(maxsize=16)
    def differentiated(count: int, order: int, window: int | None) -> tuple[Floats, Floats]:
        return derivatives(t[:count], x[:count], order, window)

    @lru_cache(maxsize=len(bases) * len(DERIVATIVES))
    def columns(count: int, library: TermLibrary, order: int, window: int | None) -> Floats:
        return library.columns(differentiated(count, order, window)[0])

    def fit_one(times: Floats, states: Floats, setting: Setting) -> Program:
        count, how = len(times), (setting.order, setting.window)
        library = TermLibrary(x.shape[1], setting.degree, setting.functions)
        if library.size > count and setting.degree > 1:
            raise NoSystemError("the library has more terms than there are points")
        target = differentiated(count, *how)[1]
        found = threshold_regression(columns(count, library, *how), target, setting.threshold, setting.alpha)
        return library.system(found)

    return search(settings(bases), fit_one, t, x)


def _method(name: str, title: str, *bases: Basis) -> Method:
    return Method(
        name,
        title,
        partial(fit, bases=bases),
        needs=("pysindy",),
        prepare=load_compiled,
        install="pip install 'odefinder[bench]'",
        settings={
            "degrees": "1-10, no more terms than points",
            "bases": [["polynomials", *basis] for basis in bases],
            "thresholds": THRESHOLDS,
            "alphas": ALPHAS,
            "iterations": ITERATIONS,
            "finite differences (order, window)": DERIVATIVES,
        },
    )


METHODS = (
    _method("sindy", "SINDy", POLYNOMIALS, ENTIRE, ALL),
    _method("sindy-poly", "SINDy (poly)", POLYNOMIALS),
    _method("sindy-esc", "SINDy (esc)", POLYNOMIALS, ENTIRE),
)
