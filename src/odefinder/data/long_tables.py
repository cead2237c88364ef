"""Long tables, a row per value (time, variable, value), turned into wide ones, a row per time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from odefinder.data.advice import MIN_POINTS
from odefinder.data.known import may_hold_errors
from odefinder.data.names import read_time_title

_NAMES = {
    "variable", "variables", "variable_name", "name", "species", "observable", "observableid", "quantity",
    "signal", "channel", "measure", "metric", "sensor", "analyte", "compound", "parameter",
}  # fmt: skip
_VALUES = {
    "value",
    "values",
    "val",
    "measurement",
    "measured",
    "observation",
    "observed",
    "reading",
    "result",
}


def pivoted(frame: pd.DataFrame, taken: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """The table with a column per variable, if it is long; and a note.

    taken: columns that the user named, which are what they are.
    """
    names = [title for title in frame.columns if _plain(title) in _NAMES and _tells_apart(frame[title])]
    values = [title for title in frame.columns if _plain(title) in _VALUES]
    if len(names) != 1 or len(values) != 1 or {str(names[0]), str(values[0])} & set(taken):
        return frame, []
    if not any(read_time_title(str(title))[0] is not None for title in frame.columns):
        return frame, []
    name, value = names[0], values[0]
    errors = [title for title in frame.columns if may_hold_errors(str(title))]
    rest = [title for title in frame.columns if title not in (name, value, *errors)]
    replicate = frame.groupby([*rest, name], sort=False, dropna=False).cumcount()
    keys = [frame[title] for title in rest]
    place = pd.Series(frame.groupby([*rest, replicate], sort=False, dropna=False).ngroup(), frame.index)
    variables = [str(one) for one in frame[name].dropna().unique()]
    first = ~place.duplicated()
    wide = pd.DataFrame({title: key[first].to_numpy() for title, key in zip(rest, keys, strict=True)})
    for variable in variables:
        own = frame[name].astype(object) == variable
        for source, title in [(value, variable), *((error, f"{variable}_sd") for error in errors[:1])]:
            wide[title] = pd.Series(frame.loc[own, source].to_numpy(), place[own]).reindex(place[first]).array
    note = (
        f"The table is long: {name!r} names the variable of each {value!r} ({', '.join(variables)}); it was "
        "turned into one column per variable."
    )
    return wide, [note]


def _plain(title: Any) -> str:
    return str(title).strip().lower().replace(" ", "_")


def _tells_apart(column: pd.Series) -> bool:
    """Whether it holds a few names, each for several rows."""
    known = column.dropna()
    if len(known) == 0 or not all(isinstance(one, str) for one in known):
        return False
    return bool(known.value_counts().min() >= MIN_POINTS)
