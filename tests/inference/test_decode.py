"""Sampling from the network: always valid systems, seeded, with the right probabilities."""

import numpy as np
import pytest
import torch

from odefinder.canonical import skeleton
from odefinder.grammar import Grammar
from odefinder.inference import decode
from odefinder.inference.decode import Constraint, distinct_candidates, log_probabilities, sample
from odefinder.number_words import PAD, number_ids
from odefinder.program import Program, check_system, concatenate
from odefinder.tokens import EOS, Vocabulary
from tests.networks import observed, small_network
from tests.programs import words

COARSE = Vocabulary.preset("coarse")


def draw(dimensions: list[int], seed: int = 0, **options) -> tuple[np.ndarray, np.ndarray]:
    points, trajectory = observed(dimensions)
    generator = torch.Generator().manual_seed(seed)
    settings = {"samples": 12, "temperature": 1.0, "generator": generator, **options}
    network = settings.pop("network", None) or small_network()
    return sample(network, points, trajectory, torch.tensor(dimensions), **settings)


@pytest.mark.parametrize("vocabulary", ["coarse", "fine", "paper"])
@pytest.mark.parametrize("max_length", [12, 13, 40])
def test_the_constraint_is_the_grammar(vocabulary: str, max_length: int) -> None:
    rng = np.random.default_rng(max_length)
    known = Vocabulary.preset(vocabulary)
    dimensions = torch.arange(1, 7).repeat(4)
    constraint = Constraint(known, dimensions, max_length)
    grammars = [Grammar(known, int(d), max_length) for d in dimensions]
    states = [grammar.start(1) for grammar in grammars]
    for step in range(max_length):
        expected = np.concatenate([g.allowed(s) for g, s in zip(grammars, states, strict=True)])
        np.testing.assert_array_equal(constraint.allowed().numpy(), expected)
        # Numbers and operators often, so that all rows of the tables are met.
        weights = np.where(expected, rng.random(expected.shape) * np.geomspace(30, 1, len(known)), -1)
        tokens = weights.argmax(axis=1)
        constraint.advance(torch.from_numpy(tokens))
        states = [
            g.advance(s, tokens[k : k + 1]) for k, (g, s) in enumerate(zip(grammars, states, strict=True))
        ]
        if step == max_length // 2:  # go on with some of the sequences
            chosen = rng.random(len(grammars)) < 0.7
            constraint.keep(torch.from_numpy(chosen))
            grammars = [g for g, keep in zip(grammars, chosen, strict=True) if keep]
            states = [s for s, keep in zip(states, chosen, strict=True) if keep]
    assert all(grammar.finished(state)[0] for grammar, state in zip(grammars, states, strict=True))


@pytest.mark.parametrize("max_length", [12, 30, None])
@pytest.mark.parametrize("dimensions", [[1], [3], [6, 1, 4]])
def test_every_sample_is_a_valid_system(dimensions: list[int], max_length: int | None) -> None:
    ids, log_probability = draw(dimensions, max_length=max_length)
    assert ids.shape[:2] == log_probability.shape == (len(dimensions), 12)
    assert ids.shape[2] <= (max_length or 128)
    assert (log_probability < 0).all()
    for dimension, rows in zip(dimensions, ids, strict=True):
        for row in rows:
            check_system(COARSE.decode(row), dimension)
            end = row.tolist().index(EOS)
            assert (row[end + 1 :] == PAD).all()
            assert (row[: end + 1] != PAD).all()


def test_the_papers_network_and_words() -> None:
    network = small_network(embedder="tokens", token_width=8, vocabulary="paper", max_length=60)
    points, trajectory = observed([2])
    read = torch.from_numpy(number_ids(points, allow_missing=True))
    ids, _ = sample(network, read, trajectory, torch.tensor([2]), samples=5)
    for row in ids[0]:
        check_system(Vocabulary.preset("paper").decode(row), 2)


def test_the_seed_decides() -> None:
    for dimensions in ([2], [2, 3]):
        first, again, other = draw(dimensions), draw(dimensions), draw(dimensions, seed=1)
        assert all(map(np.array_equal, first, again))
        assert not np.array_equal(first[1], other[1])


def test_the_random_state_of_others_is_left_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    points, trajectory = observed([2])
    network = small_network()
    torch.set_rng_state(before)
    generator = torch.Generator().manual_seed(0)
    sample(network, points, trajectory, torch.tensor([2]), samples=3, generator=generator)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_log_probabilities_are_those_of_teacher_forcing(
    monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    def anything_but_padding(constraint: Constraint) -> torch.Tensor:
        mask = torch.ones(len(constraint.dimension), len(COARSE), dtype=torch.bool)
        mask[:, PAD] = False
        return mask

    network = small_network()
    points, trajectory = observed([2])
    monkeypatch.setattr(Constraint, "allowed", anything_but_padding)
    monkeypatch.setattr(decode, "WORTH_DROPPING", 1.0)  # nothing is written after the end
    ids, found = draw([2], network=network, samples=40, max_length=70, temperature=temperature)
    assert len({len(row[row != PAD]) for row in ids[0]}) > 3  # some end early
    # With padding left out, its small probability goes to the other tokens.
    targets = torch.from_numpy(ids[0])
    forced = log_probabilities(network, points.expand(40, -1, -1), trajectory.expand(40, -1), targets)
    assert (found[0] >= forced.numpy() - 1e-4).all()
    np.testing.assert_allclose(found[0], forced, rtol=0.01)


def test_the_mask_only_adds_to_a_probability() -> None:
    network = small_network()
    dimensions = [2, 4]
    points, trajectory = observed(dimensions)
    ids, found = draw(dimensions, network=network)
    forced = log_probabilities(
        network,
        points.repeat_interleave(12, 0),
        trajectory.repeat_interleave(12, 0),
        torch.from_numpy(ids).flatten(0, 1),
    )
    assert (found.ravel() > forced.numpy()).all()


def test_a_batch_decodes_as_its_parts_do() -> None:
    """At temperature 0, nearly: the likeliest token each time, whoever is decoded beside it."""
    network = small_network()
    points, trajectory = observed([2, 3])
    options = {"samples": 1, "temperature": 1e-4, "max_length": 40}
    together, chances = sample(network, points, trajectory, torch.tensor([2, 3]), **options)
    for k, dimension in enumerate((2, 3)):
        alone, chance = sample(
            network, points[k : k + 1], trajectory[k : k + 1], torch.tensor([dimension]), **options
        )
        written = together[k, 0][together[k, 0] != PAD]
        np.testing.assert_array_equal(alone[0, 0], written)
        assert chance[0, 0] == pytest.approx(chances[k, 0], rel=1e-4)


def test_the_cache_grows_and_shrinks_without_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = draw([2], temperature=1e-4, samples=3)
    monkeypatch.setattr(decode, "CACHE_START", 3)
    monkeypatch.setattr(decode, "WORTH_DROPPING", 1.0)
    found = draw([2], temperature=1e-4, samples=3)
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_allclose(found[1], plain[1], rtol=1e-5)


def encoded(programs: list[Program]) -> np.ndarray:
    rows = [COARSE.encode(program) for program in programs]
    ids = np.full((len(rows), max(map(len, rows)) + 2), PAD, np.int16)
    for row, target in zip(rows, ids, strict=True):
        target[: len(row)] = row
    return ids


def test_candidates_are_distinct_by_skeleton() -> None:
    systems = [
        concatenate([words("mul -0.5 x0"), words("x1")]),
        concatenate([words("mul 2.5 x0"), words("x1")]),  # the same with another constant, and likelier
        concatenate([words("sin x0"), words("x1")]),
        concatenate([words("add x0 x0"), words("x1")]),  # 2 x0: the same as the first two
        concatenate([words("inv 0"), words("x1")]),  # has no value
    ]
    chances = np.array([-3.0, -2.0, -2.5, -9.0, -0.1])
    found = distinct_candidates(encoded(systems), chances, COARSE)
    assert [c.log_probability for c in found] == [-2.0, -2.5]
    assert [c.count for c in found] == [3, 1]
    assert [c.program for c in found] == [systems[1], systems[2]]
    assert [c.skeleton for c in found] == [skeleton(systems[0]), skeleton(systems[2])]


def test_no_valid_candidate_at_all() -> None:
    assert distinct_candidates(encoded([words("inv 0")]), np.array([-1.0]), COARSE) == []
