"""Outlines: systems without their constants, as targets of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odefinder.expressions.program import CONST, concatenate
from odefinder.language.number_words import NumberScheme
from odefinder.language.outlines import outline, outline_some
from odefinder.language.tokens import EOS, SEP, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from tests.programs import programs, words

WORDS = Vocabulary()
VARIANTS = [WORDS, Vocabulary(NumberScheme(order=("sign+exponent", "mantissa")))]


def outlined(ids: np.ndarray, order: list[int], vocabulary: Vocabulary = WORDS) -> np.ndarray:
    out = np.zeros(len(ids) + 2 * MAX_DIMENSION, np.int16)
    length = outline(ids.astype(np.int16), np.array(order), vocabulary.one, vocabulary.layout, out)
    return out[:length]


def test_the_outline_of_a_system() -> None:
    ids = WORDS.encode(concatenate([words("mul -2.5 x1"), words("add mul 1 x0 mul 0.031 mul x0 x1")]))
    written = " ".join(WORDS.words(outlined(ids, [1, 0])))
    assert written == "| x1 add mul 1 x0 mul 1 mul x0 x1 | x0 mul 1 x1 <eos>"


@given(st.lists(programs(2), min_size=2, max_size=2), st.permutations([0, 1]), st.sampled_from(VARIANTS))
def test_an_outline_spells_the_structure(parts, order, vocabulary) -> None:
    ids = outlined(vocabulary.encode(concatenate(parts)), order, vocabulary)
    first, second = np.flatnonzero(ids == SEP)
    assert first == 0
    assert ids[-1] == EOS
    for begin, end, k in zip((first, second), (second, len(ids) - 1), order, strict=True):
        assert vocabulary.all_words[ids[begin + 1]] == f"x{k}"
        program = vocabulary.decode(np.append(ids[begin + 2 : end], EOS))
        np.testing.assert_array_equal(program.ops, parts[k].ops)
        constant = program.ops == CONST
        np.testing.assert_array_equal(program.values[~constant], parts[k].values[~constant])
        assert (program.values[constant] == 1.0).all()


@pytest.mark.parametrize("room", [40, 12])
def test_a_share_of_the_targets_becomes_outlines(room: int) -> None:
    ids = WORDS.encode(concatenate([words("mul x0 x1"), words("mul x0 x0")]))  # nothing to leave out
    tokens = np.zeros((400, room), np.int16)
    tokens[:, : len(ids)] = ids
    lengths = np.full(400, len(ids), np.int16)
    arguments = (np.full(400, 2, np.int8), np.arange(400), 5, 0.5, WORDS.one, WORDS.layout)
    outline_some(tokens, lengths, *arguments)
    changed = lengths != len(ids)
    np.testing.assert_array_equal(changed, tokens[:, 0] == SEP)
    if room < len(ids) + 3:  # an outline has no room: systems stay as they are
        assert not changed.any()
        return
    assert 0.4 < changed.mean() < 0.6
    assert (lengths[changed] == len(ids) + 3).all()
    begun = tokens[changed, 1] - WORDS.layout.first_variable
    assert set(begun.tolist()) == {0, 1}
    other = np.zeros_like(tokens[:7])
    other[:, : len(ids)] = ids
    outline_some(
        other, np.full(7, len(ids), np.int16), np.full(7, 2, np.int8), np.arange(100, 107), *arguments[2:]
    )
    np.testing.assert_array_equal(other, tokens[100:107])  # an example's own number decides
