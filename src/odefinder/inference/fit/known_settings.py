"""From the parameters known, fixed, bounds, positive, conserve, vary and terms to `Knowledge`, checked.

All contradictions are found here, before anything slow begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset
from odefinder.data.names import did_you_mean, not_one_of
from odefinder.data.roles import Role
from odefinder.edge.parameters import checked
from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import names_in, parse
from odefinder.expressions.program import CONST, MUL, Program, concatenate
from odefinder.expressions.term_rules import TermRule
from odefinder.expressions.terms import linear_term, node, sum_of, terms_of
from odefinder.inference.fit.knowledge import NO_BOUNDS, Knowledge
from odefinder.inference.fit.known_starts import interval, start_limits, without_starts
from odefinder.inference.fit.known_terms import check_terms, placeholders, term_rules
from odefinder.inference.fit.known_text import KnownText, known_states, read_known

FEW_POINTS = 6  # with fewer, nothing is said about conserved sums in the data
BROKEN = 3.0  # times the noise: a sum that drifts by more is not conserved
ROUNDING = 1e-3  # share of the states' spread: a sum that drifts by less is conserved


@dataclass(frozen=True)
class Known:
    """The parameters as the user gave them."""

    known: Any = None
    fixed: Mapping[str, float] | None = None
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None
    positive: Sequence[str] | bool | None = None
    conserve: Any = None
    vary: Sequence[str] | None = None
    terms: Any = None

    def __bool__(self) -> bool:
        return any(one is not None and one is not False and not _is_empty(one) for one in vars(self).values())


def _is_empty(value: Any) -> bool:
    """Whether it is an empty list, text or mapping."""
    return isinstance(value, (str, Sequence, Mapping)) and len(value) == 0


def knowledge_of(
    given: Known,
    dataset: Dataset,
    operators: frozenset[str] | None = None,
    by_state: Mapping[str, frozenset[str]] | None = None,
) -> Knowledge | None:
    """The user's knowledge about these data; None if there is none.

    operators: those that may occur in all equations; by_state: in those of single states.
    """
    if not given and not by_state:
        return None
    states, names = dataset.variables, dataset.names
    limits = starts_of(given, dataset)
    given = replace(given, fixed=without_starts(given.fixed), bounds=without_starts(given.bounds))
    fixed = _fixed(given.fixed, names)
    text = KnownText() if given.known is None else read_known(given.known, names, fixed)
    _check_states(text, dataset)
    _check_names(given, text, fixed)
    parts: list[Program | None] = [None] * len(states)
    whole = [False] * len(states)
    reads: list[frozenset[int] | None] = [None] * len(states)
    for one in text.equations:
        place = states.index(one.state)
        _check_operators(one.state, one.part, operators, by_state or {})
        parts[place], whole[place] = one.part, one.whole
        if one.reads is not None:
            reads[place] = frozenset(names.index(name) for name in one.reads)
    sums = _sums(given.conserve, dataset)
    _check_sums(sums, dataset)
    rules = term_rules(given.terms, dataset)
    follow = _follow(sums, parts, whole, rules, dataset)
    if isinstance(given.terms, Mapping):
        check_terms(rules, states, whole, follow)
    if not follow:  # the known equations conserve them anyway
        sums = ()
    varied = varied_names(given.vary, [*text.constants, *fixed], "known", len(dataset))
    if both := [name for name in varied if name in fixed]:
        raise SettingsError(f"{both[0]} is fixed and is to vary, too; leave it out of fixed or of vary")
    return Knowledge(
        variables=states,
        inputs=dataset.known,
        constants=text.constants,
        parts=tuple(parts),
        whole=tuple(whole),
        reads=tuple(reads),
        operators=tuple((by_state or {}).get(name) for name in states),
        terms=rules,
        positive=tuple(name in _positive(given.positive, dataset) for name in states),
        bounds=_bounds(given.bounds, text.constants, fixed),
        varied=tuple(name in varied for name in text.constants),
        sums=sums,
        follow=follow,
        starts=limits,
        fixed=tuple(fixed.items()),
        assumed=_assumed(given, text, varied, names),
    )


def _assumed(given: Known, text: KnownText, varied: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Names that were taken for constants because they are not columns, and that nothing else lists."""
    listed = {*(given.bounds or ()), *varied}
    found = [*text.constants, *placeholders(given.terms, names)]
    return tuple(dict.fromkeys(name for name in found if name not in listed))


def starts_of(given: Known, dataset: Dataset) -> tuple[tuple[float, float], ...]:
    """(D,): bounds of initial values; empty if none are known."""
    known = () if given.known is None else known_states(given.known)
    return start_limits(checked("fixed", given.fixed), checked("bounds", given.bounds), dataset, known)


# ---------------------------------------------------------------------------------------- names


def _fixed(fixed: Any, names: Sequence[str]) -> dict[str, float]:
    if fixed is None:
        return {}
    fixed = checked("fixed", fixed)
    for name in fixed:
        if name in names:
            raise SettingsError(f"fixed is for constants, and {name} is a column of the data; leave it out")
    return {str(name): float(value) for name, value in fixed.items()}


def _check_states(text: KnownText, dataset: Dataset) -> None:
    velocities = {dataset.variables[x]: dataset.variables[v] for x, v in dataset.velocities.items()}
    for one in text.equations:
        if one.state in velocities:
            raise SettingsError(
                f"{one.state} has order 2, so {one.state}' is its velocity {velocities[one.state]}; write "
                f"{one.state}'' = ... in known"
            )
        if one.state not in dataset.variables:
            advice = "if nobody measured it, give hidden" if one.state not in dataset.known else "it is known"
            if one.state.endswith(("_dot", "_ddot")):
                advice = "for equations of order 2, give order=2"
            which = not_one_of(one.state, dataset.variables)
            raise SettingsError(f"known has an equation of {one.state}, {which} ({advice})")


def _check_names(given: Known, text: KnownText, fixed: Mapping[str, float]) -> None:
    """Every constant that a parameter names must occur in known."""
    for what, named in {"fixed": fixed, "bounds": given.bounds, "vary": given.vary}.items():
        if given.known is None and named is not None and items(named) != []:
            raise SettingsError(f'{what} names constants of known; give known, such as "x\' = -k*x + ?"')
    for name in fixed:
        if name not in text.names:
            raise SettingsError(
                f"fixed names {name!r}, which does not occur in known{did_you_mean(name, text.constants)}; "
                f"its constants are {', '.join(text.constants) or 'none'}"
            )


def varied_names(given: Any, constants: Sequence[str], of: str, trajectories: int) -> tuple[str, ...]:
    """The constants of known or of a guess that differ between trajectories; there must be several."""
    varied = _names_in("vary", given, constants, f"constants of {of}")
    if varied and trajectories < 2:
        raise SettingsError("vary is for constants that differ between trajectories, and there is only one")
    return varied


def _names_in(what: str, given: Any, names: Sequence[str], among: str) -> tuple[str, ...]:
    """A list of names, each among some."""
    if given is None or given is False:
        return ()
    listed = [one.strip() for one in given.split(",")] if isinstance(given, str) else items(given)
    if listed is None or isinstance(given, Mapping):
        raise SettingsError(f"{what} is a list of names, not {shown(given)}")
    result = tuple(listed)
    for name in result:
        if not isinstance(name, str) or name not in names:
            meant = did_you_mean(name, names) if isinstance(name, str) else ""
            raise SettingsError(
                f"{what} names {shown(name)}, which is not one of the {among}{meant}; they are "
                f"{', '.join(names) or 'none'}"
            )
    return result


def _check_operators(
    state: str,
    part: Program | None,
    operators: frozenset[str] | None,
    by_state: Mapping[str, frozenset[str]],
) -> None:
    allowed = by_state.get(state, operators)
    if part is not None and allowed is not None and (others := part.operators() - allowed):
        raise SettingsError(
            f"the known equation of {state} has {', '.join(sorted(others))}, which operators does not allow; "
            "add it there, or leave it out of known"
        )


def _positive(given: Any, dataset: Dataset) -> tuple[str, ...]:
    names = (
        dataset.variables if given is True else _names_in("positive", given, dataset.variables, "variables")
    )
    for name in names:
        column = np.concatenate([x[:, dataset.variables.index(name)] for x in dataset.states])
        if 2 * (column < 0.0).sum() > np.isfinite(column).sum():  # never so where nothing was measured
            raise SettingsError(
                f"{name} is to stay positive, and most of its values are negative; leave it out of positive"
            )
    return tuple(names)


def _bounds(
    given: Any, constants: Sequence[str], fixed: Mapping[str, float]
) -> tuple[tuple[float, float], ...]:
    if given is None:
        return (NO_BOUNDS,) * len(constants)
    given = checked("bounds", given)
    _names_in("bounds", list(given), [*constants, *fixed], "constants of known")
    found = {name: interval(name, ends, fixed.get(name)) for name, ends in given.items()}
    return tuple(found.get(name, NO_BOUNDS) for name in constants)


# ---------------------------------------------------------------------------------------- conserved sums


def _sums(given: Any, dataset: Dataset) -> tuple[tuple[float, ...], ...]:
    """The factors of the states in every conserved sum."""
    if given is None:
        return ()
    texts = [given] if isinstance(given, str) else items(given)
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise SettingsError(f'conserve is a sum such as "S + I + R", or a list of them, not {shown(given)}')
    rows = []
    for text in texts:
        try:
            if others := [one for one in names_in(text) if one not in dataset.variables]:
                which = not_one_of(others[0], dataset.variables)
                raise SettingsError(f"conserve names {others[0]!r}, {which}")
            program = canonical(parse(text, dataset.variables))
        except ExpressionError as error:
            raise SettingsError(f"in conserve: {error}") from None
        rows.append(_factors(program, text, len(dataset.variables)))
    if rows and np.linalg.matrix_rank(np.array(rows)) < len(rows):
        raise SettingsError("the sums in conserve follow from each other; leave one of them out")
    return tuple(rows)


def _factors(program: Program, text: str, dimension: int) -> tuple[float, ...]:
    factors = [0.0] * dimension
    for term in terms_of(program):
        linear = linear_term(term)
        if linear is None:
            raise SettingsError(
                f"{text!r} in conserve is not a sum of variables; write S + I + R, or with factors 2*A + B"
            )
        factors[linear[1]] += linear[0]
    return tuple(factors)


def _follow(
    sums: Sequence[Sequence[float]],
    parts: Sequence[Program | None],
    whole: Sequence[bool],
    rules: Sequence[TermRule | None],
    dataset: Dataset,
) -> tuple[int, ...]:
    """For each of the sums a state whose equation follows from it: one of which least is known."""
    fixed = {k for k in range(len(parts)) if whole[k] or k in dataset.velocities}
    order = sorted(
        set(range(len(parts))) - fixed, key=lambda k: (rules[k] is not None, parts[k] is not None, -k)
    )
    chosen: list[int] = []
    for state in order:
        if len(chosen) == len(sums):
            break
        columns = np.array(sums)[:, [*chosen, state]]
        if np.linalg.matrix_rank(columns) == len(chosen) + 1:
            chosen.append(state)
    if len(chosen) < len(sums):
        if fixed and all(_vanishes(one, parts) for one in sums if any(one)):
            return ()
        raise SettingsError(
            "conserve contradicts known: all states of a conserved sum have whole equations there; leave out "
            "the equation of one of them, as it follows"
        )
    return tuple(chosen)


def _vanishes(factors: Sequence[float], parts: Sequence[Program | None]) -> bool:
    """Whether the sum of known equations with these factors is 0."""
    terms = []
    for factor, part in zip(factors, parts, strict=True):
        if factor != 0.0:
            if part is None:
                return False
            terms.append(concatenate([node(MUL), node(CONST, factor), part]))
    total = canonical(sum_of(terms))
    return total.ops.tolist() == [CONST] and abs(float(total.values[0])) < 1e-12


def _check_sums(sums: Sequence[Sequence[float]], dataset: Dataset) -> None:
    """Raise where the data break a conserved sum by more than their noise."""
    observed = [role == Role.OBSERVED for role in dataset.roles]
    for factors in sums:
        used = [k for k, factor in enumerate(factors) if factor != 0.0]
        if not all(observed[k] for k in used):
            continue
        drift, noise, spread = sum_drift(factors, dataset)
        if drift > BROKEN * noise + ROUNDING * spread:
            text = sum_text(factors, dataset.variables)
            raise SettingsError(
                f"the data break conserve: {text} changes by {drift:.3g} (root mean square), far more than "
                f"the noise in it, {noise:.3g}; leave conserve out, or check the data"
            )


def sum_text(factors: Sequence[float], names: Sequence[str]) -> str:
    """Such as S + 2*I - R."""
    text = ""
    for name, factor in zip(names, factors, strict=True):
        if factor:
            sign = (" - " if factor < 0 else " + ") if text else ("-" if factor < 0 else "")
            text += sign + (name if abs(factor) == 1.0 else f"{abs(factor):g}*{name}")
    return text


def sum_drift(factors: Sequence[float], dataset: Dataset) -> tuple[float, float, float]:
    """Of a sum of states: its root mean square change, the noise in it, and the spread of its terms."""
    drift, noise, count, spread = 0.0, 0.0, 0, 0.0
    weights = np.array(factors)
    for states in dataset.states:
        own = states[:, weights != 0.0]
        rows = np.isfinite(own).all(axis=1)
        if rows.sum() < FEW_POINTS:
            continue
        terms = own[rows] * weights[weights != 0.0]
        total = terms.sum(axis=1)
        drift += float(((total - total.mean()) ** 2).sum())
        noise += float((np.diff(total, 2) ** 2).mean()) / 6.0 * len(total)
        spread = max(spread, float(terms.std(axis=0).max()))
        count += len(total)
    if count == 0:
        return 0.0, 0.0, 0.0
    return float(np.sqrt(drift / count)), float(np.sqrt(noise / count)), spread
