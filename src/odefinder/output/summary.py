"""The constants of a result with their errors, as text in the manner of statsmodels."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odefinder.data.dataset import Dataset, Floats
from odefinder.expressions.digits import short_number
from odefinder.inference.certainty import Constant
from odefinder.output.higher_order import equations_text, state_names
from odefinder.system import ODESystem

if TYPE_CHECKING:
    import pandas as pd

NOT_DETERMINED = "not determined"
COLUMNS = (
    "name", "equation", "value", "error", "low", "high", "rounded", "given", "determined", "fixed", "tied",
    "bound", "trajectory",
)  # fmt: skip
DIGITS = 4
LEAST_WIDTH = 70  # of remarks
MOST_STARTS = 12  # start values that are listed


@dataclass(frozen=True, repr=False)
class Summary:
    """A system with the errors of its constants and initial values; printed, it is a table."""

    dataset: Dataset
    explicit: ODESystem  # with factors of 1 written out, or with named constants
    constants: tuple[Constant, ...]
    starts: Floats  # (trajectories, D)
    start_errors: Floats  # (trajectories, D); 0 where they were not fitted
    noise: Floats  # (D,)
    level: float  # of the intervals
    remarks: tuple[str, ...] = ()  # what the residuals look like

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return str(self)

    def frame(self) -> pd.DataFrame:
        """The constants as a table, a row each."""
        import pandas as pd

        return pd.DataFrame(
            [[getattr(one, name) for name in COLUMNS] for one in self.constants], columns=COLUMNS
        )

    @property
    def labels(self) -> list[str | None] | None:
        """What stands in `explicit` in place of its numbers; None: itself."""
        if any(one.named for one in self.constants) or not self.constants:
            return None
        return [one.name or None for one in self.constants]

    def as_dict(self) -> dict[str, Any]:
        """Plain data: `constants`, a mapping each, and `start_errors`; what is not finite is None."""
        return {
            "constants": [
                {name: _plain(getattr(one, name)) for name in COLUMNS} | {"level": self.level}
                for one in self.constants
            ],
            "start_errors": [[_plain(value) for value in row] for row in self.start_errors.tolist()],
        }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_text(summary: Summary) -> str:
    """The whole table."""
    dataset = summary.dataset
    equations = equations_text(summary.explicit, dataset, labels=summary.labels).splitlines()
    below, above = (f"{share:.4g}" for share in (0.5 - summary.level / 2, 0.5 + summary.level / 2))
    header = ["equation", "constant", "estimate", "std. error", f"[{below}", f"{above}]", ""]
    body = _grid([header, *_rows(summary)])
    starts = _starts(summary)
    noise = ", ".join(
        f"{name} {short_number(float(level), 3)}"
        for name, level, seen in zip(dataset.variables, summary.noise, _seen(dataset), strict=True)
        if seen
    )
    width = max(map(len, [str(dataset), *equations, *body, *starts]))
    foot = [f"noise (standard deviation): {noise}"]
    foot += [line for remark in summary.remarks for line in textwrap.wrap(remark, max(width, LEAST_WIDTH))]
    double, single = "=" * width, "-" * width
    parts = [double, str(dataset), single, *equations, single, *body]
    parts += [single, *starts] if starts else []
    return "\n".join(line.rstrip() for line in [*parts, single, *foot, double])


def _rows(summary: Summary) -> list[list[str]]:
    """One line for each constant that was fitted or fixed; without a name, its sign is in the equation."""
    written = dict(
        zip(summary.explicit.variables, state_names(summary.explicit, summary.dataset), strict=True)
    )
    rows, before = [], ""
    for one in summary.constants:
        if one.given and not one.fixed:
            continue
        low, high = one.shown_interval
        numbers = [short_number(value, DIGITS) for value in (one.shown, one.error, low, high)]
        if one.fixed:
            numbers[1:] = "", "", ""
        equation = ", ".join(f"{written[name]}'" for name in filter(None, one.equation.split(", ")))
        name = f"{one.name} ({one.trajectory})" if one.trajectory else one.name
        rows.append([equation if equation != before else "", name, *numbers, _remark(one)])
        before = equation
    return rows


def _remark(one: Constant) -> str:
    """What else to know about a constant."""
    if not one.determined:
        return NOT_DETERMINED
    words = {"fixed": one.fixed, "tied": one.tied, "rounded": one.rounded, "at its bound": one.bound}
    return ", ".join(word for word, own in words.items() if own)


def _starts(summary: Summary) -> list[str]:
    """Fitted initial values."""
    if not (summary.start_errors > 0.0).any():
        return []
    dataset = summary.dataset
    rows = [["start of", "at", "estimate", "std. error"]]
    for k, times in enumerate(dataset.times):
        for d, name in enumerate(dataset.variables):
            value, error = float(summary.starts[k, d]), float(summary.start_errors[k, d])
            if error > 0.0:
                what = name if len(dataset) == 1 else f"{name} ({dataset.labels[k]})"
                rows.append(
                    [
                        what,
                        short_number(float(times[0]), 6),
                        *(short_number(v, DIGITS) for v in (value, error)),
                    ]
                )
    shown = rows[: MOST_STARTS + 1]
    more = len(rows) - len(shown)
    return _grid(shown) + ([f"and {more} more"] if more else [])


def _grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width; the first two and the last to the left, numbers to the right."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if j < 2 or j == 6 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells))
    return lines


def _seen(dataset: Dataset) -> list[bool]:
    return [name in dataset.observed for name in dataset.variables]
