"""The likeliest equations of single variables, by beam search over outlines (`language/outlines.py`).

Samples repeat what is likely and rarely hold what is not, and constants, which a fit determines anyway, take
most of their words.  Outlines have no constants, so each is another structure; and the network begins with
any variable that it is asked for, so no equation depends on others that are wrong.

Shapes: N unfinished outlines of all variables together, W words that outlines are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.program import ARITY, Program
from odefinder.inference.propose.decode import Operators, Reading
from odefinder.language.number_words import PAD
from odefinder.language.outlines import outline
from odefinder.language.tokens import BOS, EOS, SEP, Vocabulary
from odefinder.network.runtime import Floats, Ids

LONGEST = 60  # words of an outline
ANYTHING = (0.5, 1.5)  # constants of outlines
LEAST = 1e-3  # probability of an outline below which it is not written to its end


@dataclass(frozen=True)
class Outline:
    """An equation apart from its constants, whose values in the form mean nothing."""

    form: Form
    log_probability: float


class Beam(NamedTuple):
    """An outline that is being written."""

    log_probability: float
    variable: int  # whose equation it is, as a place among those asked for
    parent: int  # its row before the last word
    words: tuple[int, ...]
    missing: int  # arguments that are still to be written


def likeliest(
    reading: Reading,
    components: Sequence[int],
    count: int,
    operators: Operators = None,
    enough: Callable[[], bool] = lambda: False,
) -> list[list[Outline]]:
    """The likeliest outlines of the equations of these variables, `count` of each, likeliest first.

    operators: those that may occur; None: all.  enough: asked before every word; if it returns True, what
    is unfinished is left out.
    """
    vocabulary = reading.vocabulary
    words = outline_words(vocabulary, reading.variables, operators)
    no_masks = np.ones((0, len(vocabulary)), np.bool_)
    sequences = reading.runtime.begin(reading.memory, count * len(components), no_masks)
    sequences.keep(np.arange(len(components)))
    for given in (BOS, SEP):
        sequences.logits(np.full(len(components), given))
    last = vocabulary.layout.first_variable + np.asarray(components)
    beams = [Beam(0.0, k, k, (), 1) for k in range(len(components))]
    finished: list[list[Beam]] = [[] for _ in components]
    while beams and not enough():
        chances = _log_softmax(sequences.logits(last)[:, words])
        beams = _extended(beams, chances, words, vocabulary, finished, count)
        last = np.array([beam.words[-1] for beam in beams], dtype=np.int64)
        sequences.keep(np.array([beam.parent for beam in beams], dtype=np.int64))
    return [_outlines(vocabulary, done) for done in finished]


def outline_log_probabilities(
    reading: Reading, programs: Sequence[Program], operators: Operators = None
) -> Floats:
    """How likely the network finds the equations of given systems (programs,), whatever their constants are.

    Known equations do not count.  -inf for what it could not have written.
    """
    vocabulary = reading.vocabulary
    words = outline_words(vocabulary, reading.variables, operators)
    rows = {k: row for k, program in enumerate(programs) if (row := _spelled(reading, program)) is not None}
    result = np.full(len(programs), -np.inf)
    if not rows:
        return result
    ids = np.full((len(rows), max(map(len, rows.values()))), PAD, dtype=np.int64)
    for one, row in zip(ids, rows.values(), strict=True):
        one[: len(row)] = row
    logits = reading.runtime.logits(reading.memory, ids)
    for k, row, after in zip(rows.keys(), rows.values(), logits, strict=True):
        begins = np.flatnonzero(row == SEP)
        # It was told which equation comes next.
        written = np.setdiff1d(np.arange(1, len(row)), np.concatenate((begins, begins + 1)))
        places = np.searchsorted(words, row[written]) % len(words)
        if (words[places] == row[written]).all():
            chances = _log_softmax(after[written - 1][:, words].astype(np.float64))
            result[k] = chances[np.arange(len(places)), places].sum()
    return result


def _spelled(reading: Reading, program: Program) -> Ids | None:
    """The outline of a system without the known equations, after BOS; None if there are no words for it."""
    vocabulary = reading.vocabulary
    try:
        ids = vocabulary.encode(program).astype(np.int16)
    except ExpressionError:
        return None
    order = np.array([k for k in range(reading.dimension) if k not in reading.forced], dtype=np.int64)
    out = np.full(len(ids) + 2 * len(order) + 1, BOS, np.int16)
    length = outline(ids, order, vocabulary.one, vocabulary.layout, out[1:])
    return out[:length].astype(np.int64) if length <= reading.runtime.settings.max_length else None


def outline_words(vocabulary: Vocabulary, variables: int, operators: Operators = None) -> Ids:
    """The ids that an outline is made of (W,): operators, this many variables, and 1 for every constant."""
    first = vocabulary.layout.first_variable
    allowed = [
        SEP + 1 + k for k, name in enumerate(vocabulary.operators) if operators is None or name in operators
    ]
    return np.array([*allowed, *range(first, first + variables), vocabulary.one], dtype=np.int64)


def _extended(
    beams: Sequence[Beam],
    chances: Floats,
    words: Ids,
    vocabulary: Vocabulary,
    finished: list[list[Beam]],
    count: int,
) -> list[Beam]:
    """The likeliest outlines of one word more (chances: (N, W)); whole ones join those that are finished."""
    scores = np.array([beam.log_probability for beam in beams])[:, None] + chances
    owners = np.array([beam.variable for beam in beams])
    change = ARITY[vocabulary.token_opcode[words]].astype(np.int64) - 1
    result = []
    for variable, done in enumerate(finished):
        rows = np.flatnonzero(owners == variable)
        own = scores[rows].ravel()
        for place in np.argsort(-own, kind="stable")[:count]:
            # Words only make an outline less likely.
            if own[place] <= (done[-1].log_probability if len(done) == count else np.log(LEAST)):
                break
            row, word = int(rows[place // len(words)]), int(place % len(words))
            before, missing = beams[row], beams[row].missing + int(change[word])
            after = Beam(float(own[place]), variable, row, (*before.words, int(words[word])), missing)
            if missing == 0:
                done.append(after)
                done.sort(key=lambda beam: -beam.log_probability)
                del done[count:]
            elif len(after.words) + missing <= LONGEST:
                result.append(after)
    return result


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


def _outlines(vocabulary: Vocabulary, done: Sequence[Beam]) -> list[Outline]:
    """One outline of each structure, its likeliest."""
    found: dict[bytes, Outline] = {}
    for beam in done:
        program = vocabulary.decode([*beam.words, EOS])
        # With constants of 1, terms would merge and powers vanish.
        values = np.random.default_rng(0).uniform(*ANYTHING, len(program.constants))
        with suppress(ExpressionError):
            form = Form.of(program.with_constants(values))
            found.setdefault(form.key, Outline(form, beam.log_probability))
    return list(found.values())
