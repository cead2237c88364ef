"""Times as numbers: dates and durations, also as text, become a count of days, years, seconds."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odefinder.data.dataset import Clock, Floats
from odefinder.data.names import read_time_title
from odefinder.data.time_units import SECONDS
from odefinder.errors import DataError

if TYPE_CHECKING:  # imported only where times are not plain numbers
    import pandas as pd

# Rates read well in the largest unit that is not longer than a typical step.
_SECONDS = {unit: SECONDS[unit] for unit in ("years", "days", "hours", "minutes", "seconds")}
_EPOCHS = {  # units of times that count from 1970
    "s": (1.0, "seconds"),
    "ms": (1e-3, "milliseconds"),
    "us": (1e-6, "microseconds"),
    "ns": (1e-9, "nanoseconds"),
}
_EPOCH_SPAN = (20 * SECONDS["years"], 130 * SECONDS["years"])  # from 1990 to 2100
_EPOCH_NAMES = {"timestamp", "datetime", "date", "epoch", "unix", "unixtime", "posix"}
_SHORTER = 0.99  # so that 365 days count as a year


def read_times(values: Any, title: str) -> tuple[Floats, Clock, list[str]]:
    """Times (n,) as numbers with NaN for missing ones, what they mean, and notes on what was done."""
    plain = isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim == 1
    if plain and not _epoch_unit(values.astype(np.float64), title):
        _, name, unit = read_time_title(title)
        return values.astype(np.float64), Clock(name, unit), []
    import pandas as pd

    try:
        series = pd.Series(values).reset_index(drop=True)
        if isinstance(series.dtype, pd.CategoricalDtype):
            series = pd.Series(series.tolist())
        return _read(series, title)
    except DataError:
        raise
    except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
        raise DataError(f"the times ({title}) cannot be read: {error}; give numbers or dates") from None


def read_times_on(clock: Clock, values: Any, title: str, what: str) -> Floats:
    """The times (n,) of something else, as numbers of the clock of the data."""
    try:
        given = values if hasattr(values, "dtype") else np.asarray(values)
        times, own, _ = read_times(given, title)
    except ValueError as error:  # our own are among them
        raise DataError(f"the times of {what} cannot be read: {error}") from None
    if own.origin and not clock.origin and given.dtype.kind in "iuf":
        return np.asarray(given, np.float64)  # large numbers, and no times since 1970
    if bool(own.origin) != bool(clock.origin):
        have, need = ("dates", "numbers") if own.origin else ("numbers", "dates")
        raise DataError(f"the times of {what} are {have}, those of the data are {need}; give the same kind")
    length, unit = _SECONDS.get(own.unit), _SECONDS.get(clock.unit)
    if length is None or unit is None:
        return times
    later = 0.0
    if own.origin:
        import pandas as pd

        later = (pd.Timestamp(own.origin) - pd.Timestamp(clock.origin)).total_seconds()
    return times if (length, later) == (unit, 0.0) else (times * length + later) / unit


def times_on(clock: Clock, times: Any) -> Any:
    """Times of a simulation: dates become numbers of the clock of the data, anything else stays as it is."""
    if not clock.origin:
        return times
    kind = getattr(times, "dtype", None)
    if not hasattr(times, "dtype"):
        try:
            kind = np.asarray(times).dtype
        except ValueError:  # which is an error elsewhere
            return times
    if getattr(kind, "kind", "O") in "biuf":
        return times
    return read_times_on(clock, times, "t", "t")


def _read(series: pd.Series, title: str) -> tuple[Floats, Clock, list[str]]:
    import pandas as pd

    _, name, unit = read_time_title(title)
    kinds = pd.api.types
    if kinds.is_complex_dtype(series.dtype):
        raise DataError(f"the times ({title}) are complex numbers; give real ones")
    notes: list[str] = []
    if kinds.is_numeric_dtype(series.dtype):
        numbers = series.to_numpy(np.float64, na_value=np.nan)
        if not (epoch := _epoch_unit(numbers, title)):
            return numbers, Clock(name, unit), []
        series = pd.to_datetime(series, unit=epoch, utc=True)
        notes = [f"Times ({title}) are {_EPOCHS[epoch][1]} since 1970."]
    elif isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    elif not kinds.is_datetime64_any_dtype(series.dtype) and not kinds.is_timedelta64_dtype(series.dtype):
        numbers = pd.to_numeric(series, errors="coerce")
        if kinds.is_numeric_dtype(numbers.dtype) and (numbers.notna() | series.isna()).all():
            return numbers.to_numpy(np.float64, na_value=np.nan), Clock(name, unit), []
        series, notes = _dates_of_text(series, title)
    if kinds.is_timedelta64_dtype(series.dtype):
        seconds, origin = series.dt.total_seconds().to_numpy(np.float64), ""
    else:
        series = pd.to_datetime(series, utc=True)
        if series.isna().all():
            raise DataError(f"all times ({title}) are missing; give numbers or dates")
        start = series.min()
        seconds = (series - start).dt.total_seconds().to_numpy(np.float64)
        origin = start.tz_localize(None).isoformat(sep=" ").removesuffix(" 00:00:00")
    unit, length = _unit(seconds)
    what = f"Dates ({title}) were converted to {unit} since {origin}" if origin else f"Times are in {unit}"
    return seconds / length, Clock(name, unit, origin), [*notes, f"{what}."]


def _epoch_unit(numbers: Floats, title: str) -> str:
    """The unit of times that count from 1970; an empty text for all others.

    Numbers of this size are hardly anything else; only seconds must also have a name that says so.
    """
    known = numbers[np.isfinite(numbers)]
    if len(known) == 0:
        return ""
    _, name, given = read_time_title(title)
    for unit, (length, _) in _EPOCHS.items():
        inside = known.min() >= _EPOCH_SPAN[0] / length and known.max() <= _EPOCH_SPAN[1] / length
        if inside and given in ("", unit):
            says_so = bool(_EPOCH_NAMES & set(re.split(r"[^a-z]+", name.lower())))
            return unit if says_so or unit != "s" else ""
    return ""


def _unit(seconds: Floats) -> tuple[str, float]:
    """The unit for a typical step, and its length in seconds."""
    steps = np.diff(np.unique(seconds[np.isfinite(seconds)]))
    typical = float(np.median(steps)) if len(steps) else 1.0
    for unit, length in _SECONDS.items():
        if typical >= _SHORTER * length:
            return unit, length
    return "seconds", 1.0


def _dates_of_text(series: pd.Series, title: str) -> tuple[pd.Series, list[str]]:
    """Dates or times of day from text; where day and month could be swapped, a note says what was chosen."""
    known = series.dropna()
    texts = known.map(lambda value: value.strip() if isinstance(value, str) else value)
    candidates = [_durations(texts)]
    if candidates[0] is None:
        candidates = [_parsed(texts, format="ISO8601")]
    if candidates[0] is None:
        dotted = texts.map(lambda text: bool(re.match(r"\d+[.]\d+[.]", str(text)))).all()  # 31.12.2024
        orders = (True,) if dotted else (False, True)
        candidates = [_parsed(texts, dayfirst=dayfirst, format=None) for dayfirst in orders]
    readings = [candidate for candidate in candidates if candidate is not None]
    if not readings:
        raise DataError(
            f"the time {_first_unreadable(known)!r} in column {title!r} is neither a number nor a date; "
            "write it as 12.5 or as 2024-12-31 10:30:00, or choose another column: time='NAME' "
            "(command line: --time NAME)"
        )
    best = min(readings, key=_unevenness)
    notes = []
    if len(readings) == 2 and not readings[0].equals(readings[1]):
        order = "month/day" if best is readings[0] else "day/month"
        notes = [f"Dates such as {known.iloc[0]} were read as {order}; write them as 2024-12-31 to be sure."]
    return best.reindex(series.index), notes


def _unevenness(dates: pd.Series) -> tuple[bool, float]:
    """Whether the dates are out of order, then the relative spread of the steps."""
    steps = dates.diff().dt.total_seconds().to_numpy()[1:]
    disorder = bool((steps <= 0).any())
    return disorder, float(np.std(steps) / max(abs(np.mean(steps)), 1.0)) if len(steps) else 0.0


def _parsed(texts: pd.Series, **options: Any) -> pd.Series | None:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that have to be guessed
        try:
            return pd.to_datetime(texts, utc=True, **options)
        except (TypeError, ValueError, OverflowError):
            return None


def _durations(texts: pd.Series) -> pd.Series | None:
    """Times of day, 10:30 or 10:30:05."""
    if not all(isinstance(text, str) and re.fullmatch(r"\d+:\d\d(:\d\d([.]\d*)?)?", text) for text in texts):
        return None
    import pandas as pd

    try:
        times = pd.to_timedelta(texts.where(texts.str.count(":") != 1, texts + ":00"))
    except (TypeError, ValueError, OverflowError):
        return None
    return _over_midnight(times)


def _over_midnight(times: pd.Series) -> pd.Series:
    """Times of day that go on after midnight, counted from the first of them.

    Where one is more than half a day back, a day has passed; smaller steps back are rows out of order.
    """
    import pandas as pd

    day, steps = pd.Timedelta(days=1), times.diff()
    back = steps < pd.Timedelta(0)
    if (times >= day).any() or not back.any() or (steps[back] > -day / 2).any():
        return times
    return times + day * back.cumsum() - times.iloc[0]


def _first_unreadable(known: pd.Series) -> Any:
    import pandas as pd

    bad: NDArray[np.bool_] = pd.to_numeric(known, errors="coerce").isna().to_numpy()
    for value in known[bad]:
        if _parsed(pd.Series([value])) is None:
            return value
    return known.iloc[0]
