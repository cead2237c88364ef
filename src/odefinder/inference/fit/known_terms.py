"""Terms that single equations may or may not have, as users write them: {"x": ["x", "x*y"], "y": "!x^2"}.

A term is known by its form: its factor and the other numbers in it may have any values, and names that are
not variables stand for such numbers.  A sum stands for each of its terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odefinder.data.dataset import Dataset
from odefinder.data.names import not_one_of
from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.canonical import canonical
from odefinder.expressions.parse import names_in, parse
from odefinder.expressions.program import Program
from odefinder.expressions.term_rules import TermRule, shapes_of
from odefinder.expressions.terms import terms_of
from odefinder.inference.fit.known_text import equation_of, with_derivatives

EXAMPLE = '{"x": ["x", "x*y"], "y": ["!x^2"]}'


def term_rules(given: Any, dataset: Dataset) -> tuple[TermRule | None, ...]:
    """(D,): the rule for the equation of each state; None: all terms may occur."""
    states = dataset.variables
    if given is None:
        return (None,) * len(states)
    if not isinstance(given, Mapping):  # the same for all of them
        rule = _rule(given, dataset.names, "all equations")
        return tuple(None if k in dataset.velocities else rule for k in range(len(states)))
    found: dict[str, TermRule | None] = {}
    for left, texts in given.items():
        name = equation_of(str(left))
        if name not in states:
            raise SettingsError(f"terms names {shown(left)}, {not_one_of(name, states)}")
        if (place := states.index(name)) in dataset.velocities:
            velocity = states[dataset.velocities[place]]
            raise SettingsError(
                f"{name} has order 2, so {name}' is its velocity; write {velocity!r} or \"{name}''\" in terms"
            )
        found[name] = _rule(texts, dataset.names, f"the equation of {name}")
    return tuple(found.get(name) for name in states)


def _rule(given: Any, names: Sequence[str], where: str) -> TermRule | None:
    if given is None:
        return None
    texts = _split(given) if isinstance(given, str) else items(given)
    if texts is None or not all(isinstance(one, str) and one.strip("! ") for one in texts):
        raise SettingsError(
            f"terms is a list of terms for each equation, as in {EXAMPLE}, not {shown(given)}"
        )
    listed = [str(one).strip() for one in texts]
    refused = [one for one in listed if one.startswith("!")]
    if refused and len(refused) < len(listed):
        raise SettingsError(
            f"terms has {refused[0]!r} for {where}, which forbids one, next to some that are allowed; give "
            "only one of the two kinds"
        )
    programs = [term for one in listed for term in _terms(one.lstrip("! "), names)]
    shapes = frozenset(shape for term in programs for shape in shapes_of(term))
    return TermRule(forbidden=shapes) if refused else TermRule(shapes, offered=tuple(programs))


def _split(text: str) -> list[str]:
    """The parts between commas that are not inside parentheses."""
    parts, depth, first = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append(text[first:place])
            first = place + 1
    return [*parts, text[first:]]


def _terms(text: str, names: Sequence[str]) -> list[Program]:
    """What a text allows or forbids, with numbers in place of unknown names."""
    try:
        written = with_derivatives(text, names, "terms")
        unknown = [one for one in names_in(written) if one not in names]
        numbers = {one: 0.7 + 0.13 * k for k, one in enumerate(unknown)}  # as good as any others
        return terms_of(canonical(parse(written, names, numbers), explicit=True))
    except ExpressionError as error:
        raise SettingsError(f"in terms: {error}") from None


def placeholders(given: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The names in terms that stand for numbers; terms that `term_rules` has read."""
    every = list(given.values()) if isinstance(given, Mapping) else [given]
    texts = [one for part in every for one in (_split(part) if isinstance(part, str) else items(part) or ())]
    found = [name for text in texts for name in names_in(with_derivatives(text.lstrip("! "), names, "terms"))]
    return tuple(dict.fromkeys(name for name in found if name not in names))


def check_terms(
    rules: Sequence[TermRule | None], states: Sequence[str], whole: Sequence[bool], follow: Sequence[int]
) -> None:
    """Raise where there is a rule for an equation in which nothing is to be found."""
    for k, rule in enumerate(rules):
        if rule is None or not (whole[k] or k in follow):
            continue
        why = "known has the whole of it" if whole[k] else "it follows from conserve"
        raise SettingsError(
            f"terms has a rule for the equation of {states[k]}, but {why}; leave one of them out"
        )


def check_guesses(
    guesses: Sequence[Program], rules: Sequence[TermRule | None], states: Sequence[str]
) -> None:
    """Raise where a guess has a term that is not allowed."""
    for guess in guesses:
        for name, rule, one in zip(states, rules, guess.components(), strict=True):
            if rule is not None and not rule.allows(one):
                raise SettingsError(
                    f"the guess for {name} has a term that terms does not allow; allow it there, or leave it "
                    "out of the guess"
                )
