"""Compile layers and record whole steps, for each batch shape, before the first example arrives."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from odefinder.language.tokens import EOS
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.model import DecoderLayer, EncoderLayer, Network, WaveEmbedder
from odefinder.prior.batches import Batch

Loss = Callable[..., Tensor]  # of the network's inputs and targets


def compile_layers(network: Network) -> None:
    """Compile one function for all encoder layers and one for all decoder layers, with static shapes."""
    torch._dynamo.config.recompile_limit = 64
    for kind in (EncoderLayer, DecoderLayer, WaveEmbedder):
        function = torch.compile(kind.forward, dynamic=False)
        for module in network.modules():
            if type(module) is kind:
                module.__dict__["forward"] = MethodType(function, module)


def can_be_recorded(network: Network) -> bool:
    """Whether the host need not wait for the GPU to compute gradients: for a large embedding it must."""
    return isinstance(network.embedder, WaveEmbedder)


def prepare_gradients(network: Network) -> Any:
    """Give every weight a gradient that stays where it is; returns the memory pool of all recordings."""
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    return torch.cuda.graph_pool_handle()


class Recording:
    """Loss and gradients of one shape of batch as a CUDA graph: a single launch in place of a thousand.

    A host that launches kernels one by one is easily slower than the GPU.  The gradients are overwritten at
    every replay; they must stay the tensors that they were when this was recorded.
    """

    def __init__(self, loss: Loss, network: Network, inputs: tuple[Tensor, ...], pool: Any):
        """inputs: tensors of this shape on the device; pool: memory shared with other recordings."""
        self._inputs = inputs
        gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # compiles, which must happen before anything is recorded
            torch.autograd.backward(loss(*inputs))
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=pool):
            torch._foreach_zero_(gradients)
            self._loss = loss(*inputs)
            torch.autograd.backward(self._loss)
        self._loss = self._loss.detach()

    def replay(self, inputs: tuple[Tensor, ...]) -> Tensor:
        """The loss of this batch of pinned host tensors; afterwards the network holds the gradients."""
        for kept, new in zip(self._inputs, inputs, strict=True):
            kept.copy_(new, non_blocking=True)
        self._graph.replay()
        return self._loss.clone()


def empty_batch(rows: int, points: int, length: int) -> Batch:
    """A batch of this shape with nothing in it, for compiling the layers."""
    return Batch(
        np.zeros((rows, points, 1 + MAX_DIMENSION), np.float32),
        np.zeros((rows, points), np.int8),
        np.zeros((rows, MAX_DIMENSION), np.int8),
        np.full((rows, length), EOS, np.int16),
        np.full(rows, length, np.int16),
        np.ones(rows, np.int8),
        np.zeros(rows, np.int64),
    )
