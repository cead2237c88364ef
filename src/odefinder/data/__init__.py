"""Observed data: from files, tables and arrays to a checked `Dataset`.

The names are loaded on first use: tables need pandas, which takes a while to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odefinder.data.arrays import from_arrays
    from odefinder.data.dataset import Clock, Dataset
    from odefinder.data.files import SAMPLES, read, sample, sample_path
    from odefinder.data.inputs import Hold
    from odefinder.data.tables import from_frame
    from odefinder.data.time_units import dates, with_time_unit

__all__ = [
    "SAMPLES", "Clock", "Dataset", "Hold", "dates", "from_arrays", "from_frame", "read", "sample",
    "sample_path", "with_time_unit",
]  # fmt: skip

_HOME = {
    "SAMPLES": "files", "Clock": "dataset", "Dataset": "dataset", "Hold": "inputs", "from_arrays": "arrays",
    "from_frame": "tables", "read": "files", "sample": "files", "sample_path": "files",
    "dates": "time_units", "with_time_unit": "time_units",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'odefinder.data' has no attribute {name!r}")
    return getattr(import_module(f"odefinder.data.{_HOME[name]}"), name)
