"""Weights on disk: safetensors files with a JSON header, never a pickle.

A *checkpoint* holds weights, optimiser state and counters of a run; *weights* are what ships: int8 with
one scale a row for the matrices, half precision for the rest.  Files are complete or absent: each is
written beside its place and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from odefinder.errors import CheckpointError, SettingsError
from odefinder.network.model import Network
from odefinder.network.presets import NetworkSettings
from odefinder.tokens import Vocabulary

FORMAT = "odefinder-network"
VERSION = 1
SMALLEST_HALF = 2.0**-24


def header(settings: NetworkSettings, **content: Any) -> dict[str, Any]:
    """What every file says of itself."""
    vocabulary = Vocabulary.preset(settings.vocabulary)
    return {
        "format": FORMAT,
        "version": VERSION,
        "network": asdict(settings),
        "vocabulary": vocabulary.to_dict(),
        "fingerprint": vocabulary.fingerprint,
        "libraries": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        **content,
    }


def write(path: Path, tensors: dict[str, Tensor], head: dict[str, Any]) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(contiguous, temporary, metadata={"odefinder": json.dumps(head)})
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and header of a file; `CheckpointError` says what is wrong with it."""
    if not path.is_file():
        raise CheckpointError(f"there is no file {path}; train first or give the path of a checkpoint")
    try:
        with safe_open(path, framework="pt") as file:
            head = json.loads((file.metadata() or {}).get("odefinder", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is damaged or no safetensors file ({error}); copy it again or go back to an older one"
        ) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but not one of odefinder's networks")
    if head.get("version", VERSION) > VERSION:
        raise CheckpointError(
            f"{path} was written by a newer odefinder; upgrade with pip install -U odefinder"
        )
    return tensors, head


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, without the beginning."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


def network_of(tensors: dict[str, Tensor], head: dict[str, Any], where: str) -> Network:
    """The network of a header with these weights."""
    try:
        settings = NetworkSettings(**head["network"])
        expected = Vocabulary.preset(settings.vocabulary).fingerprint
    except (KeyError, TypeError, SettingsError) as error:
        raise CheckpointError(
            f"{where} describes a network that this version cannot build ({error}); use the odefinder "
            "version that wrote it, or train again"
        ) from error
    found = str(head.get("fingerprint"))
    if found != expected:
        raise CheckpointError(
            f"{where} was trained with another vocabulary (fingerprint {found[:12]}, this version has "
            f"{expected[:12]}): its tokens mean something else. Use the odefinder version that wrote it, "
            "or train again"
        )
    network = Network(settings)
    shapes = {name: tensor.shape for name, tensor in network.state_dict().items()}
    given = {name: tensor.shape for name, tensor in tensors.items()}
    if shapes != given:
        wrong = sorted(name for name in {*shapes, *given} if shapes.get(name) != given.get(name))
        raise CheckpointError(
            f"{where} does not fit its own settings: {len(wrong)} tensors are missing, too many or of "
            f"another shape, such as {wrong[0]}; copy it again or go back to an older one"
        )
    network.load_state_dict(tensors)
    return network


def quantised(network: Network) -> dict[str, Tensor]:
    """Weights for shipping: int8 rows with a scale for matrices, half precision for what is small."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        tensor = tensor.detach().float().cpu()
        if tensor.ndim == 2 and tensor.numel() >= 4096:
            # Rounded with the scale as it is stored; the smallest half-precision number serves rows of zeros.
            scale = (tensor.abs().amax(dim=1, keepdim=True) / 127.0).clamp(min=SMALLEST_HALF).half()
            tensors[name + ".int8"] = (tensor / scale.float()).round().clamp(-127, 127).to(torch.int8)
            tensors[name + ".scale"] = scale
        else:
            tensors[name] = tensor.half()
    return tensors


def dequantised(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Full-precision weights from what `quantised` returned."""
    result: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(".int8"):
            plain = name.removesuffix(".int8")
            result[plain] = tensor.float() * tensors[plain + ".scale"].float()
        elif not name.endswith(".scale"):
            result[name] = tensor.float()
    return result


def save_weights(path: Path, network: Network, **content: Any) -> str:
    """Write shipping weights and return their sha256."""
    write(path, quantised(network), header(network.settings, kind="weights", **content))
    return sha256(path)


def load_network(path: Path) -> Network:
    """The network of a weights file or of a run's checkpoint, for inference."""
    tensors, head = read(path)
    if head.get("kind") == "checkpoint":
        weights = part(tensors, "average.") or part(tensors, "model.")
    else:
        weights = dequantised(tensors)
    return network_of(weights, head, str(path)).eval()


def sha256(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
