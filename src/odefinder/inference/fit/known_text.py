"""Equations of which a part is known, as people write them: "S' = -b*S*I; I' = b*S*I - ?".

A question mark stands for terms that are to be found; `?(S, I)` says which variables they may contain.  A
name that is not a variable is a constant, to be fitted.  theta'' = ... is the equation of theta's velocity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from odefinder.data.layout import derivative_name
from odefinder.data.names import not_one_of
from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import names_in, parse
from odefinder.expressions.program import CONST, MUL, VAR, Program, make_program
from odefinder.expressions.terms import sum_of, terms_of

_LEFT = re.compile(r"(?:d(?P<leibniz>\w+)\s*/\s*dt|(?P<newton>\w+?)\s*(?P<primes>'+)\s*(?:\(\s*t\s*\))?)")
_DERIVATIVE = re.compile(r"\b(\w+)('+)")  # a boundary: long words are looked at once
_UNKNOWN = re.compile(r"\?(?:\s*\(([^()]*)\))?")
_REST = "unknown_rest_"  # what the question mark is called while the parser reads it


class KnownEquation(NamedTuple):
    """What is known of one equation."""

    state: str
    part: Program | None  # known terms; after the names come the constants.  None: nothing
    whole: bool  # whether nothing is to be found
    reads: tuple[str, ...] | None  # the variables that what is to be found may contain; None: all


class KnownText(NamedTuple):
    """Known equations and the constants in them, by name."""

    equations: tuple[KnownEquation, ...] = ()
    constants: tuple[str, ...] = ()  # those that are fitted
    names: frozenset[str] = frozenset()  # all that occur


def known_states(known: Any) -> tuple[str, ...]:
    """The variables whose equations are known in part or as a whole, in the order of the text."""
    return tuple(state for state, _ in _pairs(known))


def read_known(known: Any, names: Sequence[str], fixed: Mapping[str, float]) -> KnownText:
    """The equations; names: what they may read, states first.  fixed: constants with known values."""
    pairs = _pairs(known)
    sides = [(state, with_derivatives(side, names)) for state, side in pairs]
    constants: dict[str, None] = {}
    used = frozenset(one for _, side in sides for one in names_in(_UNKNOWN.sub(" ", side)))
    for _, side in sides:
        constants |= dict.fromkeys(
            one for one in names_in(_UNKNOWN.sub(" ", side)) if one not in names and one not in fixed
        )
    for one in constants:
        _check_constant(one, names)
    read = [_equation(state, side, names, tuple(constants), fixed) for state, side in sides]
    return KnownText(tuple(read), tuple(constants), used)


def _pairs(known: Any) -> list[tuple[str, str]]:
    """States and right-hand sides."""
    if isinstance(known, Mapping):
        pairs = [(_state(str(left), bare=True), right) for left, right in known.items()]
    else:
        lines = re.split("[\n;]", known) if isinstance(known, str) else items(known)
        if lines is None:
            raise SettingsError(f'known is text such as "x\' = -k*x + ?", not {shown(known)}')
        pairs = []
        for line in lines:
            if not isinstance(line, str):
                raise SettingsError(f'known is text such as "x\' = -k*x + ?", not {shown(line)}')
            if line := re.sub("#.*", "", line).strip():
                left, equals, right = line.partition("=")
                if not equals:
                    raise SettingsError(f"the known equation {shown(line)} has no '='; write x' = ...")
                pairs.append((_state(left), right))
    states = [state for state, _ in pairs]
    if not pairs:
        raise SettingsError('known is empty; write for example "x\' = -k*x + ?", or leave it out')
    for state, right in pairs:
        if not isinstance(right, str):
            raise SettingsError(f"the known equation of {state} is text, not {shown(right)}")
        if states.count(state) > 1:
            raise SettingsError(f"known has two equations of {state}; write one")
    return pairs


def _state(left: str, bare: bool = False) -> str:
    """The state whose equation has this left-hand side."""
    match = _LEFT.fullmatch(left.strip())
    if match is None:
        if bare:
            return left
        raise SettingsError(
            f"the left-hand side {shown(left.strip())} in known is not understood; write x' = ..., "
            "dx/dt = ... or, for equations of order 2, x'' = ..."
        )
    if match["leibniz"]:
        return str(match["leibniz"])
    return derivative_name(match["newton"], len(match["primes"]) - 1)


def equation_of(left: str) -> str:
    """The state whose equation is meant by x, x' or, with order 2, theta''."""
    return _state(left, bare=True)


def with_derivatives(side: str, names: Sequence[str], where: str = "known") -> str:
    """The right-hand side with theta' written as theta_dot."""

    def name(match: re.Match[str]) -> str:
        found = derivative_name(match[1], len(match[2]))
        if found not in names:
            raise _no_derivative(match[0], match[1], found, where)
        return found

    return _DERIVATIVE.sub(name, side)


def _no_derivative(written: str, state: str, name: str, where: str = "known") -> SettingsError:
    """For a derivative, written in some way, that the data do not have under this name."""
    return SettingsError(
        f"{written} in {where} is the derivative of {state}, which is not a variable of these "
        f"data; for equations of order 2 give order=2 (or a column {name})"
    )


def _check_constant(name: str, names: Sequence[str]) -> None:
    """Raise where a name that is no variable cannot be meant as a constant: it is that of a velocity."""
    for state in names:
        if name in (derivative_name(state, 1), derivative_name(state, 2)):
            raise _no_derivative(name, state, name)


def _equation(
    state: str, side: str, names: Sequence[str], constants: tuple[str, ...], fixed: Mapping[str, float]
) -> KnownEquation:
    marks = list(_UNKNOWN.finditer(side))
    if len(marks) > 1:
        raise SettingsError(f"the known equation of {state} has {len(marks)} question marks; one is enough")
    reads = None
    if marks and marks[0][1] is not None:
        reads = tuple(one.strip() for one in marks[0][1].split(",") if one.strip())
        for one in reads:
            if one not in names:
                raise SettingsError(f"?({marks[0][1]}) names {one!r}, {not_one_of(one, names)}")
    try:
        text = _UNKNOWN.sub(f" {_REST} ", side)
        used = {one: value for one, value in fixed.items() if one not in names}
        program = canonical(parse(text, [*names, *constants, _REST], used))
    except ExpressionError as error:
        raise SettingsError(f"in the known equation of {state}: {error}") from None
    if not marks:
        return KnownEquation(state, program, True, None)
    return KnownEquation(state, _without_rest(program, len(names) + len(constants), state), False, reads)


def _without_rest(program: Program, rest: int, state: str) -> Program | None:
    """The known terms next to the question mark, which must be a term of its own."""
    terms = terms_of(program)
    plain = make_program([VAR], [rest])
    negative = make_program([MUL, CONST, VAR], [0.0, -1.0, rest])
    known = [term for term in terms if term not in (plain, negative)]
    elsewhere = any(((term.ops == VAR) & (term.values == rest)).any() for term in known)
    if elsewhere or len(known) == len(terms):
        raise SettingsError(
            f"in the known equation of {state}, the question mark must be a term of its own, such as in "
            "-k*x + ?: it stands for a sum of terms"
        )
    return sum_of(known) if known else None
