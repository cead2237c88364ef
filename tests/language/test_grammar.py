"""The decoding constraint: what it lets through is valid, and it lets through all that is valid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from odefinder.errors import SettingsError
from odefinder.expressions.program import check_system
from odefinder.language.grammar import Grammar
from odefinder.language.number_words import PAD
from odefinder.language.tokens import EOS, Vocabulary
from tests.language.test_tokens import COARSE, PAPER, VARIANTS, programs


def walk(grammar: Grammar, dimensions: ArrayLike, rng: np.random.Generator) -> np.ndarray:
    """Sequences of uniformly drawn allowed tokens, (batch, max_length)."""
    state = grammar.start(dimensions)
    columns = []
    for _ in range(grammar.max_length):
        allowed = grammar.allowed(state)
        assert allowed.any(axis=1).all()
        drawn = np.where(allowed, rng.random(allowed.shape, dtype=np.float32), -1).argmax(axis=1)
        state = grammar.advance(state, drawn)
        columns.append(drawn)
    assert state.finished.all()
    return np.stack(columns, axis=1)


def words_allowed(grammar: Grammar, dimension: int, words: str) -> set[str]:
    """The words that may follow the given ones."""
    vocabulary = grammar.vocabulary
    state = grammar.start([dimension])
    for word in words.split():
        state = grammar.advance(state, np.array([vocabulary.all_words.index(word)]))
    return set(vocabulary.words(np.flatnonzero(grammar.allowed(state)[0])))


@pytest.mark.parametrize("vocabulary", VARIANTS)
@pytest.mark.parametrize("dimension", range(1, 7))
def test_random_walks_end_in_valid_systems(vocabulary: Vocabulary, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    batch = 40 if len(vocabulary) < 1000 else 10
    for max_length in (2 * dimension, 2 * dimension + 1, 2 * dimension + 2, 2 * dimension + 9, 40):
        for sequence in walk(Grammar(vocabulary, max_length), [dimension] * batch, rng):
            program = vocabulary.decode(sequence)
            check_system(program, dimension)
            end = sequence.tolist().index(EOS)
            assert (sequence[end + 1 :] == PAD).all()
            # A walk may spell 1 as "+ E0 10"; the values are the same when it is written again.
            again = vocabulary.encode(program)
            assert len(again) <= end + 1
            assert vocabulary.decode(again) == program


@pytest.mark.parametrize("vocabulary", VARIANTS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_every_encoded_program_is_allowed(vocabulary: Vocabulary, data: st.DataObject) -> None:
    dimension = data.draw(st.integers(1, 6))
    ids = vocabulary.encode(data.draw(programs(dimension)))
    grammar = Grammar(vocabulary, max_length=len(ids))  # exactly long enough
    state = grammar.start([dimension])
    for token in ids:
        assert grammar.allowed(state)[0, token]
        assert not state.finished[0]
        state = grammar.advance(state, np.array([token]))
    assert state.finished[0]
    assert state.length[0] == len(ids)


def test_what_may_follow() -> None:
    grammar = Grammar(COARSE, max_length=100)
    start = words_allowed(grammar, 2, "")
    assert start == {*COARSE.operators, "x0", "x1", "0", "1", "+", "-"}
    assert words_allowed(grammar, 2, "add x0") == start
    assert words_allowed(grammar, 2, "add +") == {f"E{e}" for e in range(-12, 13)}
    assert words_allowed(grammar, 2, "add + E3") == {str(m) for m in range(10, 100)}
    assert words_allowed(grammar, 2, "add + E3 12") == start
    assert words_allowed(grammar, 2, "add + E3 12 x1") == {"|"}
    assert words_allowed(grammar, 2, "x1 |") == start
    assert words_allowed(grammar, 2, "x1 | sin x0") == {"<eos>"}
    assert words_allowed(grammar, 2, "x1 | 0 <eos>") == {"<pad>"}
    assert words_allowed(grammar, 2, "x1 | 0 <eos> <pad>") == {"<pad>"}


def test_only_mantissas_that_are_written() -> None:
    assert words_allowed(Grammar(PAPER, max_length=100), 1, "+") == {
        "0000",
        *(str(m) for m in range(1000, 10000)),
    }


def test_what_fits() -> None:
    leaves = {"x0", "0", "1"}
    unary = {name for name in COARSE.operators if name not in ("add", "mul", "pow")}
    assert words_allowed(Grammar(COARSE, 2), 1, "") == leaves
    assert words_allowed(Grammar(COARSE, 3), 1, "") == leaves | unary
    assert words_allowed(Grammar(COARSE, 4), 1, "") == leaves | {*COARSE.operators, "+", "-"}
    assert words_allowed(Grammar(COARSE, 4), 1, "add") == leaves
    assert words_allowed(Grammar(COARSE, 7), 3, "sin") == leaves | {"x1", "x2"}
    assert words_allowed(Grammar(COARSE, 7), 3, "x2 |") == leaves | unary | {"x1", "x2"}


def test_chosen_operators() -> None:
    grammar = Grammar(COARSE, 30, operators={"add", "mul"})
    assert words_allowed(grammar, 2, "") == {"add", "mul", "x0", "x1", "0", "1", "+", "-"}
    assert words_allowed(Grammar(COARSE, 30, operators=()), 1, "") == {"x0", "0", "1", "+", "-"}
    for sequence in walk(grammar, [2] * 30, np.random.default_rng(0)):
        assert COARSE.decode(sequence).operators() <= {"add", "mul"}


def test_batches_are_independent_and_can_be_reordered() -> None:
    grammar = Grammar(COARSE, 20)
    state = grammar.start([2, 2, 2])
    for words in (["sin", "+", "x1"], ["x0", "E1", "|"]):
        state = grammar.advance(state, np.array([COARSE.all_words.index(word) for word in words]))
    allowed = grammar.allowed(state)
    assert allowed.shape == (3, len(COARSE))
    np.testing.assert_array_equal(grammar.allowed(state.take(np.array([2, 0, 0]))), allowed[[2, 0, 0]])


@pytest.mark.parametrize("operators", [None, {"add", "mul", "sin"}])
@pytest.mark.parametrize("max_length", [12, 20, 50])
def test_mixed_dimensions_are_as_each_alone(max_length: int, operators: set[str] | None) -> None:
    rng = np.random.default_rng(max_length)
    grammar = Grammar(COARSE, max_length, operators)
    dimensions = np.tile(np.arange(1, 7), 4)
    together = grammar.start(dimensions)
    alone = [grammar.start([dimension]) for dimension in dimensions]
    for step in range(max_length):
        expected = np.concatenate([grammar.allowed(state) for state in alone])
        np.testing.assert_array_equal(grammar.allowed(together), expected)
        # Numbers and operators often, so that all rows of the tables are met.
        weights = np.where(expected, rng.random(expected.shape) * np.geomspace(30, 1, len(COARSE)), -1)
        tokens = weights.argmax(axis=1)
        together = grammar.advance(together, tokens)
        alone = [grammar.advance(state, tokens[[k]]) for k, state in enumerate(alone)]
        if step == max_length // 2:  # go on with some of the sequences
            chosen = rng.random(len(alone)) < 0.7
            together = together.take(chosen)
            alone = [state for state, keep in zip(alone, chosen, strict=True) if keep]
    assert together.finished.all()


@pytest.mark.parametrize(("dimension", "max_length"), [(0, 20), (7, 20), (3, 5)])
def test_a_dimension_that_does_not_fit(dimension: int, max_length: int) -> None:
    with pytest.raises(SettingsError, match="the dimension must be 1 to"):
        Grammar(COARSE, max_length).start([1, dimension])


@pytest.mark.parametrize(("max_length", "operators"), [(1, None), (10**6, None), (10, {"add", "sinh"})])
def test_settings_that_make_no_sense(max_length: int, operators: set[str] | None) -> None:
    with pytest.raises(SettingsError):
        Grammar(COARSE, max_length, operators)
