"""Muon for the matrices inside the layers, AdamW for everything else.

Muon (Jordan et al. 2024) replaces the momentum of a matrix by the nearest orthogonal matrix, found by a few
Newton-Schulz steps; with the factor 0.2 sqrt(max(rows, columns)) (Liu et al. 2025) its updates are as
large as AdamW's, so one learning rate serves both.  Matrices of one shape are updated in one batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

NEWTON_SCHULZ = 5  # iterations


def orthogonalised(matrices: Tensor) -> Tensor:
    """The nearest (semi-)orthogonal matrix of each of (n, rows, columns), approximately."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(NEWTON_SCHULZ):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised; for parameters with two axes."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float = 1e-3, momentum: float = 0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """One update from the current gradients; a closure, which some optimisers take, is not called."""
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if not parameters:
                continue
            gradients = [cast(Tensor, parameter.grad) for parameter in parameters]
            buffers = [self._momentum(parameter) for parameter in parameters]
            # All at once, not one by one: the processor that starts the work is easily the bottleneck.
            torch._foreach_lerp_(buffers, gradients, 1.0 - group["momentum"])
            nesterov = torch._foreach_lerp(gradients, buffers, group["momentum"])
            by_shape: dict[torch.Size, list[int]] = defaultdict(list)
            for k, parameter in enumerate(parameters):
                by_shape[parameter.shape].append(k)
            for shape, members in by_shape.items():
                chosen = [parameters[k] for k in members]
                stacked = orthogonalised(torch.stack([nesterov[k] for k in members])).to(chosen[0].dtype)
                size = group["lr"] * 0.2 * max(shape) ** 0.5
                torch._foreach_add_(chosen, list(stacked.unbind()), alpha=-size)

    def _momentum(self, parameter: Tensor) -> Tensor:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum: Tensor = state["momentum"]
        return momentum


class Optimizer:
    """Both optimisers behind one face."""

    def __init__(self, network: nn.Module, lr: float, *, muon: bool = True):
        matrices: list[nn.Parameter] = []
        rest: list[nn.Parameter] = []
        for name, parameter in network.named_parameters():
            inside = name.startswith(("encoder.", "decoder.")) and parameter.ndim == 2
            (matrices if inside and muon else rest).append(parameter)
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(
                rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.0, fused=rest[0].device.type == "cuda"
            )
        ]
        if matrices:
            self.parts.append(Muon(matrices, lr=lr))

    def step(self, lr: float) -> None:
        """One update at this learning rate; the gradients stay."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = lr
            part.step()

    def state(self) -> dict[str, Tensor]:
        """All state as named tensors."""
        tensors: dict[str, Tensor] = {}
        for k, part in enumerate(self.parts):
            for index, state in part.state_dict()["state"].items():
                for name, value in state.items():
                    tensors[f"{k}.{index}.{name}"] = torch.as_tensor(value)
        return tensors

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for k, part in enumerate(self.parts):
            content = part.state_dict()
            restored: dict[int, dict[str, Tensor]] = defaultdict(dict)
            for key, value in tensors.items():
                which, index, name = key.split(".")
                if int(which) == k:
                    restored[int(index)][name] = value
            content["state"] = dict(restored)
            part.load_state_dict(content)


def learning_rate(peak: float, progress: float, warmup: float, decay: float) -> float:
    """Rise over the first share `warmup` of the plan, fall to zero over the last share `decay`."""
    rising = min(1.0, (progress + 1e-4) / warmup) if warmup > 0 else 1.0
    falling = min(1.0, max(0.0, 1.0 - progress) / decay) if decay > 0 else 1.0
    return peak * min(rising, falling)
