"""Terms added and dropped by what the fitted system itself says about them, without fitting every choice.

Near a fit the cost is a quadratic form of the coefficients, also of those that are still 0, with the starts
of windows following them (`shooting.outlook`).  So the cost of any set of terms is a small linear problem,
and thousands of sets can be compared; only the best are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odefinder.data.observations import Floats
from odefinder.inference.choose.criterion import TEMPERATURE
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.shooting import Outlook

Bools = NDArray[np.bool_]

EXCHANGED = 8  # terms that may come in exchange for others
RIDGE = 1e-13  # relative: monomials may be almost the same on an attractor


@dataclass(frozen=True)
class Stepwise:
    """Which terms to keep: the expected criterion of any set of them."""

    matrix: Floats  # (C, C): the quadratic form, each coefficient in units that make its diagonal 1
    right: Floats  # (C,)
    constant: float
    sizes: Floats  # (C,): one over these units
    prices: Floats  # (C,): of each term, in nats
    count: int  # of observed values

    @classmethod
    def around(cls, outlook: Outlook, coefficients: Floats, prices: Floats, count: int) -> Stepwise:
        """coefficients (C,): where the outlook was taken; 0 for terms that are not there."""
        size = np.sqrt(np.maximum(np.diag(outlook.hessian), 1e-300))
        matrix = outlook.hessian / np.outer(size, size)
        here, slope = coefficients * size, outlook.gradient / size
        moved = matrix @ here
        constant = outlook.cost + float(here @ (moved - 2.0 * slope))
        return cls(matrix, moved - slope, constant, size, prices, count)

    def value(self, kept: Bools) -> float:
        """The criterion that a set of terms is expected to have, up to a constant."""
        return self._criterion(self.constant - self._gain(kept), float(self.prices[kept].sum()))

    def solution(self, kept: Bools) -> Floats:
        """The coefficients (C,) that a set of terms is expected to have; 0 for the others."""
        own = np.flatnonzero(kept)
        result = np.zeros(len(kept))
        part = self.matrix[np.ix_(own, own)] + RIDGE * np.eye(len(own))
        result[own] = np.linalg.lstsq(part, self.right[own], rcond=None)[0] / self.sizes[own]
        return result

    def best_sets(self, now: Bools, count: int = 3) -> list[Bools]:
        """The most promising sets of terms, found by single steps from `now` and by dropping from all."""
        found: dict[bytes, tuple[float, Bools]] = {}
        for start in (now, np.ones_like(now)):
            for value, kept in self._walk(start):
                found.setdefault(kept.tobytes(), (value, kept))
        return [kept for _, kept in sorted(found.values(), key=lambda pair: pair[0])[:count]]

    def _walk(self, start: Bools) -> list[tuple[float, Bools]]:
        """Sets on the way of best changes: single ones, and where these end, one in exchange for another."""
        kept, value = start, self.value(start)
        visited = [(value, kept)]
        for _ in range(3 * len(kept)):
            nearby = self._changed(kept)[:1] or []
            if not nearby or self.value(nearby[0]) >= value:
                nearby = [again for one in self._larger(kept) for again in self._changed(one)[:2]]
            values = [self.value(one) for one in nearby]
            if not values:
                break
            best = int(np.argmin(values))
            visited.append((values[best], nearby[best]))
            if values[best] >= value - 1e-9:
                break
            kept, value = nearby[best], values[best]
        return visited

    def _changed(self, kept: Bools) -> list[Bools]:
        """Sets with one term more or less, best expected criterion first."""
        cost = self.constant - self._gain(kept)
        effect, price = self._effects(kept), np.where(kept, -self.prices, self.prices)
        values = [self._criterion(cost + e, p) for e, p in zip(effect.tolist(), price.tolist(), strict=True)]
        return [_flipped(kept, k) for k in np.argsort(values, kind="stable").tolist()]

    def _larger(self, kept: Bools) -> list[Bools]:
        """Sets with one of the most helpful terms more."""
        effect = np.where(kept, np.inf, self._effects(kept))
        return [
            _flipped(kept, k)
            for k in np.argsort(effect, kind="stable")[:EXCHANGED].tolist()
            if not kept[k] and effect[k] < 0.0
        ]

    def _effects(self, kept: Bools) -> Floats:
        """By how much the cost changes where each term (C,) is dropped or, if it is not there, added."""
        own, others = np.flatnonzero(kept), np.flatnonzero(~kept)
        effect = np.zeros(len(kept))
        inverse: Floats = np.empty((0, 0))
        solution: Floats = np.empty(0)
        if len(own):
            part = self.matrix[np.ix_(own, own)] + RIDGE * np.eye(len(own))
            inverse = np.asarray(np.linalg.pinv(part, hermitian=True), np.float64)
            solution = inverse @ self.right[own]
            with np.errstate(over="ignore"):  # what a term that explains everything is worth
                effect[own] = solution**2 / np.maximum(np.diag(inverse), 1e-300)
        if len(others):
            cross = self.matrix[np.ix_(others, own)]
            outside = np.diag(self.matrix)[others] - ((cross @ inverse) * cross).sum(axis=1)
            rest = self.right[others] - cross @ solution
            effect[others] = -np.where(outside > 1e-9, rest**2 / np.maximum(outside, 1e-9), 0.0)
        return effect

    def _gain(self, kept: Bools) -> float:
        own = np.flatnonzero(kept)
        if not len(own):
            return 0.0
        part = self.matrix[np.ix_(own, own)] + RIDGE * np.eye(len(own))
        return float(self.right[own] @ np.linalg.lstsq(part, self.right[own], rcond=None)[0])

    def _criterion(self, cost: float, price: float) -> float:
        error = max(cost, 0.0) / self.count
        return TEMPERATURE * 0.5 * self.count * float(np.log(error + FLOOR)) + price


def _flipped(kept: Bools, term: int) -> Bools:
    result = kept.copy()
    result[term] = ~result[term]
    return result
