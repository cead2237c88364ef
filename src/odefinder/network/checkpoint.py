"""Weights on disk: safetensors files with a JSON header, never a pickle.

A *checkpoint* holds weights, optimiser state and counters of a run; *weights* are what ships: the matrices
of the layers as int8, and the graphs that decode with them (`graphs.py`).  Files are complete or absent:
each is written under a temporary name next to its place and then renamed.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F

from odefinder.edge.documents import parsed
from odefinder.edge.writing import make_folder, replacing
from odefinder.errors import CheckpointError
from odefinder.language.tokens import Vocabulary
from odefinder.network.files import (
    FORMAT,
    VERSION,
    WITH_ROLES,
    check_description,
    damaged,
    settings_of,
    sha256,
    verify,
    writes_outlines,
)
from odefinder.network.model import ROLE_FEATURES, Network
from odefinder.network.presets import NetworkSettings

SMALLEST_SCALE = 2.0**-24  # for a column of zeros
GRAPH = "graph."  # prefix of the names of graphs in a weights file


def header(settings: NetworkSettings, **content: Any) -> dict[str, Any]:
    """What every file says about itself."""
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
    make_folder(path.parent)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with replacing(path) as place:
        save_file(contiguous, place, metadata={"odefinder": json.dumps(head)})


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and header of a file; `CheckpointError` says what is wrong with it."""
    verify(path)
    try:
        with safe_open(path, framework="pt") as file:
            head = parsed((file.metadata() or {}).get("odefinder", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
        raise damaged(path, error) from error
    check_description(head, path)
    return tensors, head


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with the prefix, named without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


def network_of(tensors: dict[str, Tensor], head: dict[str, Any], where: str) -> Network:
    """The network of a header with these weights.

    Weights from before roles know nothing of them: what they would add to a point is zero.
    """
    settings = settings_of(head, where, sum(one.numel() for one in tensors.values()))
    network = Network(settings)
    entrance = "embedder.enter.weight"
    if settings.embedder == "waves" and head.get("version", 1) < WITH_ROLES and entrance in tensors:
        tensors = tensors | {entrance: F.pad(tensors[entrance], (0, ROLE_FEATURES))}
    shapes = {name: tensor.shape for name, tensor in network.state_dict().items()}
    given = {name: tensor.shape for name, tensor in tensors.items()}
    if shapes != given:
        wrong = sorted(name for name in {*shapes, *given} if shapes.get(name) != given.get(name))
        raise CheckpointError(
            f"{where} does not fit its own settings: {len(wrong)} tensors are missing, unexpected or of "
            f"another shape, such as {wrong[0]}; copy it again or go back to an older one"
        )
    network.load_state_dict(tensors)
    return network


def quantised(network: Network) -> dict[str, Tensor]:
    """Weights for shipping: the layers' matrices (nearly all of the weights) as int8 (inputs, outputs).

    Each column has its own scale (outputs,).
    """
    tensors: dict[str, Tensor] = {}
    for name, tensor in network.state_dict().items():
        tensor = tensor.detach().float().cpu()
        if tensor.ndim == 2 and name.startswith(("encoder.", "decoder.")):
            scale = (tensor.abs().amax(dim=1) / 127.0).clamp(min=SMALLEST_SCALE)
            tensors[name + ".int8"] = (tensor.T / scale).round().to(torch.int8).contiguous()
            tensors[name + ".scale"] = scale
        else:
            tensors[name] = tensor
    return tensors


def dequantised(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Full-precision weights from what `quantised` returned."""
    result: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(".int8"):
            plain = name.removesuffix(".int8")
            if plain + ".scale" not in tensors:
                raise CheckpointError(f"the weights {plain[:60]!r} have no scale; copy the file again")
            scale = tensors[plain + ".scale"].float()
            result[plain] = tensor * scale if scale.ndim == 2 else (tensor * scale).T  # 2: version 1
        elif not name.endswith(".scale") and not name.startswith(GRAPH):
            result[name] = tensor.float()
    return result


def save_weights(path: Path, network: Network, *, int8: bool = True, **content: Any) -> str:
    """Write shipping weights with the graphs that decode with them, and return their sha256.

    int8=False keeps full precision, four times as large: for comparisons.
    """
    from odefinder.network.graphs import decoder_graph, encoder_graph

    tensors = quantised(network) if int8 else dequantised(dict(network.state_dict()))
    shapes = {name: (str(t.dtype).removeprefix("torch."), tuple(t.shape)) for name, t in tensors.items()}
    needed = {}  # names of the weights that each graph needs
    for name, build in (("encoder", encoder_graph), ("decoder", decoder_graph)):
        graph = build(network.settings, shapes)
        needed[name] = [entry.name for entry in graph.graph.initializer if entry.name in shapes]
        tensors[GRAPH + name] = torch.frombuffer(bytearray(graph.SerializeToString()), dtype=torch.uint8)
    write(path, tensors, header(network.settings, kind="weights", graphs=needed, **content))
    return sha256(path)


def load_network(path: Path) -> Network:
    """The network of a weights file or of a run's checkpoint, for inference."""
    tensors, head = read(path)
    if head.get("kind") == "checkpoint":
        weights = part(tensors, "average.") or part(tensors, "model.")
    else:
        weights = dequantised(tensors)
    network = network_of(weights, head, str(path)).eval()
    network.writes_outlines = writes_outlines(head)
    return network
