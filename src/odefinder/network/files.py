"""Files of weights, read without torch: safetensors by hand, and what must be true of their content.

A safetensors file is the length of its header (8 bytes), the header as JSON (type, shape and place of every
tensor, and our own description under `__metadata__`), and the bytes of the tensors.

The weights that ship are in `weights/`, next to a `manifest.json` with their name, size and sha256.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import CheckpointError, SettingsError
from odefinder.language.tokens import Vocabulary
from odefinder.network.presets import NetworkSettings

FORMAT = "odefinder-network"
VERSION = 3
WITH_GRAPHS = 2  # since this version; before, matrices were rows of int8 with half-precision scales
WITH_ROLES = 3  # since this version the network is told what each column is
WEIGHTS = Path(__file__).parent / "weights"
MANIFEST = "manifest.json"
TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8}


def read_weights(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Tensors (views of the file, read on use) and description of a weights file."""
    verify(path)
    content = np.memmap(path, dtype=np.uint8, mode="r")
    try:
        start = 8 + int.from_bytes(content[:8].tobytes(), "little")
        entries = json.loads(content[8:start].tobytes())
        head = json.loads(entries.pop("__metadata__", {}).get("odefinder", "{}"))
        tensors = {}
        for name, entry in entries.items():
            first, end = entry["data_offsets"]
            values = content[start + first : start + end].view(TYPES[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
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
    if not path.is_file():
        raise CheckpointError(f"there is no file {path}; train first or give the path of a checkpoint")
    if path.stat().st_size < 8:
        raise damaged(path, "it is empty")
    manifest = path.with_name(MANIFEST)
    if manifest.is_file():
        entry = json.loads(manifest.read_text())
        if entry["name"] == path.name and entry["sha256"] != sha256(path):
            raise CheckpointError(
                f"{path} is not the file that was released (it has {path.stat().st_size} bytes, not "
                f"{entry['bytes']}, or other content); install odefinder again: "
                "pip install --force-reinstall --no-deps odefinder"
            )


def shipped_weights() -> Path:
    """The weights that come with the package."""
    manifest = WEIGHTS / MANIFEST
    if not manifest.is_file():
        raise CheckpointError(
            "this copy of odefinder comes without weights; install a release (pip install -U odefinder), or "
            "give the path of a weights file"
        )
    return WEIGHTS / json.loads(manifest.read_text())["name"]


def write_manifest(path: Path) -> None:
    """Describe a weights file in a manifest next to it."""
    entry = {"name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
    path.with_name(MANIFEST).write_text(json.dumps(entry, indent=1) + "\n")


def check_description(head: Any, path: Path) -> None:
    """Check that a file is one of ours, and of a version that we can read."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but not one of odefinder's networks")
    if head.get("version", VERSION) > VERSION:
        raise CheckpointError(
            f"{path} was written by a newer odefinder; upgrade with pip install -U odefinder"
        )


def settings_of(head: dict[str, Any], where: str) -> NetworkSettings:
    """The settings of a file's network, if this version can build it and gives tokens the same meaning."""
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
    return settings


def damaged(path: Path, problem: object) -> CheckpointError:
    """The error for a file that cannot be read."""
    return CheckpointError(
        f"{path} is damaged or not a safetensors file ({problem}); copy it again or go back to an older one"
    )


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
