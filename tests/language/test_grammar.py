"""The decoding constraint: what it lets through is valid, and it lets through all that is valid."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from odefinder.errors import SettingsError
from odefinder.expressions.program import CONST, VAR, Program, check_system
from odefinder.language.grammar import ANY_NUMBER, Forced, Grammar, template_of
from odefinder.language.number_words import PAD
from odefinder.language.tokens import EOS, SEP, Vocabulary
from tests.language.test_tokens import COARSE, PAPER, VARIANTS, programs
from tests.programs import words


def walk(grammar: Grammar, dimensions: ArrayLike, rng: np.random.Generator, **options) -> np.ndarray:
    """Sequences of uniformly drawn allowed tokens, (batch, max_length)."""
    state = grammar.start(dimensions, **options)
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
    for written in (["sin", "+", "x1"], ["x0", "E1", "|"]):
        state = grammar.advance(state, np.array([COARSE.all_words.index(word) for word in written]))
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


# ---------------------------------------------------------------- known variables and known equations


@st.composite
def outlines(draw: st.DrawFn, vocabulary: Vocabulary) -> tuple[int, int, Forced]:
    """A dimension, a number of variables, and known equations of some components."""
    dimension = draw(st.integers(1, 4))
    variables = draw(st.integers(dimension, vocabulary.variables))
    forced = {}
    for component in draw(st.sets(st.integers(0, dimension - 1))):
        equation = draw(programs(variables)).components()[0]
        unknown = np.array(draw(st.lists(st.booleans(), min_size=len(equation), max_size=len(equation))))
        values = np.where((equation.ops == CONST) & unknown, np.nan, equation.values)
        forced[component] = template_of(vocabulary, Program(equation.ops, values))
    return dimension, variables, forced


def shortest(vocabulary: Vocabulary, dimension: int, forced: Forced) -> int:
    number = len(vocabulary.numbers.order)
    sizes = [sum(number if entry == ANY_NUMBER else 1 for entry in known) for known in forced.values()]
    return dimension + sum(sizes) + dimension - len(forced)


def follows(vocabulary: Vocabulary, ids: list[int], template: tuple[int, ...]) -> bool:
    """Whether the ids are those of the template, with one number for each that is not known."""
    for entry in template:
        if entry != ANY_NUMBER:
            if ids[:1] != [entry]:
                return False
            ids = ids[1:]
        else:
            size = 1 if vocabulary.token_slot[ids[0]] < 0 else len(vocabulary.numbers.order)
            if not (vocabulary.token_opcode[ids[:size]] == CONST).all():
                return False
            ids = ids[size:]
    return ids == []


@pytest.mark.parametrize("vocabulary", VARIANTS)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_whatever_is_drawn_keeps_to_what_is_known(vocabulary: Vocabulary, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(outlines(vocabulary), min_size=1, max_size=3))
    least = max(shortest(vocabulary, dimension, forced) for dimension, _, forced in kinds)
    max_length = least + data.draw(st.sampled_from([0, 1, 2, 3, 20]))
    grammar = Grammar(vocabulary, max_length)
    dimensions, variables, forced = (list(part) for part in zip(*kinds, strict=True))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    found = walk(grammar, dimensions, rng, variables=variables, forced=forced, samples=5)
    for k, sequence in enumerate(found.tolist()):
        dimension, usable, known = kinds[k // 5]
        end = sequence.index(EOS)
        assert set(sequence[end + 1 :]) <= {PAD}
        program = vocabulary.decode(sequence)
        assert len(program.components()) == dimension
        assert (program.values[program.ops == VAR] < usable).all()
        places = [-1, *np.flatnonzero(np.array(sequence[:end]) == SEP).tolist(), end]
        parts = [sequence[a + 1 : b] for a, b in pairwise(places)]
        assert all(follows(vocabulary, parts[component], known[component]) for component in known)


def test_x_dot_is_v_and_an_input_may_be_read() -> None:
    grammar = Grammar(COARSE, 40)
    forced = [{0: template_of(COARSE, words("x1"))}]
    state = grammar.start([2], [3], forced)
    seen = []
    for word in ["x1", "|", "add", "x2"]:
        seen.append(set(COARSE.words(np.flatnonzero(grammar.allowed(state)[0]))))
        state = grammar.advance(state, np.array([COARSE.all_words.index(word)]))
    start = {*COARSE.operators, "x0", "x1", "x2", "0", "1", "+", "-"}
    assert seen == [{"x1"}, {"|"}, start, start]


def test_an_unknown_constant_in_a_known_equation() -> None:
    equation = words("mul 2 x0")
    template = template_of(COARSE, equation.with_constants([np.nan]))
    assert template == (COARSE.all_words.index("mul"), ANY_NUMBER, COARSE.all_words.index("x0"))
    grammar = Grammar(COARSE, 8)  # exactly as long as the equation, its number written out, and the other one
    state = grammar.start([2], forced=[{1: template}])
    allowed = []
    for word in ["x0", "|", "mul", "+", "E0", "12", "x0", "<eos>"]:
        allowed.append(set(COARSE.words(np.flatnonzero(grammar.allowed(state)[0]))))
        state = grammar.advance(state, np.array([COARSE.all_words.index(word)]))
    assert allowed[0] == {"x0", "x1", "0", "1"}  # there is room for nothing longer
    assert allowed[1:4] == [{"|"}, {"mul"}, {"0", "1", "+", "-"}]
    assert allowed[6:] == [{"x0"}, {"<eos>"}]
    assert state.finished.all()
    with pytest.raises(SettingsError, match="8 tokens or more, 7 at most"):
        Grammar(COARSE, 7).start([2], forced=[{1: template}])


def test_known_variables_and_equations_that_make_no_sense() -> None:
    grammar = Grammar(COARSE, 20)
    for variables in ([1], [7]):
        with pytest.raises(SettingsError, match="words for 6 variables"):
            grammar.start([2], variables)
    mul = COARSE.all_words.index("mul")
    for template in ((), (mul,), (mul, ANY_NUMBER), (ANY_NUMBER, ANY_NUMBER), (-7,)):
        with pytest.raises(SettingsError, match="not one whole expression"):
            grammar.start([2], forced=[{0: template}])
