"""The methods of a figure: their rank, and how each is drawn, the same in all figures.

Our variants share one colour and differ in their dashes; a baseline's colour and marker follow from its place
in the list of methods, so that they do not depend on what else was run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odefinder.bench.methods import METHODS
from odefinder.bench.metrics import GOOD
from odefinder.bench.protocol import Result
from odefinder.output.style import COLOURS, GREY

MEASURES = ("reconstruction", "generalization")
OURS, ORACLE = "odefinder", "oracle"
Cell = tuple[float, float]  # sigma, rho
Fit = tuple[str, int, float, float]  # system, initial value, sigma, rho
OUR_COLOUR = COLOURS[1]
OTHER_COLOURS = (COLOURS[0], COLOURS[2], COLOURS[3], GREY, COLOURS[5])
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # their number and that of the colours have no common divisor
OUR_STYLES: dict[str, tuple[Any, str]] = {  # dashes and marker
    "odefinder": ("-", "o"),
    "odefinder-network": ((0, (6, 1, 1, 1)), "D"),
    "odefinder-sparse": ((0, (3, 1, 1, 1)), "s"),
    "odefinder-opt": ((0, (4, 1.2)), "^"),
    "odefinder-decode": ((0, (1.2, 1)), "v"),
}


@dataclass(frozen=True)
class Contestant:
    """A method in a figure."""

    name: str
    title: str
    accuracy: float  # in %: the mean of reconstruction and generalization over the fits that all have
    fits: int
    asked: int  # how many different fits there are over all methods
    colour: str
    line: dict[str, Any]  # for `axes.plot`

    @property
    def ours(self) -> bool:
        return self.name.startswith(OURS)

    def label(self, short: bool = False) -> str:
        """The title, and how many of the fits it has if some are missing; short: on two lines."""
        if self.fits == self.asked:
            return self.title
        return f"{self.title}{chr(10) if short else ' '}({self.fits} of {self.asked} fits)"


def contestants(results: Sequence[Result]) -> list[Contestant]:
    """The methods, the most accurate first; the oracle and unlisted ones only if there is no other.

    Of methods with the same accuracy in whole per cent, as figures show it, the one with more fits is first.
    """
    by_method: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_method[result.method].append(result)
    names = [name for name in by_method if name != ORACLE and (name not in METHODS or METHODS[name].listed)]
    asked = len({result.key[1:] for result in results})
    compared = common_fits(results, names or by_method)
    chosen = [_contestant(name, by_method[name], asked, compared) for name in names or by_method]
    return sorted(chosen, key=lambda one: (-round(one.accuracy), -one.fits, not one.ours, one.name))


def common_fits(results: Sequence[Result], names: Iterable[str]) -> set[Fit]:
    """The fits that all of these methods have: over all fits, those that lack hard ones would gain."""
    return set.intersection(
        *({result.key[1:] for result in results if result.method == name} for name in names)
    )


def comparable(results: Sequence[Result]) -> list[Result]:
    """In each cell, the fits that all methods with any fit there have; all of them if there are none."""
    cells: dict[Cell, list[Result]] = defaultdict(list)
    for result in results:
        cells[result.sigma, result.rho].append(result)
    kept: list[Result] = []
    for cell in cells.values():
        common = common_fits(cell, {result.method for result in cell})
        kept += [result for result in cell if not common or result.key[1:] in common]
    return kept


def share(results: Sequence[Result], measure: str) -> float:
    """% of fits with a good R2; a failed fit has none."""
    values = [getattr(result, measure) for result in results]
    return 100.0 * float(np.mean([value is not None and value > GOOD for value in values]))


def _contestant(name: str, results: Sequence[Result], asked: int, compared: set[Fit]) -> Contestant:
    """compared: the fits that count; if there are none, all of the method's own do."""
    cells: dict[Cell, list[Result]] = defaultdict(list)
    for result in results:
        if not compared or result.key[1:] in compared:
            cells[result.sigma, result.rho].append(result)
    accuracy = float(np.mean([share(cell, measure) for cell in cells.values() for measure in MEASURES]))
    title = METHODS[name].title if name in METHODS else name
    known = [other for other in METHODS if not other.startswith(OURS) and other != ORACLE]
    place = known.index(name) if name in known else len(known) + sum(map(ord, name))
    ours = name.startswith(OURS)
    if ours:
        colour, width = OUR_COLOUR, 2.4
        dashes, marker = OUR_STYLES.get(name, ("-", "o"))
    else:
        colour, width = OTHER_COLOURS[place % len(OTHER_COLOURS)], 1.1
        dashes, marker = "-", MARKERS[place % len(MARKERS)]
    line = {"color": colour, "linewidth": width, "marker": marker, "markersize": 4.5, "markeredgewidth": 0,
            "linestyle": dashes, "zorder": 3 if ours else 2}  # fmt: skip
    return Contestant(name, title, accuracy, len(results), asked, colour, line)
