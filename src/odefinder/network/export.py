"""From a checkpoint to the weights that ship: int8, with the graphs for onnxruntime, checked.

    python -m odefinder.network.export runs/default/checkpoint.safetensors [MORE ...] [--out FILE]

Without --out the weights become those of this package.  Of several files, the weights are averaged, and what
the file says about its training is that of the last.  Nothing is written unless onnxruntime's logits agree
with torch's.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.roles import KNOWN, SEEN, UNSEEN
from odefinder.data.units import T_END, T_START
from odefinder.edge.writing import make_folder, replacing
from odefinder.errors import CheckpointError
from odefinder.language.number_words import PAD, number_ids
from odefinder.language.tokens import BOS, Vocabulary
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.network.checkpoint import load_network, read, save_weights
from odefinder.network.files import WEIGHTS, write_manifest
from odefinder.network.loading import load_runtime
from odefinder.network.model import Network
from odefinder.network.runtime import Runtime

TOLERANCE = 0.06  # typical difference of logits between the runtimes, as a share of their spread
NAME = "default.safetensors"
POINTS = 100  # of each random curve


@dataclass(frozen=True)
class Agreement:
    """How far apart the logits of two runtimes are."""

    largest: float
    typical: float  # root mean square
    spread: float  # standard deviation of the logits themselves

    def __str__(self) -> str:
        return (
            f"logits differ by {self.typical:.2g} typically ({self.typical / self.spread:.2%} of their "
            f"spread) and {self.largest:.2g} at most"
        )


def agreement(
    exact: Runtime, other: Runtime, *, samples: int = 8, length: int = 48, seed: int = 0
) -> Agreement:
    """Compare logits along sequences that the first runtime draws, for random curves of every dimension."""
    inputs = _random_curves(seed, as_tokens=exact.settings.embedder == "tokens")
    rows = len(inputs[0]) * samples
    everything = np.ones((1, len(Vocabulary.preset(exact.settings.vocabulary))), dtype=np.bool_)
    everything[0, PAD] = False
    memory = exact.encode(*inputs)
    sequences = exact.begin(memory, samples, everything)
    uniform = 1.0 - np.random.default_rng(seed).random((length, rows))
    tokens = [np.full(rows, BOS, dtype=np.int64)]
    for level in uniform:
        tokens.append(sequences.draw(tokens[-1], np.zeros(rows, dtype=np.int64), level, 1.0)[0])
    written = np.stack(tokens[:-1], axis=1)
    expected = exact.logits(memory, written)
    difference = other.logits(other.encode(*inputs), written) - expected
    return Agreement(
        float(np.abs(difference).max()), float(np.sqrt((difference**2).mean())), float(expected.std())
    )


def _random_curves(seed: int, as_tokens: bool) -> tuple[NDArray[Any], NDArray[np.int8], NDArray[np.int8]]:
    """Sums of three waves in canonical units, halved into two trajectories; one for each dimension.

    From the third dimension on, one column is unseen and one is known.
    """
    rng = np.random.default_rng(seed)
    points = np.full((MAX_DIMENSION, POINTS, 1 + MAX_DIMENSION), np.nan)
    times = np.linspace(T_START, T_END, POINTS)
    points[..., 0] = times
    for d in range(MAX_DIMENSION):
        angle = times[:, None, None] * rng.uniform(0.2, 3.0, (d + 1, 3)) + rng.uniform(0.0, 6.0, (d + 1, 3))
        curve = (rng.normal(size=(d + 1, 3)) * np.sin(angle)).sum(axis=2)
        points[d, :, 1 : 2 + d] = curve / np.abs(curve).max(axis=0)
    trajectory = np.zeros((MAX_DIMENSION, POINTS), dtype=np.int8)
    trajectory[:, POINTS // 2 :] = 1
    roles = np.full((MAX_DIMENSION, MAX_DIMENSION), SEEN, dtype=np.int8)
    for d in range(2, MAX_DIMENSION):
        roles[d, d - 1 : d + 1] = UNSEEN, KNOWN
    points[..., 1:][np.broadcast_to((roles == UNSEEN)[:, None], points[..., 1:].shape)] = np.nan
    if as_tokens:
        return number_ids(points, allow_missing=True), trajectory, roles
    return points.astype(np.float32), trajectory, roles


def averaged(sources: Sequence[Path]) -> Network:
    """The network of a file; of several, which must be of one shape, with the mean of their weights."""
    network = load_network(sources[0])
    total = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    for source in sources[1:]:
        other = load_network(source)
        if other.settings != network.settings:
            raise CheckpointError(f"{source} and {sources[0]} hold networks of different shapes; export one")
        for name, tensor in other.state_dict().items():
            total[name] += tensor
    network.load_state_dict({name: tensor / len(sources) for name, tensor in total.items()})
    return network


def export(sources: Sequence[Path], out: Path, tolerance: float = TOLERANCE) -> Agreement:
    """Write the weights of a checkpoint, with a manifest next to them, if the runtimes agree.

    sources: of several checkpoints, the weights are averaged.
    """
    network = averaged(sources)
    head = read(sources[-1])[1]
    kept = {name: head[name] for name in ("progress", "metrics", "training", "prior") if name in head}
    make_folder(out.parent)
    with replacing(out) as place:
        save_weights(place, network, **kept)
        found = agreement(load_runtime(place, "torch", device="cpu"), load_runtime(place, "onnx"))
        if not found.typical <= tolerance * found.spread:
            raise CheckpointError(
                f"{sources[-1]} was not exported: onnxruntime does not compute what torch does, the {found}; "
                f"{tolerance:.0%} of their spread is allowed"
            )
        place.chmod(0o644)  # safetensors writes files that only their owner can read
    write_manifest(out)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoints", type=Path, nargs="+", help="of several, the weights are averaged")
    parser.add_argument("--out", type=Path, default=WEIGHTS / NAME, help="the weights file to write")
    options = parser.parse_args()
    found = export(options.checkpoints, options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB; {found}")


if __name__ == "__main__":
    main()
