"""Operon: genetic programming with fitted constants, one equation at a time (package pyoperon).

It is not in the paper.  There are two objectives, accuracy and length, so that every run ends with a front.
The search over finite differences spends a sixth of the evaluations on each of its six settings; the chosen
one gets all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from odefinder.bench.methods.grid import DERIVATIVES, Front, search_equations, unexplained
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.bench.methods.quiet import quiet
from odefinder.errors import ExpressionError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, Draft
from odefinder.expressions.program import ADD, Program, concatenate
from odefinder.numerics.evaluate import evaluate

EVALUATIONS = 300_000  # per equation, including those for fitting constants
SETTINGS: dict[str, Any] = {
    "allowed_symbols": "add,sub,mul,div,exp,log,sqrt,square,sin,cos,constant,variable",
    "objectives": ["r2", "length"],
    "population_size": 500,
    "max_length": 30,
    "optimizer_iterations": 3,
}


def front(
    x: Floats, target: Floats, seed: int, evaluations: int = EVALUATIONS
) -> list[tuple[float, Program]]:
    """The equations of one component that no shorter one beats, with the share of variance they leave."""
    if np.ptp(target) <= 1e-12 * np.abs(target).max():
        return [(0.0, drafts.finished(drafts.number(float(target.mean()))))]
    from pyoperon.sklearn import SymbolicRegressor

    # Operon computes in single precision, so variables and target are scaled to size 1.
    sizes, size = _size(x), float(_size(target[:, None])[0])
    regressor = SymbolicRegressor(
        **SETTINGS,
        generations=10_000,
        max_evaluations=evaluations,
        n_threads=1,
        random_state=seed,
    )
    with quiet():
        regressor.fit(x / sizes, target / size)
    names = list(regressor.variables_)
    result = []
    for entry in regressor.pareto_front_:
        try:
            draft = equation(entry["tree"].Nodes, names, sizes)
            program = drafts.finished(drafts.times(drafts.number(size), draft))
        except ExpressionError:
            continue
        rest = [drafts.finished(drafts.number(0.0))] * (x.shape[1] - 1)
        error = unexplained(target, evaluate(concatenate([program, *rest]), x)[:, 0])
        if np.isfinite(error):
            result.append((error, program))
    return result


def _size(x: Floats) -> Floats:
    size = np.abs(x).max(axis=0)
    return np.where(size > 0.0, size, 1.0)


def equation(nodes: Sequence[Any], names: Sequence[int], sizes: Sequence[float] | Floats) -> Draft:
    """The draft of a tree of Operon.

    nodes: in postfix order, in which the last argument is the first operand; names: the hash of each
    variable; sizes: what each variable was divided by.
    """
    stack: list[Draft] = []
    for node in nodes:
        if node.IsVariable:
            index = names.index(node.HashValue)
            stack.append(
                drafts.times(drafts.number(node.Value / float(sizes[index])), drafts.variable(index))
            )
        elif node.IsConstant:
            stack.append(drafts.number(node.Value))
        else:
            stack.append(_applied(node.Type.name, [stack.pop() for _ in range(node.Arity)]))
    return stack.pop()


def _applied(name: str, arguments: list[Draft]) -> Draft:
    first, rest = arguments[0], arguments[1:]
    if name in ("Sub", "Div") and not rest:
        return drafts.negative(first) if name == "Sub" else drafts.divide(drafts.number(1.0), first)
    for argument in rest:
        if name in ("Add", "Sub"):
            first = drafts.apply(ADD, first, argument if name == "Add" else drafts.negative(argument))
        elif name in ("Mul", "Div"):
            first = (drafts.times if name == "Mul" else drafts.divide)(first, argument)
        else:
            raise ExpressionError(f"the operator {name!r} of Operon has no counterpart here")
    if rest or name in ("Add", "Mul"):
        return first
    if name == "Square":
        return drafts.power(first, drafts.number(2.0))
    return FUNCTIONS[name.lower()](first)


def fit(t: Floats, x: Floats, seed: int) -> Program:
    """The best combination of equations after the search over finite differences."""

    def fronts(states: Floats, slopes: Floats, last: bool) -> list[Front]:
        evaluations = EVALUATIONS if last else EVALUATIONS // len(DERIVATIVES)
        return [front(states, slopes[:, d], seed, evaluations) for d in range(slopes.shape[1])]

    return search_equations(fronts, t, x)


METHODS = (
    Method(
        "operon",
        "Operon",
        fit,
        needs=("pyoperon",),
        prepare=load_compiled,
        install="pip install 'odefinder[bench]'",
        settings={**SETTINGS, "evaluations": EVALUATIONS, "finite differences (order, window)": DERIVATIVES},
    ),
)
