"""A weights file -> a network that decodes, with onnxruntime or torch."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from odefinder.errors import MissingExtraError, SettingsError
from odefinder.network.files import shipped_weights
from odefinder.network.runtime import Runtime

Kind = Literal["onnx", "torch"]


def load_runtime(
    path: Path | str | None = None, kind: Kind = "onnx", *, threads: int = 1, device: str | None = None
) -> Runtime:
    """The network of a weights file, by default the shipped one.

    threads: of the processor; on a busy machine two are slower than one.  device: of torch, by default a GPU
    if there is one.
    """
    file = Path(path) if path is not None else shipped_weights()
    if kind == "onnx":
        from odefinder.network.onnx_runtime import OnnxRuntime

        return OnnxRuntime(file, threads=threads)
    if kind != "torch":
        raise SettingsError(f"the runtime is onnx or torch, not {kind!r}")
    try:
        from odefinder.network.checkpoint import load_network
        from odefinder.network.torch_runtime import TorchRuntime, best_device
    except ImportError as missing:
        raise MissingExtraError("The runtime 'torch'", "train") from missing
    import torch

    torch.set_num_threads(threads)
    return TorchRuntime(load_network(file), device or best_device())
