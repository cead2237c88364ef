"""Files of weights: what is written comes back, and what is wrong with a file is said."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from odefinder.data.roles import KNOWN
from odefinder.errors import CheckpointError, DataError
from odefinder.network import checkpoint
from odefinder.network.checkpoint import (
    dequantised,
    header,
    load_network,
    quantised,
    read,
    save_weights,
    write,
)
from odefinder.network.files import shipped_weights
from odefinder.network.model import ROLE_FEATURES, Network, shifted
from odefinder.network.presets import network_preset
from tests.networks import observed, small_network


@pytest.fixture(scope="module")
def network() -> Network:
    return small_network()


@pytest.fixture
def file(network: Network, tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "weights.safetensors"
    save_weights(path, network, metrics={"loss": 1.5})
    return path


def logits(network: Network) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    inputs = shifted(torch.randint(4, network.vocabulary_size, (2, 30), generator=generator))
    with torch.no_grad():
        return network(*observed([2, 3]), inputs)


def without_roles(network: Network) -> dict[str, torch.Tensor]:
    """The weights that the network would have had before there were roles."""
    tensors = dict(network.state_dict())
    tensors["embedder.enter.weight"] = tensors["embedder.enter.weight"][:, :-ROLE_FEATURES]
    return tensors


def with_header(path: Path, **changes) -> Path:
    """The same file with another header; None removes an entry."""
    tensors, head = read(path)
    head = {name: value for name, value in (head | changes).items() if value is not None}
    write(path, tensors, head)
    return path


def test_a_checkpoint_comes_back_exactly(network: Network, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    tensors = {f"model.{name}": tensor for name, tensor in network.state_dict().items()}
    write(path, tensors, header(network.settings, kind="checkpoint", step=7))
    again, head = read(path)
    assert head["step"] == 7
    assert head["network"] == asdict(network.settings)
    assert set(head["libraries"]) == {"python", "torch", "numpy"}
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], tensors[name]) for name in tensors)
    assert torch.equal(logits(load_network(path)), logits(network))


def test_weights_come_back_nearly(network: Network, file: Path) -> None:
    assert read(file)[1]["metrics"] == {"loss": 1.5}
    loaded = load_network(file)
    assert not loaded.training
    error = logits(loaded) - logits(network)
    assert error.std() < 0.03 * logits(network).std()


def test_int8_rows_have_a_bounded_error(network: Network) -> None:
    again = dequantised(quantised(network))
    weights = network.state_dict()
    assert again.keys() == weights.keys()
    for name, weight in weights.items():
        if weight.ndim == 2 and name.startswith(("encoder.", "decoder.")):
            row = weight.abs().amax(dim=-1, keepdim=True)
            assert ((again[name] - weight).abs() <= 0.5001 * row / 127 + 1e-7).all()
        else:
            assert torch.equal(again[name], weight)


def test_weights_of_version_1(network: Network, tmp_path: Path) -> None:
    """Rows of int8 (outputs, inputs) with scales (outputs, 1) in half precision, no graphs, no roles."""
    tensors = {name: tensor.half() for name, tensor in without_roles(network).items()}
    matrix = tensors.pop("head.weight")
    scale = matrix.abs().amax(dim=1, keepdim=True) / 127
    tensors |= {"head.weight.int8": (matrix / scale).round().to(torch.int8), "head.weight.scale": scale}
    path = tmp_path / "old.safetensors"
    write(path, tensors, header(network.settings, kind="weights") | {"version": 1})
    assert (logits(load_network(path)) - logits(network)).std() < 0.02 * logits(network).std()


@torch.no_grad()
def test_weights_from_before_roles_are_carried_over(network: Network, tmp_path: Path) -> None:
    """The same logits for states that are all seen, and no difference for others until it is trained."""
    tensors = without_roles(network)
    path = tmp_path / "checkpoint.safetensors"
    older = {f"model.{name}": tensor for name, tensor in tensors.items()}
    write(path, older, header(network.settings, kind="checkpoint") | {"version": 2})
    carried = load_network(path)
    added = carried.state_dict()["embedder.enter.weight"][:, -ROLE_FEATURES:]
    assert added.shape == (2 * network.settings.width, ROLE_FEATURES)
    assert not added.any()
    torch.testing.assert_close(logits(carried), logits(network), rtol=0.0, atol=1e-6)
    points, trajectory, roles = observed([2, 3])
    known = torch.full_like(roles, KNOWN)
    assert torch.equal(carried.encode(points, trajectory, known), carried.encode(points, trajectory, roles))
    write(path, older, header(network.settings, kind="checkpoint"))
    with pytest.raises(CheckpointError, match=r"another shape, such as embedder\.enter\.weight"):
        load_network(path)


def test_the_shipped_weights_are_read() -> None:
    network = load_network(shipped_weights())
    assert network.settings == network_preset("default")


def test_int8_of_zeros_and_of_tiny_rows() -> None:
    network = Network(small_network().settings)  # its output projections are zero
    network.encoder_layers[0].attention.key.weight.data[:] = 1e-9
    again = dequantised(quantised(network))
    assert not again["encoder.0.attention.output.weight"].any()
    assert (again["encoder.0.attention.key.weight"].abs() <= 1e-7).all()


def test_the_checksum_is_that_of_the_file(network: Network, tmp_path: Path) -> None:
    first, second = (save_weights(tmp_path / name, network) for name in ("a", "b"))
    assert first == second == checkpoint.sha256(tmp_path / "a")
    assert len(first) == 64


@pytest.mark.parametrize("keep", [0, 5, 1000, -1, -1000])
def test_a_truncated_file(file: Path, keep: int) -> None:
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=r"weights\.safetensors is damaged .*copy it again"):
        load_network(file)


def test_a_damaged_header(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[40:60] = b"\xff" * 20
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged"):
        load_network(file)


def test_no_file_or_no_safetensors(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no file"):
        load_network(tmp_path / "none")
    with pytest.raises(CheckpointError, match="there is no file"):
        load_network(tmp_path)
    (tmp_path / "text").write_text("hello, this is a text and no network at all")
    with pytest.raises(CheckpointError, match="damaged or not a safetensors file"):
        load_network(tmp_path / "text")


@pytest.mark.parametrize("metadata", [None, {"odefinder": "[]"}, {"odefinder": "{}"}, {"format": "pt"}])
def test_a_foreign_file(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    save_file({"weight": torch.zeros(3)}, tmp_path / "other.safetensors", metadata=metadata)
    with pytest.raises(CheckpointError, match="not one of odefinder's networks"):
        load_network(tmp_path / "other.safetensors")


def test_another_vocabulary(file: Path) -> None:
    with pytest.raises(CheckpointError, match=r"another vocabulary .*version that wrote it, or train again"):
        load_network(with_header(file, fingerprint="0123456789abcdef"))


def test_a_newer_version(file: Path) -> None:
    with pytest.raises(CheckpointError, match="newer odefinder; upgrade"):
        load_network(with_header(file, version=checkpoint.VERSION + 1))


@pytest.mark.parametrize("change", [{"width": 7}, {"layers": 3}, {"vocabulary": "braille"}])
def test_settings_that_this_version_does_not_know(network: Network, file: Path, change: dict) -> None:
    with pytest.raises(CheckpointError, match="cannot build"):
        load_network(with_header(file, network=asdict(network.settings) | change))


def test_tensors_that_do_not_fit(network: Network, file: Path) -> None:
    tensors, head = read(file)
    gain = tensors.pop("encoder.1.attention.gain")
    write(file, tensors, head)
    with pytest.raises(CheckpointError, match=r"1 tensors are missing.* encoder\.1\.attention\.gain"):
        load_network(file)
    write(file, tensors | {"encoder.1.attention.gain": gain[:2]}, head)
    with pytest.raises(CheckpointError, match=r"another shape, such as encoder\.1\.attention\.gain"):
        load_network(file)
    with pytest.raises(CheckpointError, match="does not fit its own settings"):
        load_network(with_header(file, network=asdict(network.settings) | {"width": 32}))


@pytest.mark.parametrize("what", ["save_file", "replace"])
def test_a_failing_write_leaves_the_old_file(
    network: Network, file: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    before = file.read_bytes()

    def full_disk(first: object, path: Path, **_: object) -> None:
        if what == "save_file":
            Path(path).write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint if what == "save_file" else os, what, full_disk)
    with pytest.raises(DataError, match="No space"):
        save_weights(file, network, metrics={"loss": 0.5})
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_the_header_is_plain_json(file: Path) -> None:
    size = int.from_bytes(file.read_bytes()[:8], "little")
    metadata = json.loads(file.read_bytes()[8 : 8 + size])["__metadata__"]
    assert json.loads(metadata["odefinder"])["format"] == checkpoint.FORMAT
    assert load_file(file)["encoder.0.attention.key.weight.int8"].dtype == torch.int8
