"""A row of units below the header: it belongs to the titles, `c` and `mM` are `c (mM)`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odefinder.data.cells import number_of
from odefinder.data.names import split_unit

LONGEST = 24  # characters of a unit


def without_unit_row(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with the units of its first row in the titles, if that row has units; and a note."""
    if len(frame) < 2:
        return frame, []
    units = dict[Any, str]()
    for name in frame.columns:
        first, others = frame[name].iloc[0], frame[name].iloc[1:]
        if pd.api.types.is_scalar(first) and pd.isna(first):
            continue
        if not isinstance(first, str) or number_of(first) is not None or len(first) > LONGEST:
            return frame, []
        if _are_numbers(others):
            units[name] = first.strip().strip("()[]{}").strip()
        elif any(map(str.isdigit, first)) or (others == first).any():  # a date, or the name of a group
            return frame, []
    if not units:
        return frame, []
    titles = {
        name: f"{name} ({unit})" for name, unit in units.items() if unit and not split_unit(str(name))[1]
    }
    note = f"The first row has units ({', '.join(units.values())}), which are part of the titles."
    return frame.iloc[1:].reset_index(drop=True).rename(columns=titles), [note]


def _are_numbers(column: pd.Series) -> bool:
    """Whether all entries are numbers, and some are there."""
    known = column.dropna()
    return len(known) > 0 and all(
        number_of(one) is not None if isinstance(one, str) else isinstance(one, (int, float)) for one in known
    )
