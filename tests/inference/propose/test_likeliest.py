"""Outlines by beam search: each variable's likeliest equations, with the network's own probabilities."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import ARITY, OPCODE_BY_NAME, check_system, concatenate
from odefinder.inference.propose import likeliest as beam
from odefinder.inference.propose.decode import Reading
from odefinder.inference.propose.likeliest import likeliest, outline_log_probabilities, outline_words
from odefinder.language.tokens import BOS, EOS, SEP, Vocabulary
from odefinder.network.checkpoint import save_weights
from odefinder.network.loading import load_runtime
from tests.inference.propose.test_decode import observations
from tests.networks import small_network
from tests.programs import words

COARSE = Vocabulary.preset("coarse")


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    path: Path = tmp_path_factory.mktemp("weights") / "full.safetensors"
    save_weights(path, small_network(), int8=False)
    return Reading.of(load_runtime(path), observations(3))


def chance(reading: Reading, written: list[int], spoken: np.ndarray) -> float:
    """log P of what follows SEP and a variable, word by word, among these words."""
    ids = np.array([[BOS, SEP, *written]])
    logits = reading.runtime.logits(reading.memory, ids)[0].astype(np.float64)
    total = 0.0
    for position, word in enumerate(written[1:], start=2):
        among = logits[position][spoken]
        total += logits[position][word] - among.max() - np.log(np.exp(among - among.max()).sum())
    return total


def test_they_are_what_the_network_finds_likeliest(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with all outlines of at most three words."""
    monkeypatch.setattr(beam, "LONGEST", 3)
    monkeypatch.setattr(beam, "LEAST", 1e-12)
    spoken = outline_words(COARSE, 3)
    arity = {int(word): int(ARITY[COARSE.token_opcode[word]]) for word in spoken}
    leaves, unary, binary = ([w for w, n in arity.items() if n == k] for k in (0, 1, 2))
    some = [[a] for a in leaves] + [[f, a] for f in unary for a in leaves]
    some += [[f, g, a] for f in unary for g in unary for a in leaves]
    some += [[f, a, b] for f in binary for a in leaves for b in leaves]
    found = likeliest(reading, [2, 0], count=60)
    for variable, outlines in zip([2, 0], found, strict=True):
        first = COARSE.layout.first_variable + variable
        best: dict[bytes, float] = {}  # exp(1) is another way to write a constant
        for one in some:
            program = COARSE.decode([*one, EOS])
            with suppress(ExpressionError):  # such as log(log(c))
                key = Form.of(program.with_constants(np.linspace(0.6, 1.4, len(program.constants)))).key
                best[key] = max(best.get(key, -np.inf), chance(reading, [first, *one], spoken))
        expected = sorted(best.values(), reverse=True)
        values = [outline.log_probability for outline in outlines]
        assert values == sorted(values, reverse=True)
        assert len({outline.form.key for outline in outlines}) == len(outlines)
        np.testing.assert_allclose(values[:6], expected[:6], atol=1e-4)
        for outline in outlines:
            assert len(outline.form.program.components()) == 1


def test_systems_are_scored_whatever_their_constants_are(reading: Reading) -> None:
    """Equation by equation, each after those before it."""
    programs = [words("add mul 2 x1 sin x0"), words("mul -0.5 pow2 x1"), words("add 3 x2")]
    whole = concatenate(programs)
    other = concatenate([one.with_constants(3.7 * one.constants) for one in programs])
    strange = concatenate([words("x1"), words("x0"), words("x4")])  # there is no x4
    found = outline_log_probabilities(reading, [whole, other, strange])
    assert found[0] == found[1]
    assert found[2] == -np.inf
    assert outline_log_probabilities(reading, []).shape == (0,)
    alone = replace(reading, forced={1: [], 2: []})  # known equations do not count
    written = [COARSE.all_words.index(word) for word in ["x0", "add", "mul", "1", "x1", "sin", "x0"]]
    expected = chance(reading, written, outline_words(COARSE, 3))
    np.testing.assert_allclose(outline_log_probabilities(alone, [whole]), [expected], atol=1e-4)
    assert found[0] < expected


def test_unlikely_ones_are_not_written(reading: Reading) -> None:
    (few,), (many,) = likeliest(reading, [1], count=5), likeliest(reading, [1], count=60)
    assert 1 <= len(few) <= 5 < len(many)
    assert [one.form.key for one in many[:2]] == [one.form.key for one in few[:2]]
    assert min(one.log_probability for one in many) > np.log(beam.LEAST)


def test_some_operators_and_known_variables(reading: Reading) -> None:
    some = frozenset({"add", "mul", "sin"})
    names = {COARSE.all_words[word] for word in outline_words(COARSE, 4, some)}
    assert names == {"add", "mul", "sin", "x0", "x1", "x2", "x3", "1"}
    allowed = {OPCODE_BY_NAME[name] for name in some} | {0, 1}
    for outline in likeliest(reading, [0], 40, some)[0]:
        check_system(outline.form.program, 1, variables=3)
        assert set(outline.form.program.ops.tolist()) <= allowed | {OPCODE_BY_NAME["mul"]}


def test_it_ends_when_it_is_told_to(reading: Reading) -> None:
    assert likeliest(reading, [0, 1], 9, enough=lambda: True) == [[], []]
