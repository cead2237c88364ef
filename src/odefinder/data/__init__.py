"""Observed data: from files, tables and arrays to a checked `Dataset`."""

from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Clock, Dataset
from odefinder.data.files import SAMPLES, read, sample, sample_path
from odefinder.data.tables import from_frame

__all__ = ["SAMPLES", "Clock", "Dataset", "from_arrays", "from_frame", "read", "sample", "sample_path"]
