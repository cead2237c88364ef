"""FFX: elastic-net paths over a large set of bases, one equation at a time (package ffx).

The four approaches of FFX that need no hinge functions: products of variables, with and without |x| and
log10 x, with and without a denominator.  The authors of the paper drop models with hinges (max, min) only
after the search, when these have already crowded out others; here they are never built.  Three significant
digits for coefficients are FFX's own choice.
FFX limits the time of a regression by an alarm, so it runs only in the main thread of a process.
scikit-learn does not check the options of its thousands of regressions: that takes a sixth of the time, and
changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from odefinder.bench.methods.grid import DERIVATIVES, Front, search_equations, unexplained
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.bench.methods.quiet import quiet
from odefinder.errors import ExpressionError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, Draft
from odefinder.expressions.program import ADD, Program

APPROACHES = ((0, 0), (0, 1), (1, 0), (1, 1))  # denominator, |x| and log10 x


def front(x: Floats, target: Floats) -> list[tuple[float, Program]]:
    """Equations of one component that are better than all others with as few bases, simple ones first."""
    if np.ptp(target) <= 1e-12 * np.abs(target).max():
        return [(0.0, drafts.finished(drafts.number(float(target.mean()))))]
    from ffx.core import Approach, FFXBuildStrategy, FFXModelFactory
    from sklearn import config_context

    names = [f"x{d}" for d in range(x.shape[1])]
    models: list[Any] = []
    for denominator, functions in APPROACHES:
        strategy = FFXBuildStrategy(Approach(1, denominator, 0, functions, 0))
        try:
            with quiet(), config_context(skip_parameter_validation=True):
                models += FFXModelFactory().build(x, target, strategy, names)
        except (SystemExit, ArithmeticError, AssertionError, ValueError):  # it exits if a regression fails
            continue
    with quiet():
        scored = [(model.numBases(), unexplained(target, model.simulate(x)), model) for model in models]
    result: list[tuple[float, Program]] = []
    for _, error, model in sorted(scored, key=lambda entry: entry[:2]):
        if error < (result[-1][0] if result else np.inf):
            try:
                result.append((error, equation(model)))
            except ExpressionError:
                continue
    return result


def equation(model: Any) -> Program:
    """The program of a model of FFX."""
    if not hasattr(model, "bases_n"):  # a constant
        return drafts.finished(drafts.number(model.constant))
    offset, *coefficients = model.coefs_n
    draft = _sum(float(offset), coefficients, model.bases_n)
    if model.bases_d:
        draft = drafts.divide(draft, _sum(1.0, model.coefs_d, model.bases_d))
    return drafts.finished(draft)


def _sum(offset: float, coefficients: Iterable[float], bases: Iterable[Any]) -> Draft:
    total = drafts.number(offset) if offset else []
    for coefficient, base in zip(coefficients, bases, strict=True):
        part = drafts.times(drafts.number(float(coefficient)), _base(base))
        total = drafts.apply(ADD, total, part) if total else part
    return total or drafts.number(0.0)


def _base(base: Any) -> Draft:
    from ffx.core import OP_ABS, OP_LOG10, ProductBase, SimpleBase

    if isinstance(base, SimpleBase):
        return drafts.power(drafts.variable(base.var), drafts.number(base.exponent))
    if isinstance(base, ProductBase):
        return drafts.times(_base(base.base1), _base(base.base2))
    inner = _base(base.simple_base)
    if base.nonlin_op == OP_ABS:
        return FUNCTIONS["abs"](inner)
    if base.nonlin_op == OP_LOG10:
        return drafts.times(drafts.number(1.0 / math.log(10.0)), FUNCTIONS["log"](inner))
    raise ExpressionError(f"operator number {base.nonlin_op} of FFX has no counterpart here")


def fit(t: Floats, x: Floats, seed: int) -> Program:
    """The best combination of equations after the search over finite differences."""

    def fronts(states: Floats, slopes: Floats, last: bool) -> list[Front]:
        return [front(states, slopes[:, d]) for d in range(slopes.shape[1])]

    return search_equations(fronts, t, x)


METHODS = (
    Method(
        "ffx",
        "FFX",
        fit,
        needs=("ffx", "six"),
        prepare=load_compiled,
        install="pip install 'odefinder[bench]'",
        settings={
            "approaches (denominator, abs and log10)": APPROACHES,
            "finite differences (order, window)": DERIVATIVES,
        },
    ),
)
