"""Probabilistic context-free grammars of right-hand sides, and samples from them.

These are the five grammars of ProGED that the paper searches over (Brence, Todorovski and Dzeroski 2021; for
systems of ODEs Omejc and others 2023), written as rules in prefix order: an upper-case name is expanded
further, V is a variable, C a constant whose value is to be fitted, and the other words are operators of
`program.py`.  The shares are the published ones.  A difference is a sum whose second term has a constant of
its own, and the waves have constants for amplitude and frequency.
"""

from __future__ import annotations

import numpy as np

from odefinder.expressions.program import CONST, OPCODE_BY_NAME, VAR, Program, make_program

Rules = dict[str, tuple[tuple[float, str], ...]]  # name -> (share, words) of each production

MAX_NODES = 40  # of an equation; longer ones are drawn again
CONSTANT_SPREAD = 1.0  # standard deviation of the normal numbers with which fits of constants start

_MONOMIALS = {"T": ((0.4, "mul T V"), (0.6, "C"))}
_TERMS = {"R": ((0.6, "T"), (0.4, "mul C exp T"))}

GRAMMARS: dict[str, Rules] = {
    "polynomial": {"S": ((0.4, "add S R"), (0.6, "R")), **_TERMS, **_MONOMIALS},
    "simplerational": {
        "S": ((0.2, "mul P inv R"), (0.8, "P")),
        "P": ((0.4, "add P mul C R"), (0.3, "mul C R"), (0.3, "C")),
        "R": ((0.4, "exp mul C M"), (0.6, "M")),
        "M": ((0.4, "mul M V"), (0.6, "V")),
    },
    "rational": {
        "S": ((1.0, "mul E inv E"),),
        "E": ((0.4, "add E R"), (0.6, "R")),
        **_TERMS,
        **_MONOMIALS,
    },
    "trigonometric": {
        "S": ((0.8, "mul C W"), (0.2, "mul C H")),
        "W": ((0.4, "sin mul C V"), (0.4, "cos mul C V"), (0.2, "tan mul C V")),
        "H": ((0.8, "add mul C exp mul C V mul C exp mul C V"), (0.2, "tanh mul C V")),  # sinh and cosh
    },
    "universal": {
        "S": ((0.2, "add S F"), (0.2, "add S mul C F"), (0.6, "F")),
        "F": ((0.2, "mul F T"), (0.2, "mul F inv T"), (0.6, "T")),
        "T": ((0.2, "R"), (0.4, "C"), (0.4, "V")),
        "R": ((0.6, "S"), (0.1, "sin S"), (0.1, "cos S"), (0.1, "sqrt S"), (0.1, "exp S")),
    },
}


def sample_equation(rules: Rules, dimension: int, rng: np.random.Generator) -> Program:
    """A random equation in `dimension` variables, with random constants."""
    while True:
        equation = _expanded(rules, dimension, rng)
        if equation is not None:
            return equation


def _drawn(productions: tuple[tuple[float, str], ...], level: float) -> str:
    """The production at a level between 0 and 1 of the summed shares."""
    for share, words in productions:
        level -= share
        if level < 0.0:
            return words
    return productions[-1][1]


def _expanded(rules: Rules, dimension: int, rng: np.random.Generator) -> Program | None:
    """One expansion of S; None if it gets too long."""
    ops: list[int] = []
    values: list[float] = []
    waiting = ["S"]
    while waiting:
        word = waiting.pop()
        if word in rules:
            waiting.extend(reversed(_drawn(rules[word], rng.random()).split()))
        elif word == "V":
            ops.append(VAR)
            values.append(float(rng.integers(dimension)))
        elif word == "C":
            ops.append(CONST)
            values.append(CONSTANT_SPREAD * rng.normal())
        else:
            ops.append(OPCODE_BY_NAME[word])
            values.append(0.0)
        if len(ops) + len(waiting) > MAX_NODES:
            return None
    return make_program(ops, values)
