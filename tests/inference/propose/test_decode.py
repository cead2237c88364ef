"""Sampling from the network: always valid systems, seeded, with the right probabilities."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder.data.observations import Observations
from odefinder.data.roles import KNOWN, SEEN, UNSEEN, Role
from odefinder.data.units import T_END, T_START
from odefinder.errors import SettingsError
from odefinder.expressions.canonical import skeleton
from odefinder.expressions.form import Form
from odefinder.expressions.program import CONST, VAR, Program, check_system, concatenate
from odefinder.inference.propose import decode as decoding
from odefinder.inference.propose.decode import (
    DECODING_PRESETS,
    Decoding,
    Reading,
    decode,
    derivative_template,
    distinct_proposals,
    network_points,
    sample,
    token_log_probabilities,
)
from odefinder.language.grammar import ANY_NUMBER, Forced
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.tokens import EOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION, MAX_TRAJECTORIES
from odefinder.network.checkpoint import save_weights
from odefinder.network.loading import load_runtime
from odefinder.network.onnx_runtime import OnnxRuntime
from odefinder.network.runtime import Runtime
from odefinder.network.torch_runtime import TorchRuntime
from tests.networks import arrays, small_network
from tests.programs import words

COARSE = Vocabulary.preset("coarse")
HOW = Decoding(samples=12, temperature=1.0)


@pytest.fixture(scope="module", params=["onnx", "torch"])
def runtime(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    if request.param == "torch":
        return TorchRuntime(small_network(), device="cpu")
    path: Path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_weights(path, small_network())
    return OnnxRuntime(path)


def log_probabilities(*given: Any, **more: Any) -> np.ndarray:
    """log P(system | data) (B, S)."""
    return token_log_probabilities(*given, **more)[0].sum(axis=-1)


def draw(
    runtime: Runtime, dimensions: list[int], operators: frozenset[str] | None = None, **changes
) -> tuple[np.ndarray, np.ndarray]:
    memory = runtime.encode(*arrays(dimensions))
    return sample(runtime, memory, dimensions, replace(HOW, **changes), operators)


def observations(dimension: int, points: int = 30, trajectories: int = 1) -> Observations:
    times = np.tile(np.linspace(T_START, T_END, points), trajectories)
    states = np.sin(times[:, None] * np.arange(1, dimension + 1))
    return Observations(times, states, points * np.arange(trajectories + 1))


def test_settings() -> None:
    assert DECODING_PRESETS["paper"] == Decoding(samples=50, temperature=0.1)
    with pytest.raises(SettingsError, match="at least one sample"):
        Decoding(samples=0)
    with pytest.raises(SettingsError, match="positive temperature"):
        Decoding(temperature=0.0)


# ---------------------------------------------------------------- samples


@pytest.mark.parametrize("max_length", [12, 30, None])
@pytest.mark.parametrize("dimensions", [[1], [3], [6, 1, 4]])
def test_every_sample_is_a_valid_system(
    runtime: Runtime, dimensions: list[int], max_length: int | None
) -> None:
    ids, log_probability = draw(runtime, dimensions, max_length=max_length)
    assert ids.shape[:2] == log_probability.shape == (len(dimensions), 12)
    assert ids.shape[2] <= (max_length or 128)
    assert (log_probability < 0).all()
    for dimension, rows in zip(dimensions, ids, strict=True):
        for row in rows:
            check_system(COARSE.decode(row), dimension)
            end = row.tolist().index(EOS)
            assert (row[end + 1 :] == PAD).all()
            assert (row[: end + 1] != PAD).all()


def test_only_some_operators(runtime: Runtime) -> None:
    ids, _ = draw(runtime, [2], samples=100, operators=frozenset({"add", "sin"}))
    used = {word for row in ids[0] for word in COARSE.words(row)} & set(COARSE.operators)
    assert used == {"add", "sin"}


def test_the_papers_network_and_words() -> None:
    network = small_network(embedder="tokens", token_width=8, vocabulary="paper", max_length=60)
    runtime = TorchRuntime(network, device="cpu")
    points, trajectory, roles = arrays([2])
    memory = runtime.encode(number_ids(points, allow_missing=True), trajectory, roles)
    ids, _ = sample(runtime, memory, [2], DECODING_PRESETS["paper"])
    for row in ids[0]:
        check_system(Vocabulary.preset("paper").decode(row), 2)


def test_the_seed_decides(runtime: Runtime) -> None:
    for dimensions in ([2], [2, 3]):
        first, again, other = (draw(runtime, dimensions, seed=seed) for seed in (0, 0, 1))
        assert all(map(np.array_equal, first, again))
        assert not np.array_equal(first[1], other[1])


def test_a_batch_decodes_as_its_parts_do(runtime: Runtime) -> None:
    """Whoever is decoded beside it, and however many samples are drawn."""
    points, trajectory, roles = arrays([2, 3])
    together, chances = draw(runtime, [2, 3])
    for k, dimension in enumerate((2, 3)):
        memory = runtime.encode(*(values[k : k + 1] for values in (points, trajectory, roles)))
        for samples in (12, 5):
            alone, chance = sample(runtime, memory, [dimension], replace(HOW, samples=samples))
            for found, expected in zip(alone[0], together[k], strict=False):
                np.testing.assert_array_equal(found[found != PAD], expected[expected != PAD])
            np.testing.assert_allclose(chance[0], chances[k, :samples], atol=0.05)


def test_the_cache_grows_and_shrinks_without_effect(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = draw(runtime, [2])
    monkeypatch.setattr("odefinder.network.onnx_runtime.BLOCK", 3)
    monkeypatch.setattr("odefinder.network.torch_runtime.CACHE_START", 3)
    monkeypatch.setattr(decoding, "WORTH_DROPPING", 1.0)
    found = draw(runtime, [2])
    np.testing.assert_array_equal(found[0], plain[0])
    np.testing.assert_allclose(found[1], plain[1], atol=0.05)


def test_a_temperature_near_zero_takes_the_likeliest_token(runtime: Runtime) -> None:
    ids, chances = draw(runtime, [2], temperature=1e-6, seed=3)
    assert (ids == ids[:, :1]).all()
    assert np.ptp(chances) == pytest.approx(0.0, abs=1e-5)


def test_samples_follow_the_networks_distribution(runtime: Runtime) -> None:
    ids, _ = draw(runtime, [1], samples=4000, max_length=2)  # a variable or an exact number, and the end
    systems, counts = np.unique(ids[0], axis=0, return_counts=True)
    memory = runtime.encode(*arrays([1]))
    how = Decoding(max_length=2)
    chances = np.exp(log_probabilities(runtime, memory, [1], systems[None], how)[0])
    assert chances.sum() == pytest.approx(1.0, abs=1e-3)
    error = np.sqrt(chances * (1 - chances) / 4000)
    assert (np.abs(counts / 4000 - chances) < 4 * error + 1e-4).all()


@pytest.mark.parametrize("dimensions", [[2], [3, 1]])
def test_what_is_finished_when_it_is_enough_is_kept(runtime: Runtime, dimensions: list[int]) -> None:
    whole, chances = draw(runtime, dimensions)
    memory, asked = runtime.encode(*arrays(dimensions)), []

    def enough(finished: int) -> bool:
        asked.append(finished)
        return finished >= 5

    ids, chance = sample(runtime, memory, dimensions, HOW, enough=enough)
    kept = chance > -np.inf
    assert asked == sorted(asked)
    assert kept.sum() == asked[-1] >= 5 > asked[-2]
    np.testing.assert_array_equal(ids[kept], whole[kept][:, : ids.shape[2]])
    np.testing.assert_array_equal(chance[kept], chances[kept])
    assert (ids[~kept] == PAD).all()
    candidates = distinct_proposals(ids[0], chance[0], COARSE)
    assert sum(c.count for c in candidates) <= kept[0].sum()
    nothing, chance = sample(runtime, memory, dimensions, HOW, enough=lambda finished: True)
    assert nothing.shape == (len(dimensions), 12, 0)
    assert (chance == -np.inf).all()
    assert distinct_proposals(nothing[0], chance[0], COARSE) == []


# ---------------------------------------------------------------- given systems


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_given_systems_have_the_probability_of_drawn_ones(runtime: Runtime, temperature: float) -> None:
    dimensions = [2, 4]
    ids, drawn = draw(runtime, dimensions, samples=20, temperature=temperature)
    given = log_probabilities(runtime, runtime.encode(*arrays(dimensions)), dimensions, ids)
    tolerance = 1e-3 if isinstance(runtime, TorchRuntime) else 0.2  # 8-bit rounding, 30 tokens and more
    np.testing.assert_allclose(given, drawn, atol=tolerance)


def test_what_the_grammar_does_not_allow_is_impossible(runtime: Runtime) -> None:
    systems = [
        concatenate([words("sin x0"), words("x1")]),
        concatenate([words("sin x0"), words("x2")]),  # there is no x2
        words("sin x0"),  # one component only
        concatenate([words("sin x0"), words("x1"), words("x0")]),
    ]
    memory = runtime.encode(*arrays([2]))
    found = log_probabilities(runtime, memory, [2], encoded(systems)[None])[0]
    assert np.isfinite(found[0])
    assert (found[1:] == -np.inf).all()
    unfinished = encoded(systems[:1])[None, :, :3]
    assert log_probabilities(runtime, memory, [2], unfinished)[0, 0] == -np.inf
    only = frozenset({"add"})
    assert log_probabilities(runtime, memory, [2], encoded(systems[:1])[None], HOW, only)[0, 0] == -np.inf
    with pytest.raises(SettingsError, match="too long"):
        log_probabilities(runtime, memory, [2], np.zeros((1, 1, 129), np.int64))


def test_the_same_systems_are_drawn_again(runtime: Runtime) -> None:
    reading = Reading.of(runtime, observations(2))
    proposals = decode(reading, HOW)
    assert proposals == decode(reading, HOW)
    assert sum(proposal.count for proposal in proposals) <= 12


# ---------------------------------------------------------------- roles


def laboratory() -> Observations:
    """A position with its velocity unseen, a hidden state, and an input."""
    times = np.linspace(T_START, T_END, 30)
    states = np.full((30, 3), np.nan)
    states[:, 0] = np.sin(times)
    roles = (Role.OBSERVED, Role.VELOCITY, Role.HIDDEN, Role.INPUT)
    return Observations(times, states, np.array([0, 30]), roles, known=np.cos(times)[:, None])


VELOCITY = {0: derivative_template(COARSE, 1)}
X_DOT = Form.of(words("x1")).program


def test_the_equation_of_a_velocity() -> None:
    assert COARSE.words(VELOCITY[0]) == ["mul", "1", "x1"]


def test_what_the_network_is_told_about_columns() -> None:
    data = laboratory()
    points, _, roles = network_points(data, small_network().settings)
    assert roles.tolist() == [[SEEN, UNSEEN, UNSEEN, KNOWN, SEEN, SEEN]]
    assert np.isnan(points[0, :, [2, 3, 5, 6]]).all()
    np.testing.assert_allclose(points[0, :, 4], np.cos(data.times), rtol=1e-6, atol=1e-7)
    many = replace(data, known=np.ones((30, 5)), roles=(*data.roles, *[Role.CONDITION] * 4))
    points, _, roles = network_points(many, small_network().settings)
    assert points.shape == (1, 30, 1 + MAX_DIMENSION)
    assert roles[0].tolist() == [SEEN, UNSEEN, UNSEEN, KNOWN, KNOWN, KNOWN]


def test_known_equations_are_given_and_inputs_are_read(runtime: Runtime) -> None:
    reading = Reading.of(runtime, laboratory(), VELOCITY)
    assert (reading.dimension, reading.variables) == (3, 4)
    proposals = decode(reading, replace(HOW, samples=40))
    used = set()
    for proposal in proposals:
        first, *others = proposal.form.program.components()
        assert first == X_DOT
        assert len(others) == 2
        used |= {int(value) for part in others for value in part.values[part.ops == VAR]}
    assert used == {0, 1, 2, 3}


@pytest.mark.parametrize("forced", [[{}, {}], [VELOCITY, {}], [{1: (ANY_NUMBER,)}, VELOCITY]])
def test_given_systems_with_known_equations(runtime: Runtime, forced: list[Forced]) -> None:
    """A batch with different known equations and variables; what is forced costs nothing."""
    dimensions, options = [2, 3], {"variables": [4, 3], "forced": forced}
    memory = runtime.encode(*arrays(dimensions))
    ids, drawn = sample(runtime, memory, dimensions, HOW, **options)
    tokens, kinds = token_log_probabilities(runtime, memory, dimensions, ids.astype(np.int64), HOW, **options)
    np.testing.assert_allclose(tokens.sum(axis=-1), drawn, atol=0.2)  # 8-bit rounding
    for k, known in enumerate(forced):
        if 0 in known:
            assert (tokens[k, :, :4] == 0.0).all()  # the equation and SEP
            others = ids.copy()
            others[k, :, 0] = COARSE.all_words.index("x0")
            refused = log_probabilities(runtime, memory, dimensions, others, HOW, **options)
            assert (refused[k] == -np.inf).all()
    assert (kinds >= tokens).all()


def test_shipped_weights_decode_data_with_roles() -> None:
    """Also as long as the network that ships was trained before there were roles."""
    runtime = load_runtime()
    proposals = decode(Reading.of(runtime, laboratory(), VELOCITY), Decoding(samples=3, max_length=60))
    assert all(proposal.form.program.components()[0] == X_DOT for proposal in proposals)


# ---------------------------------------------------------------- data and systems


def test_what_the_network_reads() -> None:
    data = observations(2, points=20, trajectories=3)
    points, trajectory, roles = network_points(data, small_network().settings)
    assert points.shape == (1, 60, 1 + MAX_DIMENSION)
    np.testing.assert_allclose(points[0, :, 0], data.times, rtol=1e-6)
    np.testing.assert_allclose(points[0, :, 1:3], data.states, rtol=1e-5, atol=1e-7)
    assert np.isnan(points[0, :, 3:]).all()
    assert np.bincount(trajectory[0]).tolist() == [20, 20, 20]
    assert not roles.any()
    ids, *_ = network_points(data, replace(small_network().settings, embedder="tokens"))
    assert ids.shape == (1, 60, 1 + MAX_DIMENSION, 3)


def test_too_many_points_are_thinned_out() -> None:
    points, trajectory, _ = network_points(observations(1, points=500), small_network().settings)
    assert points.shape[1] == trajectory.shape[1] == 200
    assert points[0, 0, 0] == T_START
    assert points[0, -1, 0] == pytest.approx(T_END)


def test_too_many_trajectories_are_thinned_out() -> None:
    bounds = np.arange(0, 901, 3)
    data = Observations(np.tile([1.0, 2.0, 3.0], 300), np.arange(900.0)[:, None], bounds)
    points, trajectory, _ = network_points(data, small_network().settings)
    assert sorted(set(trajectory[0].tolist())) == list(range(MAX_TRAJECTORIES))
    assert points[0, :, 1].tolist() == [*range(3), *range(297, 300), *range(597, 600), *range(897, 900)]


def encoded(programs: list[Program]) -> np.ndarray:
    rows = [COARSE.encode(program) for program in programs]
    ids = np.full((len(rows), max(map(len, rows)) + 2), PAD, np.int16)
    for row, target in zip(rows, ids, strict=True):
        target[: len(row)] = row
    return ids


def test_proposals_are_distinct_by_structure() -> None:
    systems = [
        concatenate([words("mul -0.5 x0"), words("x1")]),
        concatenate([words("mul 2.5 x0"), words("x1")]),  # the same with another constant, and likelier
        concatenate([words("sin x0"), words("x1")]),
        concatenate([words("add x0 x0"), words("x1")]),  # 2 x0: the same as the first two
        concatenate([words("inv 0"), words("x1")]),  # has no value
    ]
    chances = np.array([-3.0, -2.0, -2.5, -9.0, -0.1])
    found = distinct_proposals(encoded(systems), chances, COARSE)
    assert [c.log_probability for c in found] == [-2.0, -2.5]
    assert [c.count for c in found] == [3, 1]
    assert [c.form for c in found] == [Form.of(systems[1]), Form.of(systems[2])]
    assert found[0].form.key == skeleton(systems[0])


def test_no_valid_candidate_at_all() -> None:
    assert distinct_proposals(encoded([words("inv 0")]), np.array([-1.0]), COARSE) == []


def test_tokens_add_up_and_kinds_are_likelier_than_numbers(runtime: Runtime) -> None:
    dimensions = [1, 3]
    ids, chances = draw(runtime, dimensions)
    memory = runtime.encode(*arrays(dimensions))
    tokens, kinds = token_log_probabilities(runtime, memory, dimensions, ids.astype(np.int64))
    np.testing.assert_allclose(tokens.sum(axis=-1), chances, rtol=1e-4, atol=1e-4)
    begins = (COARSE.token_opcode == CONST) & (COARSE.token_slot <= 0)
    constant = begins[ids]
    assert constant.any()
    assert (kinds[constant] >= tokens[constant]).all()
    assert (kinds[constant] <= 1e-9).all()
    assert (kinds[~constant] == tokens[~constant]).all()
    assert (tokens[ids == PAD] == 0.0).all()
