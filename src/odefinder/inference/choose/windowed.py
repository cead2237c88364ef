"""A search over windows, for long records that defeat a single shot: chaotic ones, above all.

Sparse polynomial systems come from the whole record, are fitted over joined windows, and gain and lose terms
until the criterion stops falling.  Candidates of the plain search can join them.  The criterion is that of
all systems; jumps between windows count as errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from odefinder.data.observations import Floats, Observations
from odefinder.errors import ExpressionError
from odefinder.expressions.form import Form
from odefinder.expressions.monomials import exponents, monomial
from odefinder.expressions.program import Program
from odefinder.inference.choose.candidates import Candidate, in_order, merged, tried_elsewhere, weights_of
from odefinder.inference.choose.criterion import criterion
from odefinder.inference.choose.description import CONSTANT_COST, NODE_COST
from odefinder.inference.choose.stepwise import Stepwise
from odefinder.inference.fit.refine import FLOOR
from odefinder.inference.fit.residuals import SIGNIFICANT, checks
from odefinder.inference.fit.shooting import outlook
from odefinder.inference.fit.states import StateEstimate
from odefinder.inference.fit.windows import (
    EXACT,
    JOINED,
    LOOSE,
    WINDOW,
    WindowFit,
    fit_windows,
    window_cuts,
    window_path,
)
from odefinder.inference.propose.polynomials import Polynomials, highest_degree, propose_long
from odefinder.limits.deadline import Deadline
from odefinder.numerics.chaos.lyapunov import Spectrum, lyapunov_spectrum
from odefinder.numerics.r2 import variance_weighted_r2

FITTED = 4  # proposals that are fitted with joints, after a first look at all
ROUNDS = 6  # of adding and dropping terms
RESCORED = 20
CONVINCING = 1.5  # times what the true system would leave
NEARLY_EXACT = 1e-6  # mean squared scaled residual that is convincing without any noise, too
UNDERESTIMATED = 4.0  # factor by which the variance of the noise may be larger than estimated
UNSEEN_NOISE = 1e-4  # mean squared scaled residual: more noise than this is seen before any fit
INDEPENDENT = 0.1  # correlation of neighbouring residuals below which they count as noise
LYAPUNOV_SECONDS = 1.5
TRUSTED_PERIODS = 100.0  # over which the exponents of a model are averaged
POLISHED = 3  # of the best systems
WORSE = 3.0  # nats that tight joints may cost


@dataclass(frozen=True)
class Windowed:
    """A candidate, with the starts of its windows and, if it is a polynomial, its terms."""

    candidate: Candidate
    nodes: Floats
    terms: Polynomials | None


class WindowedSearch:
    """The systems found so far over windows of one set of data, in canonical units."""

    def __init__(
        self,
        data: Observations,
        estimate: StateEstimate,
        period: float,
        deadline: Deadline,
        operators: frozenset[str] | None = None,
    ):
        self.data, self.estimate, self.period, self.deadline = data, estimate, period, deadline
        self.operators = operators
        self.windows = window_cuts(data, WINDOW * period)
        self.found: dict[bytes, Windowed] = {}

    # ------------------------------------------------------------ stages

    def run_polynomials(self) -> None:
        """Sparse polynomials of the whole record, then terms added and dropped."""
        looks: list[tuple[float, int, Polynomials, WindowFit]] = []
        for proposal in propose_long(self.data, self.estimate, self.period):
            if self.deadline.over:
                break
            fit = self._fit(proposal.program, LOOSE, 3)
            looks.append((criterion(fit.fit, self.data), len(looks), proposal, fit))
            if fit.fit.error < FLOOR:  # exact
                break
        for _, _, proposal, fit in sorted(looks, key=lambda look: look[:2])[:FITTED]:
            if self.deadline.over and self.found:
                return
            self.keep(proposal.program, "sparse", proposal, fit.nodes)
        extra = 0  # degrees beyond that of the best system
        for _ in range(ROUNDS):
            if self.deadline.over or extra > 1:
                break
            extra = 0 if self._step(extra) else extra + 1
        self.polish()

    def fit_programs(self, programs: Sequence[Program], source: str) -> None:
        """Fit systems from elsewhere, such as those of the plain search."""
        for program in programs:
            if self.deadline.over:
                break
            with suppress(ExpressionError):
                self.keep(Form.of(program).program, source)

    def keep(
        self, program: Program, source: str, terms: Polynomials | None = None, nodes: Floats | None = None
    ) -> Candidate | None:
        """Fit a system over joined windows, and keep it if it is the best of its structure."""
        if self.operators is not None and not program.operators() <= self.operators:
            return None
        fit = self._fit(program, JOINED, 12, nodes)
        if terms is not None:
            terms = _with_coefficients(terms, fit.fit.program.constants)
        return self._store(fit, source, terms)

    def polish(self) -> None:
        """The best systems with tight joints and, for exact data, a tight tolerance."""
        for found in sorted(self.found.values(), key=_value)[:POLISHED]:
            if self.deadline.over:
                break
            program = found.candidate.fit.program
            if found.terms is not None:
                program = found.terms.program
            rtol = 1e-6 if self.estimate.smoothed else 1e-9
            fit = self._fit(program, EXACT, 8, found.nodes, rtol)
            terms = found.terms and _with_coefficients(found.terms, fit.fit.program.constants)
            self._store(fit, found.candidate.source, terms, worse=WORSE)

    def _fit(
        self, program: Program, penalties: tuple[float, ...], iterations: int, nodes: Floats | None = None,
        rtol: float = 1e-6,
    ) -> WindowFit:  # fmt: skip
        return fit_windows(
            program, self.data, self.estimate.states, self.windows, nodes=nodes, penalties=penalties,
            iterations=iterations, rtol=rtol, deadline=self.deadline,
        )  # fmt: skip

    def _store(
        self, fit: WindowFit, source: str, terms: Polynomials | None, worse: float = 0.0
    ) -> Candidate | None:
        """Keep a fit if it is the best of its structure; tighter joints may make it a little worse."""
        with suppress(ExpressionError):
            form = Form.of(fit.fit.program)
            own = replace(fit.fit, program=form.program)
            value = criterion(own, self.data)
            known = self.found.get(form.key)
            if np.isfinite(value) and (known is None or value < known.candidate.criterion + worse):
                candidate = Candidate(own, source if known is None else known.candidate.source, value)
                self.found[form.key] = Windowed(candidate, fit.nodes, terms)
                return candidate
        return None

    def _step(self, extra: int) -> bool:
        """Add and drop terms of the best polynomial system; whether a better one was found.

        extra: by how much the degree of new terms may exceed that of the system.
        """
        polynomials = [one for one in self.found.values() if one.terms is not None]
        if not polynomials:
            return False
        best = min(polynomials, key=_value)
        assert best.terms is not None
        nodes, larger = best.nodes, self._with_all_terms(best.terms, best.candidate.fit.error, extra)
        now = larger.program.constants != 0.0
        if not now.all():  # the quadratic form is right where all terms are fitted
            every = self._fit(larger.program, JOINED[-1:], 6, nodes)
            if every.fit.error < best.candidate.fit.error:
                larger, nodes = _with_coefficients(larger, every.fit.program.constants), every.nodes
        around = outlook(larger.program, self.data, nodes, self.windows, JOINED[-1])
        if around is None:
            return False
        flat = [(d, powers) for d, terms in enumerate(larger.terms) for powers in terms or ((),)]
        prices = np.array([NODE_COST * (len(monomial(powers)) + 3) + CONSTANT_COST for _, powers in flat])
        stepwise = Stepwise.around(around, larger.program.constants, prices, self.data.count)
        before = best.candidate.criterion
        for kept in stepwise.best_sets(now):
            if self.deadline.over:
                break
            if not np.array_equal(kept, now):
                chosen = _subset(larger, flat, kept, stepwise.solution(kept))
                self.keep(chosen.program, "sparse", chosen, nodes)
        return min(_value(one) for one in self.found.values()) < before

    def _with_all_terms(self, terms: Polynomials, error: float, extra: int) -> Polynomials:
        """The system with all terms that might be missing, with coefficients of 0."""
        if error < FLOOR:  # exact: nothing is missing
            return terms
        degree = max(terms.degree, min(highest_degree(self.data.dimension), max(2, terms.degree + extra)))
        every = tuple(exponents(self.data.dimension, degree))
        known = [
            dict(zip(own, values, strict=True))
            for own, values in zip(terms.terms, terms.coefficients, strict=True)
        ]
        return Polynomials(
            tuple(every for _ in known),
            tuple(tuple(one.get(powers, 0.0) for powers in every) for one in known),
        )

    # ------------------------------------------------------------ results

    def ranked(self) -> list[Candidate]:
        """All systems, best criterion first."""
        return [one.candidate for one in sorted(self.found.values(), key=_value)]

    def rescored(self) -> list[Candidate]:
        """The best systems; those that are the same function on the data are one."""
        best = in_order([tried_elsewhere(found, self._short) for found in self.ranked()[:RESCORED]])
        return merged(best, [found.fit.program for found in best], self.estimate.variables, self._left())

    def weights(self, rescored: Sequence[Candidate], early: bool) -> Floats:
        """How far each of the rescored systems may be trusted, judged over one window from elsewhere."""
        return weights_of(rescored, self.data, self._left(), early)

    def nodes_of(self, candidate: Candidate) -> Floats:
        """The states (windows, D) at the starts of a candidate's windows."""
        program = candidate.fit.program
        return next(one.nodes for one in self.found.values() if one.candidate.fit.program is program)

    def r2(self, candidate: Candidate, scale: Floats) -> float:
        """R2 over the windows of a candidate; scale (D,): the user's units."""
        path = window_path(candidate.fit.program, self.nodes_of(candidate), self.windows, self.data)
        return variance_weighted_r2(self.data.states * scale, path * scale)

    @property
    def convincing(self) -> bool:
        """Whether the best system leaves only what the true one would leave."""
        ranked = self.ranked()
        return bool(ranked) and (self.convinces(ranked[0].fit.error) or self._leaves_noise(ranked[0]))

    def convinces(self, error: float) -> bool:
        """Whether a mean squared scaled residual is what the true system would leave."""
        return error < max(CONVINCING * self._left(), NEARLY_EXACT)

    def _leaves_noise(self, candidate: Candidate) -> bool:
        """Whether what is left looks like noise, though there is more of it than was seen before the fit."""
        if candidate.fit.error > max(UNDERESTIMATED * self._left(), UNSEEN_NOISE):
            return False
        path = window_path(candidate.fit.program, self.nodes_of(candidate), self.windows, self.data)
        left = checks(path - self.data.states, self.data)
        return all(
            one is not None and abs(one.correlation) < min(INDEPENDENT, SIGNIFICANT / np.sqrt(one.count))
            for one in left
        )

    @cached_property
    def spectrum(self) -> Spectrum:
        """The Lyapunov exponents of the best system."""
        fit = self.ranked()[0].fit
        return lyapunov_spectrum(
            fit.program, fit.starts[0], self.period, periods=TRUSTED_PERIODS, seconds=LYAPUNOV_SECONDS
        )

    @cached_property
    def _short(self) -> Observations:
        """The first two windows of each trajectory."""
        rows, bounds = [], [0]
        for first, last in zip(self.data.bounds[:-1], self.data.bounds[1:], strict=True):
            end = np.searchsorted(self.data.times[first:last], self.data.times[first] + self.period)
            rows.append(np.arange(first, first + max(int(end), 2)))
            bounds.append(bounds[-1] + len(rows[-1]))
        return self.data.part(np.concatenate(rows), np.array(bounds))

    def _left(self) -> float:
        return FLOOR + self.estimate.left(self.data)


def _value(one: Windowed) -> float:
    return one.candidate.criterion


def _with_coefficients(terms: Polynomials, constants: Floats) -> Polynomials:
    """The same terms with fitted coefficients, in program order; an empty equation has one constant, 0."""
    rest = iter(constants.tolist())
    coefficients = []
    for own in terms.terms:
        values = tuple(next(rest) for _ in own or ((),))
        coefficients.append(values if own else ())
    return Polynomials(terms.terms, tuple(coefficients))


def _subset(
    terms: Polynomials, flat: Sequence[tuple[int, tuple[int, ...]]], kept: np.ndarray, values: Floats
) -> Polynomials:
    """The terms that are kept."""
    sides: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in terms.terms]
    for (d, powers), stays, value in zip(flat, kept.tolist(), values.tolist(), strict=True):
        if stays and (powers or terms.terms[d]):
            sides[d].append((powers, value))
    return Polynomials(
        tuple(tuple(powers for powers, _ in side) for side in sides),
        tuple(tuple(value for _, value in side) for side in sides),
    )
