"""Files of weights, read without torch: safetensors by hand, and what must be true of their content.

A safetensors file is the length of its header (8 bytes), the header as JSON (type, shape and place of every
tensor, and our own description under `__metadata__`), and the bytes of the tensors.

The weights that ship are in `weights/`, next to a `manifest.json` with their name, size and sha256.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.edge.documents import checked_document, parsed
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Choice, ListOf, Number, Object, Text, Whole
from odefinder.edge.writing import write_text
from odefinder.errors import CheckpointError, DataError, SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.network.presets import NetworkSettings

FORMAT = "odefinder-network"
VERSION = 3
WITH_GRAPHS = 2  # since this version; before, matrices were rows of int8 with half-precision scales
WITH_ROLES = 3  # since this version the network is told what each column is
WEIGHTS = Path(__file__).parent / "weights"
MANIFEST = "manifest.json"
TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8}


LONGEST_HEADER = 1 << 24  # bytes
LARGEST_WEIGHT = 1e4  # trained ones are below 100

_SIZE = Whole("a whole number", 0, 2**48)
_TENSOR = Object(
    {
        "dtype": Choice(tuple(TYPES)),
        "shape": ListOf(_SIZE, most=8, sentence="a list of sizes"),
        "data_offsets": ListOf(_SIZE, least=2, most=2, sentence="a pair of whole numbers"),
    }
)
_ABOUT = Object({}, {"odefinder": Text(most=LONGEST_HEADER)})
_MANIFEST = Object({"name": Text(), "sha256": Text(), "bytes": _SIZE})
_NETWORK = Object(
    {},
    {
        "width": Whole("a whole number from 1 to 16384", 1, 16_384),
        "heads": Whole("a whole number from 1 to 1024", 1, 1_024),
        "encoder_layers": Whole("a whole number from 1 to 256", 1, 256),
        "decoder_layers": Whole("a whole number from 1 to 256", 1, 256),
        "waves": Whole("a whole number from 1 to 64", 1, 64),
        "token_width": Whole("a whole number from 1 to 16384", 1, 16_384),
        "max_length": Whole("a whole number from 2 to 4096", 2, 4_096),
        "embedder": Text(),
        "vocabulary": Text(),
    },
)
_GRAPH = ListOf(Text(), sentence="a list of names")
_DESCRIPTION = Object(
    {"version": Whole("a whole number", 1, VERSION)},
    {
        "network": _NETWORK,
        "graphs": Object({"encoder": _GRAPH, "decoder": _GRAPH}),
        "training": Object({}, {"outlines": Number("a share from 0 to 1", 0.0, 1.0)}),
    },
)


def read_weights(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Tensors (views of the file, read on use) and description of a weights file."""
    verify(path)
    content = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    if start > min(len(content), 8 + LONGEST_HEADER):
        raise damaged(path, "its header is longer than the file or the limit")
    try:
        entries = parsed(content[8:start].tobytes())
        if not isinstance(entries, dict):
            raise DataError("its header is not an object")
        about = checked_document(entries.pop("__metadata__", {}), _ABOUT, "the header")
        head = parsed(about.get("odefinder", "{}"))
        tensors = {name: _tensor(content[start:], name, entry) for name, entry in entries.items()}
    except DataError as error:
        raise damaged(path, error) from error
    check_description(head, path)
    if head.get("kind") != "weights" or head.get("version", 1) < WITH_GRAPHS:
        raise CheckpointError(
            f"{path} is a checkpoint or an older file, which needs torch: use the runtime 'torch', or "
            f"convert it once with python -m odefinder.network.export {path}"
        )
    return tensors, head


def verify(path: Path) -> None:
    """Check that the file exists, and that it matches the manifest next to it if there is one."""
    if not os.path.isfile(path):  # also for names that are too long
        raise CheckpointError(f"there is no file {path}; train first or give the path of a checkpoint")
    if path.stat().st_size < 8:
        raise damaged(path, "it is empty")
    manifest = path.with_name(MANIFEST)
    if manifest.is_file():
        entry = _read_manifest(manifest)
        if entry.get("name") == path.name and entry["sha256"] != sha256(path):
            raise CheckpointError(
                f"{path} is not the file that was released (it has {path.stat().st_size} bytes, not "
                f"{entry['bytes']}, or other content); install odefinder again: "
                "pip install --force-reinstall --no-deps odefinder"
            )


def _read_manifest(path: Path) -> dict[str, Any]:
    """What a manifest says; nothing if it is about something else, such as training data."""
    try:
        content = parsed(read_bytes(path, LONGEST_HEADER))
        others = isinstance(content, dict) and not {"name", "sha256"} & set(content)
        return {} if others else dict(checked_document(content, _MANIFEST, "the manifest"))
    except DataError as error:
        raise CheckpointError(f"cannot read {path}: {error}; copy the folder again") from None


def _tensor(content: NDArray[np.uint8], name: str, entry: Any) -> NDArray[Any]:
    """A view of the file, if what the header says of it is true."""
    entry = checked_document(entry, _TENSOR, f"the entry of {name[:60]!r}")
    (first, end), kind = entry["data_offsets"], np.dtype(TYPES[entry["dtype"]])
    size = math.prod(entry["shape"]) * kind.itemsize
    if not first <= end <= len(content) or end - first != size:
        raise DataError(f"{name[:60]!r} takes {size:,} bytes, and its place has {end - first:,}")
    values = content[first:end].view(kind).reshape(entry["shape"])
    if kind.kind == "f" and not np.all(np.abs(values) <= LARGEST_WEIGHT):  # not even for NaN
        raise DataError(f"{name[:60]!r} has values that are not weights")
    return values


def shipped_weights() -> Path:
    """The weights that come with the package."""
    manifest = WEIGHTS / MANIFEST
    if not manifest.is_file():
        raise CheckpointError(
            "this copy of odefinder comes without weights; install a release (pip install -U odefinder), or "
            "give the path of a weights file"
        )
    entry = _read_manifest(manifest)
    if "name" not in entry:
        raise CheckpointError(f"{manifest} names no file; install odefinder again")
    return WEIGHTS / Path(entry["name"]).name


def write_manifest(path: Path) -> None:
    """Describe a weights file in a manifest next to it."""
    entry = {"name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
    write_text(path.with_name(MANIFEST), json.dumps(entry, indent=1) + "\n")


def check_description(head: Any, path: Path) -> None:
    """Check that a file is one of ours, and of a version that we can read."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but not one of odefinder's networks")
    version = head.setdefault("version", 1)
    if isinstance(version, int) and version > VERSION:
        raise CheckpointError(
            f"{path} was written by a newer odefinder; upgrade with pip install -U odefinder"
        )
    try:
        checked_document(head, _DESCRIPTION, "its description")
    except DataError as error:
        raise damaged(path, error) from None


def settings_of(head: dict[str, Any], where: str, numbers: int) -> NetworkSettings:
    """The settings of a file's network, if this version can build it and gives tokens the same meaning.

    numbers: how many weights the file has; what a network needs is compared with it before memory is taken.
    """
    try:
        settings = NetworkSettings(**head["network"])
        expected = Vocabulary.preset(settings.vocabulary).fingerprint
    except (KeyError, TypeError, ZeroDivisionError, SettingsError) as error:
        raise CheckpointError(
            f"{where} describes a network that this version cannot build ({error}); use the odefinder "
            "version that wrote it, or train again"
        ) from error
    layers = settings.encoder_layers + settings.decoder_layers
    if 8 * layers * settings.width**2 > numbers:  # queries, keys, values, outputs and a layer twice as wide
        raise CheckpointError(
            f"{where} does not fit its own settings: {layers} layers of width {settings.width} need more "
            "weights than it has; copy it again or go back to an older one"
        )
    found = str(head.get("fingerprint"))
    if found != expected:
        raise CheckpointError(
            f"{where} was trained with another vocabulary (fingerprint {found[:12]}, this version has "
            f"{expected[:12]}): its tokens mean something else. Use the odefinder version that wrote it, "
            "or train again"
        )
    return settings


def writes_outlines(head: dict[str, Any]) -> bool:
    """Whether a file's network has learned to write outlines (language/outlines.py)."""
    return bool(head.get("training", {}).get("outlines", 0.0) > 0.0)


def damaged(path: Path, problem: object) -> CheckpointError:
    """The error for a file that cannot be read."""
    return CheckpointError(
        f"{path} is damaged or not a safetensors file ({problem}); copy it again or go back to an older one"
    )


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
