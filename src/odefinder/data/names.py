"""The names of columns: which one is the time, its unit, and what the variables are called in equations."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.parse import MOST_COMPARED, check_names

# Names of a time column, the surest first.  Case does not matter except for "t": T is a temperature.
TIME_NAMES = (
    "t", "time", "times", "timestamp", "datetime", "date", "year", "years", "month", "months", "week",
    "weeks", "day", "days", "hour", "hours", "minute", "minutes", "second", "seconds", "epoch", "unixtime",
)  # fmt: skip
_SPANS = ("year", "month", "week", "day", "hour", "minute", "second")  # a column `day` counts days
_UNITS = {
    *(f"{span}{ending}" for span in _SPANS for ending in ("", "s")),
    "a", "yr", "yrs", "d", "h", "hr", "hrs", "min", "mins", "s", "sec", "secs", "ms", "us", "µs", "ns",
}  # fmt: skip
_TRAJECTORY_NAMES = {
    "trajectory", "trajectories", "traj", "run", "runs", "id", "experiment", "exp", "series", "replicate",
    "rep", "subject", "trial", "patient", "animal", "sample", "batch",
}  # fmt: skip
_BLANKS = "_ \t\r\n\v\f\u00a0"
_ROW_NUMBER_NAMES = {"", "index", "id", "row", "#", "no", "nr", "row_number"}


def chosen_names(variables: Any) -> list[Hashable] | None:
    """The names that a user gives as `variables`: one as text, or a list of them."""
    if variables is None:
        return None
    names = [variables] if isinstance(variables, str) else items(variables)
    if names is None or not all(map(_can_name, names)):
        raise SettingsError(f"variables is a list of names, not {shown(variables)}")
    return names


def check_name(name: Any, option: str) -> None:
    """Raise if something cannot be the name of a column, as arrays and lists cannot."""
    if not _can_name(name):
        raise SettingsError(f"{option} is the name of a column, not {shown(name)}")


def _can_name(thing: Any) -> bool:
    try:
        hash(thing)
        str(thing)
    except Exception:  # an object's own methods may raise anything
        return False
    return True


def split_unit(title: str) -> tuple[str, str]:
    """`Time (s)` -> Time and s; without a unit in brackets, the title and an empty text."""
    match = re.fullmatch(r"(.*[^\s])\s*[(\[{]([^()\[\]{}]*)[)\]}]", title.strip())
    return (match[1].strip(), match[2].strip()) if match else (title.strip(), "")


def read_time_title(title: str) -> tuple[int | None, str, str]:
    """How surely a title names the time (0 is surest, None: not at all), and the name and unit in it."""
    name, unit = split_unit(title)
    head, last = _last_word(name)
    if not unit and head and last.lower() in _UNITS and head.lower() not in _UNITS:
        name, unit = head, last  # time/s, t_sec
    plain = name if name in ("t", "T") else name.lower()
    if plain in TIME_NAMES:
        span = plain.removesuffix("s")
        return TIME_NAMES.index(plain), name, unit or (f"{span}s" if span in _SPANS else "")
    if "time" in re.split(r"[^a-z]+", plain):  # elapsed time
        return len(TIME_NAMES), name, unit
    return None, name, unit


def _last_word(name: str) -> tuple[str, str]:
    """`time / s` -> time and s; an empty first part if there is only one word."""
    last = re.split(r"[/_,\s]", name)[-1]
    head = name[: len(name) - len(last)]
    before = head.rstrip(_BLANKS)
    if before[-1:] in ("/", ","):
        before = before[:-1].rstrip(_BLANKS)
    return (before if before[-1:].isalnum() and before != head else ""), last


def names_a_trajectory(title: str) -> bool:
    """Whether a column of this name may number the trajectories."""
    name = re.sub(r"[\s\-.]+", "_", title.strip().lower())
    return name in _TRAJECTORY_NAMES or name.endswith("_id")


def names_a_row_number(title: str) -> bool:
    """Whether a column of this name may number the rows; pandas writes `Unnamed: 0`."""
    return title.strip().lower() in _ROW_NUMBER_NAMES or title.startswith("Unnamed:")


def is_name(text: str) -> bool:
    """Whether equations can use the text as a name."""
    try:
        return bool(check_names([text]))
    except ExpressionError:
        return False


def did_you_mean(name: str, names: Iterable[Hashable]) -> str:
    """The nearest name as a question."""
    known = {str(one).lower(): str(one) for one in names}
    close = difflib.get_close_matches(name.lower(), known, n=1) if len(name) <= MOST_COMPARED else []
    return f"; did you mean {known[close[0]]!r}?" if close else ""


def not_one_of(name: str, names: Iterable[str]) -> str:
    """How a sentence ends about a name that is none of the variables: "which is not one of ...".

    The nearest of them is a question at the end.
    """
    listed = list(names)
    return f"which is not one of the variables {', '.join(listed)}{did_you_mean(name, listed)}"


def variable_names(titles: Sequence[Hashable]) -> tuple[tuple[str, ...], list[str]]:
    """Names for equations, all different, and a note for every title that had to be changed.

    `N` stays, `Hare pelts (thousands)` becomes Hare_pelts, the column number 2 becomes x2.
    """
    texts = [str(title).strip() for title in titles]
    without_unit = [_as_name(split_unit(text)[0], index) for index, text in enumerate(texts)]
    twice = {name for name, count in Counter(without_unit).items() if count > 1}
    wished = [
        text if is_name(text) else _as_name(text, index) if name in twice else name
        for index, (text, name) in enumerate(zip(texts, without_unit, strict=True))
    ]
    names: list[str] = []
    proper = {text for text in texts if is_name(text)}  # these stay what they are
    for text, wish in zip(texts, wished, strict=True):
        name, number = wish, 2
        while name != text and name in proper.union(names):
            name, number = f"{wish}_{number}", number + 1
        names.append(name)
    changed = [
        f"The column {text!r} is called {name} in equations."
        for title, text, name in zip(titles, texts, names, strict=True)
        if text != name and not isinstance(title, int)
    ]
    return tuple(names), changed


def _as_name(text: str, index: int) -> str:
    """The nearest proper name."""
    if is_name(text):
        return text
    name = "".join(character if is_name(f"x{character}") else " " for character in text)
    name = "_".join(name.split()).strip("_")
    if not name:
        return f"x{index}"
    return name if is_name(name) else f"x{name}"
