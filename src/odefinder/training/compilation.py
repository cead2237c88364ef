"""Layers compiled once for each shape of batch, before the first example is there."""

from __future__ import annotations

from types import MethodType

import numpy as np
import torch

from odefinder.network.model import DecoderLayer, EncoderLayer, Network, WaveEmbedder
from odefinder.prior.batches import Batch
from odefinder.tokens import EOS, MAX_DIMENSION


def compile_layers(network: Network) -> None:
    """Compile one function for all encoder layers and one for all decoder layers, static shapes."""
    torch._dynamo.config.recompile_limit = 64
    for kind in (EncoderLayer, DecoderLayer, WaveEmbedder):
        function = torch.compile(kind.forward, dynamic=False)
        for module in network.modules():
            if type(module) is kind:
                module.__dict__["forward"] = MethodType(function, module)


def empty_batch(rows: int, points: int, length: int) -> Batch:
    """A batch of this shape with nothing in it, on which the layers can be compiled."""
    return Batch(
        np.zeros((rows, points, 1 + MAX_DIMENSION), np.float32),
        np.zeros((rows, points), np.int8),
        np.full((rows, length), EOS, np.int16),
        np.full(rows, length, np.int16),
        np.ones(rows, np.int8),
        np.zeros(rows, np.int64),
    )
