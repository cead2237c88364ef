"""The paper's generator (section 3), written plainly: Python, SymPy's lambdify and SciPy's solve_ivp.

It is the yardstick for `generation.py`, and shares no code with the package.  Steps that cost the authors
time but are not described in section 3 (simplification, tokens) are left out, which favours the yardstick.
"""

from __future__ import annotations

import math
import random
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp

MAX_DIMENSION, MAX_BINARY, MAX_UNARY, MAX_DEPTH = 6, 5, 3, 6
T_START, T_END = 1.0, 10.0
TIME_LIMIT = 1.0  # seconds of processor time for one integration
BOUND, STILL, DROP_STILL = 1e2, 1e-3, 0.9


@dataclass
class Node:
    """A node of an expression tree: an operator, or a variable's number."""

    name: str
    children: list[Node] = field(default_factory=list)

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children), default=-1)

    def nodes(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.nodes()


def catalan(n: int) -> int:
    """The number of binary trees with n inner nodes."""
    return math.comb(2 * n, n) // (n + 1)


def binary_tree(rng: random.Random, b: int, dimension: int) -> Node:
    """A tree with b binary operators, all shapes equally likely."""
    if b == 0:
        return Node(str(rng.randrange(dimension)))
    left = rng.choices(range(b), [catalan(k) * catalan(b - 1 - k) for k in range(b)])[0]
    operator = "add" if rng.random() < 0.75 else "mul"
    return Node(operator, [binary_tree(rng, left, dimension), binary_tree(rng, b - 1 - left, dimension)])


def random_tree(rng: random.Random, dimension: int) -> Node:
    """Steps 1 to 6 of section 3.  As in the authors' code u may be 0."""
    tree = binary_tree(rng, rng.randint(1, MAX_BINARY), dimension)
    for _ in range(rng.randint(0, MAX_UNARY)):
        node = rng.choice([n for n in tree.nodes() if n.depth() < MAX_DEPTH])
        node.children = [Node(node.name, node.children)]
        node.name = rng.choice(["sin", "inv", "square"])
    return tree


def constant(rng: random.Random) -> float:
    """Log-uniform on [0.05, 20], with either sign."""
    return rng.choice([-1.0, 1.0]) * math.exp(rng.uniform(math.log(0.05), math.log(20.0)))


def expression(rng: random.Random, node: Node, above: str, variables: list[sympy.Symbol]) -> Any:
    """Steps 7 and 8: a SymPy expression, each term with a coefficient, arguments of functions affine."""
    parts = [expression(rng, child, node.name, variables) for child in node.children]
    if node.name == "add":
        result = parts[0] + parts[1]
    elif node.name == "mul":
        result = parts[0] * parts[1]
    elif node.name == "sin":
        result = sympy.sin(parts[0])
    elif node.name == "inv":
        result = 1 / parts[0]
    elif node.name == "square":
        result = parts[0] ** 2
    else:
        result = variables[int(node.name)]
    if above in ("sin", "inv", "square"):
        return constant(rng) * result + constant(rng)
    if above == "add" and node.name != "add":
        return constant(rng) * result
    return result


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after this much processor time of this process."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def within_bound(_: float, x: np.ndarray) -> float:
    """Crosses zero where a variable exceeds the bound: an event of solve_ivp."""
    return float(BOUND - np.abs(x).max())


within_bound.terminal = True  # type: ignore[attr-defined]


def integrate(f: Any, x0: np.ndarray, t: np.ndarray, early_stop: bool) -> np.ndarray | None:
    """The trajectory (points, dimension), or None if it failed."""
    events = within_bound if early_stop else None
    try:
        with time_limit(TIME_LIMIT), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            solution = solve_ivp(
                lambda _, x: f(*x), (T_START, T_END), x0, t_eval=t, rtol=1e-3, atol=1e-6, events=events
            )
    except (TimeoutError, ArithmeticError, ValueError):
        return None
    return solution.y.T if solution.success and solution.y.shape[1] == len(t) else None


def draw(rng: random.Random, generator: np.random.Generator, dimension: int, early_stop: bool) -> Any:
    """One system with its corrupted trajectory, or None if it is rejected."""
    variables = list(sympy.symbols(f"x0:{dimension}"))
    system = [expression(rng, random_tree(rng, dimension), "add", variables) for _ in range(dimension)]
    f = sympy.lambdify(variables, system, modules="numpy")
    t = np.linspace(T_START, T_END, rng.randint(50, 200))
    x = integrate(f, generator.normal(size=dimension), t, early_stop)
    if x is None or not np.isfinite(x).all() or np.abs(x).max() > BOUND:
        return None
    if np.ptp(x[3 * len(t) // 4 :], axis=0).max() < STILL and rng.random() < DROP_STILL:
        return None
    noisy = x * (1.0 + generator.normal(scale=rng.uniform(0.0, 0.1), size=x.shape))
    kept = np.sort(generator.choice(len(t), len(t) - int(rng.uniform(0.0, 0.5) * len(t)), replace=False))
    return system, t[kept], noisy[kept]


def examples(seed: int, early_stop: bool) -> Iterator[int]:
    """Yields, after every draw, the dimension of an accepted example or 0 for a rejected system.

    The dimension is drawn first and kept until a system passes: uniform among what is accepted.
    `early_stop` ends an integration where the bound is exceeded.  The paper does not mention it; it changes
    no accepted example, and saves most of the time that goes into systems that are discarded afterwards.
    """
    rng, generator = random.Random(seed), np.random.default_rng(seed)
    while True:
        dimension = rng.randint(1, MAX_DIMENSION)
        while draw(rng, generator, dimension, early_stop) is None:
            yield 0
        yield dimension
