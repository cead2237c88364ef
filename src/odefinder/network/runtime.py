"""What decoding needs from a network: one small interface, with onnxruntime or torch behind it.

`onnx` (the core install) decodes with 8-bit integers on a processor; `torch` (the extra `train`) in full
precision, also on a GPU, where it decodes many trajectories at once.

Shapes: B trajectories, S samples of each, N sequences (B * S at first), P points, D = MAX_DIMENSION columns,
L tokens, V vocabulary.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from odefinder.network.presets import NetworkSettings

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class Sequences(Protocol):
    """Token sequences that are being written, starting after BOS."""

    def draw(self, tokens: Ids, rows: Ids, uniform: Floats, temperature: float) -> tuple[Ids, Floats]:
        """Take the last tokens (N,) and draw the next: tokens (N,) and their log-probabilities (N,).

        rows (N,): which of the masks applies to each; uniform (N,): random numbers in (0, 1] that decide.
        """

    def logits(self, tokens: Ids) -> Floats:
        """Take the last tokens (N,): the logits (N, V) of what may follow, without masks."""

    def keep(self, chosen: NDArray[np.bool_] | Ids) -> None:
        """Continue with the chosen sequences of a single trajectory: which (N,), or their numbers.

        They may be in any order, and one that is there twice becomes two, up to as many as at the start.
        """


class Runtime(Protocol):
    """A network that decodes."""

    settings: NetworkSettings
    together: int  # trajectories that are best decoded at once
    knows_roles: bool  # whether it was trained on states that nobody measured and on inputs
    writes_outlines: bool  # whether it was trained on outlines (language/outlines.py)

    def encode(
        self, points: NDArray[Any], trajectory: NDArray[np.integer], roles: NDArray[np.integer]
    ) -> Any:
        """The memory of points as the network reads them (B, P, ...) with trajectory indices (B, P).

        roles (B, D): what each column is; a network from before roles is not told.
        """

    def begin(self, memory: Any, samples: int, masks: NDArray[np.bool_]) -> Sequences:
        """Empty sequences, `samples` per trajectory; masks (rows, V) of tokens that may come next."""

    def logits(self, memory: Any, tokens: Ids) -> NDArray[np.float32]:
        """Logits (N, L, V) of what follows each of the tokens (N, L), all at once; the first is BOS.

        Sequences are padded at the end with PAD; logits after padding mean nothing.
        """


def draw_tokens(library: Any, logits: Any, allowed: Any, uniform: Any, temperature: float) -> tuple[Any, Any]:
    """Tokens (N,) drawn at a temperature, and their log-probabilities (N,) at temperature 1.

    logits, allowed (N, V), uniform (N,): arrays of the library, which is numpy or torch.  A token is drawn
    where the cumulative distribution reaches the uniform number, so that one number decides.
    """
    masked = library.where(allowed, logits, -np.inf)
    masked = masked - library.amax(masked, -1)[:, None]
    cumulative = library.exp(masked / temperature).cumsum(-1)
    tokens = (cumulative < uniform[:, None] * cumulative[:, -1:]).sum(-1)
    take = library.take_along_axis if library is np else library.take_along_dim
    chosen = take(masked, tokens[:, None], 1)[:, 0]
    return tokens, chosen - library.log(library.exp(masked).sum(-1))
