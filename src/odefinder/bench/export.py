"""Trajectories of tasks as CSV files, for other tools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from odefinder.bench.tasks import Task
from odefinder.edge.writing import make_folder, replacing
from odefinder.errors import SettingsError


def export_tasks(tasks: Iterable[Task], folder: Path) -> int:
    """Write one file per task, `sigma-S_rho-R/SYSTEM_INITIAL.csv` with the columns t and the variables.

    Returns the number of files.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise SettingsError(f"{folder} is a file; give a folder")
    count = 0
    for task in tasks:
        path = (
            folder
            / f"sigma-{task.sigma:g}_rho-{task.rho:g}"
            / f"{_file_name(task.system)}_{task.initial}.csv"
        )
        make_folder(path.parent)
        t, x = task.observed()
        header = ",".join(["t", *task.variables])
        with replacing(path) as place:
            np.savetxt(place, np.column_stack([t, x]), fmt="%.12g", delimiter=",", header=header, comments="")
        count += 1
    return count


def _file_name(system: str) -> str:
    """The id, padded if it is a number so that files sort; without characters that file names cannot have."""
    return (
        f"{int(system):02d}"
        if system.isdecimal()
        else re.sub(r"[^\w.-]+", "-", system).strip(".") or "system"
    )
