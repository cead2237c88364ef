"""PySR: genetic programming with simulated annealing (package pysr, which needs Julia).

Operators and iterations are those of the paper's code (`niterations` 50), the rest PySR's defaults, in one
process and deterministic.  PySR fetches Julia at its first import; if it cannot, the fit says so.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from odefinder.bench.methods.grid import DERIVATIVES, Front, search_equations
from odefinder.bench.methods.method import Floats, Method, load_compiled
from odefinder.bench.methods.quiet import quiet
from odefinder.errors import ExpressionError, NoSystemError
from odefinder.expressions.parse import parse
from odefinder.expressions.program import Program

INSTALL = "pip install pysr, then run `python -c 'import pysr'` once with network access: it fetches Julia"
SETTINGS: dict[str, Any] = {
    "niterations": 50,
    "binary_operators": ["+", "-", "*", "/", "^"],
    "unary_operators": ["cos", "exp", "sin", "neg", "log", "sqrt"],
    "elementwise_loss": "loss(x, y) = (x - y)^2",
}
# What PySR writes differently from what we read: the text around the argument.
REWRITTEN = {"neg": "(-{})", "inv": "(1/{})", "square": "({}^2)", "cube": "({}^3)"}


class JuliaError(NoSystemError):
    """PySR is installed, but cannot start Julia."""


def regressor(**settings: Any) -> Any:
    """PySR's regressor, or an error that says what is missing."""
    try:
        with quiet():
            from pysr import PySRRegressor

            return PySRRegressor(**settings)
    except Exception as error:  # whatever juliacall and juliapkg raise without Julia
        raise JuliaError(f"PySR could not start: {error}; {INSTALL}") from error


def front(equations: Any, names: list[str], spread: float = 1.0) -> list[tuple[float, Program]]:
    """Errors and programs of a table with the columns `equation` and `loss`, as in `equations_`.

    spread: the variance of the target, by which the losses are divided.
    """
    result = []
    for text, loss in zip(equations["equation"], equations["loss"], strict=True):
        if np.isfinite(loss):
            try:
                result.append((float(loss) / (spread or 1.0), formula(str(text), names)))
            except ExpressionError:
                continue
    return result


def formula(text: str, names: list[str]) -> Program:
    """The program of a formula as PySR writes it."""
    while match := re.search(rf"\b({'|'.join(REWRITTEN)})\(", text):
        opening = match.end() - 1
        depth, closing = 0, opening
        for closing in range(opening, len(text)):
            depth += {"(": 1, ")": -1}.get(text[closing], 0)
            if depth == 0:
                break
        inside = REWRITTEN[match[1]].format(text[opening : closing + 1])
        text = text[: match.start()] + inside + text[closing + 1 :]
    return parse(text, names)


def fit(t: Floats, x: Floats, seed: int) -> Program:
    """The best combination of equations after the search over finite differences."""
    names = [f"x{d}" for d in range(x.shape[1])]
    how_to_run = {
        "parallelism": "serial",
        "deterministic": True,
        "random_state": seed,
        "progress": False,
        "verbosity": 0,
        "temp_equation_file": True,
    }
    model = regressor(**SETTINGS, **how_to_run)  # before the search, which skips settings that fail

    def fronts(states: Floats, slopes: Floats, last: bool) -> list[Front]:
        try:
            with quiet():
                model.fit(states, slopes, variable_names=names)
        except (ValueError, ArithmeticError) as error:
            raise NoSystemError(f"PySR failed: {error}") from error
        tables = model.equations_ if isinstance(model.equations_, list) else [model.equations_]
        spreads = slopes.var(axis=0)
        return [front(table, names, spread) for table, spread in zip(tables, spreads, strict=True)]

    return search_equations(fronts, t, x)


METHODS = (
    Method(
        "pysr",
        "PySR",
        fit,
        needs=("pysr",),
        prepare=load_compiled,
        install=INSTALL,
        settings={**SETTINGS, "finite differences (order, window)": DERIVATIVES},
    ),
)
