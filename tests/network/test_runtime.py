"""The two runtimes: they compute the same, and what a sequence becomes depends on nothing beside it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.errors import SettingsError
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.tokens import BOS
from odefinder.network import loading, onnx_runtime, torch_runtime
from odefinder.network.checkpoint import save_weights
from odefinder.network.loading import load_runtime
from odefinder.network.runtime import Runtime, draw_tokens
from tests.networks import arrays, small_network

DIMENSIONS = [2, 3]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("a folder with spaces")
    network = small_network()
    save_weights(folder / "int8.safetensors", network)
    save_weights(folder / "full.safetensors", network, int8=False)
    return {"int8": folder / "int8.safetensors", "full": folder / "full.safetensors"}


@pytest.fixture(scope="module")
def runtimes(files: dict[str, Path]) -> dict[str, Runtime]:
    return {
        "onnx": load_runtime(files["int8"]),
        "torch": load_runtime(str(files["int8"]), "torch", device="cpu"),
        "onnx full": load_runtime(files["full"]),
        "torch full": load_runtime(files["full"], "torch", device="cpu"),
    }


def tokens_of(used: Runtime, rows: int, length: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tokens = rng.integers(4, 140, (rows, length))
    tokens[:, 0] = BOS
    return tokens


def stepwise(used: Runtime, tokens: np.ndarray, samples: int, keep: np.ndarray | None = None) -> np.ndarray:
    """Log-probabilities (N, L) of given tokens, written one at a time."""
    size = 145
    masks = np.concatenate((np.ones((1, size), dtype=bool), np.eye(size, dtype=bool)))
    sequences = used.begin(used.encode(*arrays(DIMENSIONS[: len(tokens) // samples])), samples, masks)
    found = []
    for position in range(tokens.shape[1]):
        if position == 5 and keep is not None:
            sequences.keep(keep)
            tokens, found = tokens[keep], [chance[keep] for chance in found]
        rows = np.zeros(len(tokens), dtype=np.int64)
        drawn, chance = sequences.draw(tokens[:, position], rows, np.full(len(tokens), 0.5), 1.0)
        found.append(np.stack((drawn, chance), 1))
    return np.stack(found, 1)


def test_full_precision_is_the_same_network(runtimes: dict[str, Runtime]) -> None:
    found = []
    for name in ("torch full", "onnx full"):
        used = runtimes[name]
        memory = used.encode(*arrays(DIMENSIONS))
        found.append(used.logits(memory, tokens_of(used, 6, 30)))
    assert found[0].shape == (6, 30, 145)
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def test_roles_reach_the_graph(runtimes: dict[str, Runtime]) -> None:
    points, trajectory, roles = arrays(DIMENSIONS)
    plain = runtimes["onnx full"].logits(
        runtimes["onnx full"].encode(points, trajectory, roles), tokens_of(runtimes["onnx full"], 6, 9)
    )
    points[:, :, 2] = np.nan
    roles[:, 1], roles[1, 2] = UNSEEN, KNOWN
    found = [
        used.logits(used.encode(points, trajectory, roles), tokens_of(used, 6, 9))
        for used in (runtimes["torch full"], runtimes["onnx full"])
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    assert np.abs(found[1] - plain).max() > 0.1


def test_graphs_from_before_roles_are_not_told() -> None:
    """The shipped file until it is trained again: it reads what is seen, and decodes."""
    used = load_runtime()
    assert isinstance(used, onnx_runtime.OnnxRuntime)
    points, trajectory, roles = arrays([2])
    memory = used.encode(points, trajectory, roles)
    if not used.knows_roles:
        roles[:] = UNSEEN
        again = used.encode(points, trajectory, roles)
        assert all(np.array_equal(memory[name], again[name]) for name in memory)


def test_8_bits_are_nearly_the_same(runtimes: dict[str, Runtime]) -> None:
    expected, found = (
        runtimes[name].logits(runtimes[name].encode(*arrays(DIMENSIONS)), tokens_of(runtimes[name], 6, 30))
        for name in ("torch", "onnx")
    )
    difference = found - expected
    # A tiny network with random weights; the real one differs by a third of this (see `export.TOLERANCE`).
    assert 0.0 < np.sqrt((difference**2).mean()) < 0.05 * expected.std()


def test_the_papers_embedder(tmp_path: Path) -> None:
    network = small_network(embedder="tokens", token_width=8, vocabulary="paper", max_length=40)
    save_weights(tmp_path / "paper.safetensors", network, int8=False)
    points, trajectory, roles = arrays([1, 4])
    read = number_ids(points, allow_missing=True)
    expected, found = (
        used.logits(used.encode(read, trajectory, roles), tokens_of(used, 2, 9))
        for used in (load_runtime(tmp_path / "paper.safetensors", kind) for kind in ("torch", "onnx"))
    )
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["torch full", "onnx full"])
def test_one_token_at_a_time_is_all_at_once(
    runtimes: dict[str, Runtime], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_runtime, "BLOCK", 3)
    monkeypatch.setattr(torch_runtime, "CACHE_START", 3)
    used = runtimes[name]
    tokens = tokens_of(used, 6, 20)
    logits = used.logits(used.encode(*arrays(DIMENSIONS)), tokens).astype(np.float64)
    chances = np.exp(logits - logits.max(axis=2, keepdims=True))
    chances /= chances.sum(axis=2, keepdims=True)
    expected = (chances.cumsum(axis=2) < 0.5).sum(axis=2)
    drawn, found = np.moveaxis(stepwise(used, tokens, 3), 2, 0)
    np.testing.assert_array_equal(drawn, expected)
    np.testing.assert_allclose(
        found, np.log(np.take_along_axis(chances, expected[..., None], 2)[..., 0]), atol=1e-4
    )


def test_sequences_do_not_depend_on_those_beside_them(runtimes: dict[str, Runtime]) -> None:
    """Each row is rounded to 8 bits by itself, so another trajectory beside it does not change a bit."""
    used = runtimes["onnx"]
    tokens = tokens_of(used, 6, 20)
    together = stepwise(used, tokens, 3)
    np.testing.assert_array_equal(stepwise(used, tokens[:3], 3), together[:3])
    # With fewer samples float sums may be taken in another order.
    chosen = np.array([True, False, True])
    np.testing.assert_allclose(stepwise(used, tokens[:3], 3, keep=chosen), together[:3][chosen], atol=1e-3)
    np.testing.assert_allclose(stepwise(used, tokens[:1], 1), together[:1], atol=1e-3)


@pytest.mark.parametrize("name", ["torch full", "onnx full"])
def test_sequences_branch_and_end(
    runtimes: dict[str, Runtime], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order, twice, fewer and then more, within a block of the cache and beyond."""
    monkeypatch.setattr(onnx_runtime, "BLOCK", 3)
    used = runtimes[name]
    memory = used.encode(*arrays([2]))
    sequences = used.begin(memory, 6, np.ones((0, 145), dtype=bool))
    written = np.zeros((6, 0), dtype=np.int64)
    rng = np.random.default_rng(0)
    for rows in ([0], [0, 0], [1, 0, 1], [2, 2, 0, 1, 1, 0], [5, 3], [1, 0, 1, 1], [0, 3, 2]):
        sequences.keep(np.array(rows))
        written = written[rows]
        for _ in range(2):
            word = rng.integers(4, 140, len(rows)) if written.shape[1] else np.full(len(rows), BOS)
            written = np.column_stack([written, word])
            found = sequences.logits(word)
        np.testing.assert_allclose(found, used.logits(memory, written)[:, -1], atol=1e-4)


def test_given_sequences_of_any_length_and_number(runtimes: dict[str, Runtime]) -> None:
    for name, tolerance in (("onnx full", 1e-5), ("torch full", 1e-5)):
        used = runtimes[name]
        tokens = tokens_of(used, 80, 12)
        lengths = np.random.default_rng(1).integers(2, 13, 80)
        padding = np.arange(12) >= lengths[:, None]
        memory = used.encode(*arrays(DIMENSIONS))
        expected = used.logits(memory, tokens)
        found = used.logits(memory, np.where(padding, PAD, tokens))
        np.testing.assert_allclose(found[~padding], expected[~padding], atol=tolerance)


@pytest.mark.parametrize("library", [np, torch])
def test_tokens_are_drawn_where_the_distribution_reaches_the_number(library) -> None:
    logits = np.log(np.array([[0.1, 0.2, 0.3, 0.4]]).repeat(6, 0))
    allowed = np.array([[False, True, True, False]]).repeat(6, 0)
    uniform = np.array([1e-17, 0.39, 0.41, 0.9, 1.0 - 2**-53, 1.0])
    given = [library.asarray(x) for x in (logits, allowed, uniform)]
    tokens, chances = draw_tokens(library, *given, 1.0)
    assert tokens.tolist() == [1, 1, 2, 2, 2, 2]
    np.testing.assert_allclose(chances, np.log([0.4, 0.4, 0.6, 0.6, 0.6, 0.6]))
    cold, same = draw_tokens(library, *given, 0.01)
    assert cold.tolist() == [1, 2, 2, 2, 2, 2] or cold.tolist() == [2] * 6
    np.testing.assert_allclose(same, np.log(np.where(np.asarray(cold) == 1, 0.4, 0.6)))


def test_the_core_install_needs_no_torch(files: dict[str, Path]) -> None:
    code = f"""
import sys
for name in ("torch", "onnx", "safetensors"):
    sys.modules[name] = None  # importing it fails
import numpy as np
from odefinder.inference.propose.decode import Decoding, Reading, decode
from odefinder.data.observations import Observations
from odefinder.network.loading import load_runtime
times = np.linspace(1, 10, 30)
data = Observations(times, np.sin(times)[:, None], np.array([0, 30]))
assert decode(Reading.of(load_runtime({str(files["int8"])!r}), data), Decoding(samples=3))
try:
    load_runtime({str(files["int8"])!r}, "torch")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "odefinder[train]" in done.stdout, done.stderr


def test_no_such_runtime(files: dict[str, Path]) -> None:
    with pytest.raises(SettingsError, match="onnx or torch"):
        load_runtime(files["int8"], "numpy")  # type: ignore[arg-type]


def test_the_shipped_weights_are_the_default(files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "shipped_weights", lambda: files["int8"])
    assert load_runtime().settings == small_network().settings
