"""Weights read without torch: the same numbers, and what is wrong with a file is said."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from odefinder.errors import CheckpointError
from odefinder.network import files
from odefinder.network.checkpoint import header, read, save_weights, write
from odefinder.network.export import agreement, averaged, export, main
from odefinder.network.files import read_weights, sha256, shipped_weights, write_manifest
from odefinder.network.loading import load_runtime
from odefinder.network.model import Network
from odefinder.network.onnx_runtime import OnnxRuntime
from tests.networks import small_network

# Rounding costs a tiny network with random weights more (3 % of the spread) than the real one (1 %), whose
# tolerance is `export.TOLERANCE`.
TINY_TOLERANCE = 0.05


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    save_weights(path, small_network())
    return path


def test_the_same_as_safetensors_reads(file: Path) -> None:
    expected, head = read(file)
    tensors, found = read_weights(file)
    assert found == head
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, expected[name].numpy(), strict=True)


@pytest.mark.parametrize("keep", [0, 5, 1000, -1, -1000])
def test_a_truncated_file(file: Path, keep: int) -> None:
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=r"weights\.safetensors is damaged .*copy it again"):
        OnnxRuntime(file)


def test_no_file_or_no_safetensors(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no file"):
        OnnxRuntime(tmp_path / "none")
    (tmp_path / "text").write_text("hello, this is a text and no network at all")
    with pytest.raises(CheckpointError, match="damaged or not a safetensors file"):
        OnnxRuntime(tmp_path / "text")


def test_a_file_that_is_not_for_this_version(file: Path) -> None:
    tensors, head = read(file)
    write(file, tensors, head | {"fingerprint": "0123456789abcdef"})
    with pytest.raises(CheckpointError, match=r"another vocabulary .*version that wrote it"):
        OnnxRuntime(file)
    write(file, tensors, head | {"version": files.VERSION + 1})
    with pytest.raises(CheckpointError, match="newer odefinder; upgrade"):
        OnnxRuntime(file)
    write(file, tensors, head | {"format": "another"})
    with pytest.raises(CheckpointError, match="not one of odefinder's networks"):
        OnnxRuntime(file)


def test_a_checkpoint_must_be_exported_first(tmp_path: Path) -> None:
    network = small_network()
    path = tmp_path / "checkpoint.safetensors"
    tensors = {f"model.{name}": tensor for name, tensor in network.state_dict().items()}
    write(path, tensors, header(network.settings, kind="checkpoint", progress={"step": 3}))
    with pytest.raises(CheckpointError, match=r"python -m odefinder\.network\.export"):
        load_runtime(path)
    found = export([path], tmp_path / "new" / "weights.safetensors", TINY_TOLERANCE)
    assert 0.0 < found.typical < TINY_TOLERANCE * found.spread
    assert [p.name for p in sorted((tmp_path / "new").iterdir())] == ["manifest.json", "weights.safetensors"]
    assert read_weights(tmp_path / "new" / "weights.safetensors")[1]["progress"] == {"step": 3}
    assert load_runtime(tmp_path / "new" / "weights.safetensors").settings == network.settings


def test_weights_that_onnxruntime_cannot_run(file: Path) -> None:
    tensors, head = read(file)
    tensors["graph.decoder"] = tensors["graph.decoder"][:1000]
    write(file, tensors, head)
    with pytest.raises(CheckpointError, match=r"onnxruntime .* cannot run .*upgrade it"):
        OnnxRuntime(file)


def test_the_manifest_guards_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WEIGHTS", file.parent)
    with pytest.raises(CheckpointError, match="comes without weights; install a release"):
        shipped_weights()
    write_manifest(file)
    assert shipped_weights() == file
    load_runtime()
    content = bytearray(file.read_bytes())
    content[-10] ^= 1
    file.write_bytes(content)
    for kind in ("onnx", "torch"):
        with pytest.raises(CheckpointError, match=r"not the file that was released .*force-reinstall"):
            load_runtime(kind=kind)
    file.unlink()
    with pytest.raises(CheckpointError, match="there is no file"):
        load_runtime()


def test_networks_that_disagree_are_not_exported(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "weights.safetensors"
    with pytest.raises(CheckpointError, match="was not exported"):
        export([file], out, tolerance=1e-6)
    assert list(out.parent.iterdir()) == []


def test_the_mean_of_several_networks(tmp_path: Path) -> None:
    paths = [tmp_path / "one.safetensors", tmp_path / "other.safetensors"]
    one, other = small_network(), small_network()
    for parameter in other.parameters():
        parameter.data *= 3.0
    for path, network in zip(paths, (one, other), strict=True):
        save_weights(path, network, int8=False)
    mean = averaged(paths).state_dict()
    for name, tensor in averaged(paths[:1]).state_dict().items():
        torch.testing.assert_close(mean[name], 2.0 * tensor)
    save_weights(paths[1], Network(replace(one.settings, waves=3)))
    with pytest.raises(CheckpointError, match="different shapes"):
        averaged(paths)


def test_agreement_of_a_network_with_itself(file: Path) -> None:
    used = load_runtime(file, "torch", device="cpu")
    assert agreement(used, used).largest == 0.0


def test_the_command(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "again.safetensors"
    monkeypatch.setattr("sys.argv", ["export", str(file), "--out", str(out)])
    monkeypatch.setattr("odefinder.network.export.export", partial(export, tolerance=TINY_TOLERANCE))
    main()
    assert "logits differ by" in capsys.readouterr().out
    assert sha256(out)
