"""The paper's random trees."""

from collections import Counter

import numpy as np
import pytest

from odefinder.expressions.program import ADD, ARITY, CONST, MUL, N_OPCODES, TANH, VAR, Program, make_program
from odefinder.numerics.randomness import seed_stream
from odefinder.prior.constants import LARGEST, SMALLEST, coefficient, magnitude
from odefinder.prior.trees import (
    _WAYS,
    DEFAULT,
    MAX_BINARY,
    MAX_DEPTH,
    PAPER,
    TreeSettings,
    _binary_tree,
    _depths,
    _insert_unary,
    random_tree,
)
from tests.programs import Tree, nested, words

COUNT = 3000


def stream(seed: int = 0) -> np.ndarray:
    words = np.empty(4, np.uint64)
    seed_stream(words, seed, 0)
    return words


def draw(settings: TreeSettings, dimension: int, count: int = COUNT, seed: int = 0) -> list[Program]:
    s = stream(seed)
    scratch_ops, scratch_values = np.empty(64, np.int8), np.empty(64)
    ops, values = np.empty(192, np.int8), np.empty(192)
    found = []
    for _ in range(count):
        n = random_tree(s, settings, dimension, scratch_ops, scratch_values, ops, values)
        found.append(make_program(ops[:n], values[:n]))
    return found


@pytest.fixture(scope="module")
def paper() -> list[Program]:
    return draw(PAPER, 3)


def binary_trees(b: int, count: int, dimension: int = 1, add_share: float = 0.75) -> list[Program]:
    s = stream(1)
    ops, values = np.empty(64, np.int8), np.empty(64)
    found = []
    for _ in range(count):
        n = _binary_tree(s, b, add_share, dimension, ops, values)
        found.append(make_program(ops[:n], values[:n]))
    return found


# ------------------------------------------------------------------------------------------ shapes


def test_counts_of_completions_are_catalan_numbers():
    assert _WAYS[1].tolist() == [1, 1, 2, 5, 14, 42, 132, 429, 1430][: MAX_BINARY + 1]


@pytest.mark.parametrize(("b", "shapes", "limit"), [(1, 1, 0.1), (2, 2, 11), (3, 5, 19), (4, 14, 35)])
def test_all_binary_shapes_are_equally_likely(b: int, shapes: int, limit: float):
    trees = binary_trees(b, COUNT)
    assert all(len(tree) == 2 * b + 1 for tree in trees)
    counts = Counter((tree.ops == VAR).tobytes() for tree in trees)
    assert len(counts) == shapes
    expected = COUNT / shapes
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < limit  # chi-square, p = 1e-3


def test_three_of_four_binary_operators_are_additions():
    ops = np.concatenate([tree.ops for tree in binary_trees(5, COUNT)])
    inner = ops[ARITY[ops] == 2]
    assert abs((inner == ADD).mean() - 0.75) < 0.015
    assert set(inner.tolist()) == {ADD, MUL}


def test_leaves_are_uniform_over_the_variables():
    trees = binary_trees(3, COUNT, dimension=4)
    leaves = np.concatenate([tree.values[tree.ops == VAR] for tree in trees])
    counts = np.bincount(leaves.astype(int), minlength=4)
    assert len(counts) == 4
    assert ((counts - len(leaves) / 4) ** 2).sum() / (len(leaves) / 4) < 16.3  # 3 degrees: p = 1e-3


def inserted_at(ops: np.ndarray, count: int) -> Counter:
    """Where a tanh, the only unary operator with a weight, was put."""
    s, places = stream(), Counter()
    weights = (np.arange(N_OPCODES) == TANH).astype(float)
    for _ in range(count):
        new_ops, new_values = np.empty(len(ops) + 1, np.int8), np.zeros(len(ops) + 1)
        new_ops[:-1] = ops
        assert _insert_unary(s, weights, new_ops, new_values, len(ops)) == len(new_ops)
        (place,) = np.flatnonzero(new_ops == TANH)
        assert np.array_equal(np.delete(new_ops, place), ops)
        places[int(place)] += 1
    return places


def test_a_unary_operator_goes_above_any_node():
    places = inserted_at(words("add mul x0 x0 sin x1").ops, COUNT)
    assert sorted(places) == [0, 1, 2, 3, 4, 5]
    assert sum((n - COUNT / 6) ** 2 for n in places.values()) / (COUNT / 6) < 20.5  # 5 degrees: p = 1e-3


def test_but_not_above_a_deep_subtree():
    chain = words("sin " * (MAX_DEPTH + 2) + "x0").ops
    depths = np.empty(len(chain), np.int64)
    _depths(chain, len(chain), depths)
    assert depths.tolist() == list(range(MAX_DEPTH + 2, -1, -1))
    assert sorted(inserted_at(chain, 500)) == list(range(3, MAX_DEPTH + 3))


# ------------------------------------------------------------------------------------------ preset paper


def test_the_papers_operators(paper: list[Program]):
    assert set().union(*(tree.operators() for tree in paper)) == {"add", "mul", "sin", "inv", "pow2"}


def test_the_papers_constants(paper: list[Program]):
    constants = np.concatenate([tree.constants for tree in paper])
    assert SMALLEST == 0.05
    assert LARGEST == 20.0
    assert np.abs(constants).min() >= SMALLEST
    assert np.abs(constants).max() <= LARGEST
    assert abs((constants > 0).mean() - 0.5) < 0.02
    # Log-uniform: the logarithm has its mean in the middle of the range and the variance of a uniform one.
    position = np.log(np.abs(constants) / SMALLEST) / np.log(LARGEST / SMALLEST)
    assert abs(position.mean() - 0.5) < 0.01
    assert abs(position.var() - 1 / 12) < 0.005


def test_the_papers_numbers_of_operators(paper: list[Program]):
    unary = Counter(int((ARITY[tree.ops] == 1).sum()) for tree in paper)
    assert sorted(unary) == [0, 1, 2, 3]
    assert all(abs(n / COUNT - 0.25) < 0.03 for n in unary.values())
    # Leaves of the drawn tree are its variables, one more than its binary operators.
    binary = Counter(int((tree.ops == VAR).sum()) - 1 for tree in paper)
    assert sorted(binary) == [1, 2, 3, 4, 5]
    assert all(abs(n / COUNT - 0.2) < 0.03 for n in binary.values())


def terms(tree: Tree) -> list[Tree]:
    """The terms of a sum."""
    if tree[0] != ADD:
        return [tree]
    return [term for child in tree[2] for term in terms(child)]


def has_coefficient(term: Tree) -> bool:
    return term[0] == MUL and term[2][0][0] == CONST


def check_coefficients(tree: Tree, inside_unary: bool) -> None:
    """Every term of a sum carries a coefficient, every argument of a unary operator is affine."""
    op, _, children = tree
    if inside_unary:
        assert op == ADD
        shift, scaled = children
        assert shift[0] == CONST
        assert has_coefficient(scaled)
        check_coefficients(scaled[2][1], False)
    elif op == ADD:
        for term in terms(tree):
            assert has_coefficient(term)
            check_coefficients(term[2][1], False)
    else:
        for child in children:
            check_coefficients(child, ARITY[op] == 1)


def test_every_term_has_a_coefficient_and_every_argument_is_affine(paper: list[Program]):
    for program in paper:
        tree = nested(program)
        for term in terms(tree):
            assert has_coefficient(term)
            check_coefficients(term[2][1], False)


def test_trees_are_seeded():
    assert draw(PAPER, 2, 20, seed=5) == draw(PAPER, 2, 20, seed=5)
    assert draw(PAPER, 2, 20, seed=5) != draw(PAPER, 2, 20, seed=6)


# ------------------------------------------------------------------------------------------ preset default


def test_the_default_trees_have_more_operators_and_simpler_constants():
    trees = draw(DEFAULT, 3)
    names = set().union(*(tree.operators() for tree in trees))
    assert names == {"add", "mul", "sin", "cos", "inv", "pow2", "pow3", "exp", "log", "sqrt", "abs", "tanh"}
    constants = np.abs(np.concatenate([tree.constants for tree in trees]))
    assert 0.2 < (constants == 1.0).mean() < 0.28  # 0.4 simple ones, of which 0.6 are 1
    assert constants.min() >= SMALLEST
    assert constants.max() <= LARGEST


def test_simple_constants():
    s = stream()
    simple = np.array([magnitude(s, 1.0) for _ in range(COUNT)])
    assert abs((simple == 1.0).mean() - 0.6) < 0.06
    assert np.allclose(simple * 10, np.round(simple * 10))  # at most one decimal
    signs = np.sign([coefficient(s, 0.5) for _ in range(COUNT)])
    assert abs(signs.mean()) < 0.06
