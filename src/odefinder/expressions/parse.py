"""Formulas as a person writes them -> programs: a parser of our own, never `eval`.

The grammar, loosest binding first: sums, products (also `2x` and `2 (x + 1)`), powers (`^` or `**`, from the
right), then numbers, names, `f(...)`, `(...)` and `|...|`.  A minus sign binds like a product: -x^2 = -(x^2).
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from odefinder.edge.rules import items, shown
from odefinder.errors import ExpressionError
from odefinder.expressions import drafts
from odefinder.expressions.drafts import FUNCTIONS, NAMED_NUMBERS, Draft
from odefinder.expressions.program import ADD, Program

MAX_LENGTH = 20_000  # characters
MAX_DEPTH = 100  # nested parentheses, calls and exponents: up to six Python frames each

MOST_COMPARED = 100  # characters of a name for which similar ones are looked for

_NAME = r"[^\W\d⁰¹²³⁴-⁹][^\W⁰¹²³⁴-⁹]*"  # a letter or underscore, then letters, digits, underscores


def check_names(names: Sequence[str], what: str = "variable") -> tuple[str, ...]:
    """The names as a tuple, if each is a proper name and none is repeated."""
    given = items(names)
    if given is None:
        example = names.split()[:6] if isinstance(names, str) else []
        raise ExpressionError(f"give the {what}s as a list of names, for example {example or ['x']}")
    for name in given:
        if not isinstance(name, str):
            raise _no_name(name, what)
    return _checked_names(tuple(given), what)


def check_inputs(inputs: tuple[str, ...], variables: Sequence[str]) -> tuple[str, ...]:
    """The inputs, if none of them has an equation."""
    for name in inputs:
        if name in variables:
            raise ExpressionError(
                f"{name!r} is an input and has an equation, too; an input is known: leave out one of them"
            )
    return inputs


@lru_cache(maxsize=64)  # each equation of a large system asks again
def _checked_names(names: tuple[str, ...], what: str) -> tuple[str, ...]:
    for name in names:
        if not re.fullmatch(_NAME, name):
            raise _no_name(name, what)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ExpressionError(f"the {what} {shown(twice[0])} is given twice; every name must be different")
    return names


def _no_name(name: Any, what: str) -> ExpressionError:
    article = "an" if what == "input" else "a"
    return ExpressionError(
        f"{shown(name)} cannot name {article} {what}: use a letter, then letters, digits or underscores"
    )


@lru_cache(maxsize=64)
def _drafts_of(variables: tuple[str, ...]) -> dict[str, Draft]:
    """What the names of variables stand for."""
    return {name: drafts.variable(index) for index, name in enumerate(variables)}


def _known_names(variables: Sequence[str], constants: Mapping[str, float]) -> dict[str, Draft]:
    """What each name stands for; the user's own names win over pi and e."""
    if not isinstance(constants, Mapping):
        raise ExpressionError(f"give constants as a mapping name -> number, not {shown(constants)}")
    check_names([*check_names(variables), *check_names(list(constants), "constant")], "name")
    known = {name: drafts.number(value) for name, value in NAMED_NUMBERS.items()}
    for name, value in constants.items():
        try:
            number = float(value)
        except Exception:  # what is not a number, or too large for a float; an object may raise anything
            number = math.nan
        if not math.isfinite(number):
            raise ExpressionError(f"the constant {name!r} must be a finite number, not {shown(value)}")
        known[name] = drafts.number(number)
    known.update(_drafts_of(tuple(variables)))
    return known


def unknown_name(name: str, variables: Sequence[str], constants: Mapping[str, float]) -> tuple[str, str]:
    """Message and advice for a name that stands for nothing."""
    shown = name if len(name) <= 40 else name[:40] + "..."
    if name == "t":
        return (
            "the time t cannot occur in an equation",
            "if the time itself matters, name it as an input, inputs=['t']; in a fit give explicit_time=True",
        )
    all_names = [*NAMED_NUMBERS, *FUNCTIONS, *constants, *variables]
    candidates = {known.lower(): known for known in all_names}
    close = difflib.get_close_matches(name.lower(), candidates, n=1) if len(name) <= MOST_COMPARED else []
    message = f"unknown name {shown!r}" + (f"; did you mean {candidates[close[0]]!r}?" if close else "")
    advice = [f"variables: {_some(variables)}"]
    if constants:
        advice.append(f"constants: {_some(list(constants))}")
    elif not close and name.isidentifier():
        advice.append(
            f"if it is a constant, write its value (or give constants={{{shown!r}: ...}} to from_text); if "
            f"it is a known signal, give inputs=[{shown!r}]"
        )
    advice.append(f"functions: {', '.join(FUNCTIONS)}; numbers: pi, e")
    return message, "\n".join(advice)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") or "none"


class _Token(NamedTuple):
    kind: str  # "number", "name", "symbol" or "end"
    text: str
    position: int


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>{_NAME})"
    r"|(?P<symbol>\*\*|[-+*/^()|,])"
)
_TYPOGRAPHY = str.maketrans("−–·⋅×÷", "--***/")  # as copied from papers; character by character

_SUM, _PRODUCT, _POWER = 1, 2, 3
_PRECEDENCE = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}


class _Parser:
    """Precedence climbing over the tokens of one text."""

    def __init__(self, text: str, variables: Sequence[str], constants: Mapping[str, float]):
        self.text = text
        self.variables = variables
        self.constants = constants
        self.known = _known_names(variables, constants)
        self.tokens = self._tokenize()
        self.index = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.index]

    def error(self, message: str, position: int, advice: str = "") -> ExpressionError:
        """The message, the text with a caret under the position, and what to do."""
        start, end = max(0, position - 50), position + 40
        left, right = "..." * (start > 0), "..." * (end < len(self.text))
        line = left + re.sub(r"\s", " ", self.text[start:end]) + right
        caret = " " * (len(left) + position - start) + "^"
        return ExpressionError("\n".join(filter(None, [message, f"  {line}", f"  {caret}", advice])))

    def _tokenize(self) -> list[_Token]:
        tokens, position, text = [], 0, self.text.translate(_TYPOGRAPHY)
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                character = text[position]
                advice = "write powers as x^2" if character in "⁰¹²³⁴⁵⁶⁷⁸⁹" else ""
                raise self.error(f"unexpected character {character!r}", position, advice)
            if match.lastgroup != "space":
                symbol = "^" if match.group() == "**" else match.group()
                tokens.append(_Token(str(match.lastgroup), symbol, position))
            position = match.end()
        tokens.append(_Token("end", "", len(text.rstrip())))
        return tokens

    def parse(self) -> Draft:
        if self.token.kind == "end":
            raise ExpressionError("the expression is empty; write for example 0.5*x*(1 - y)")
        draft = self.expression(_SUM)
        if self.token.kind != "end":
            raise self.unexpected()
        return draft

    def expression(self, lowest: int) -> Draft:
        """An operand and all operators that bind at least as tightly as `lowest`."""
        minus, sign_level = False, max(lowest, _PRODUCT)
        while self.token.text in ("+", "-"):
            minus ^= self.token.text == "-"
            self.index += 1
        left = self.operand()
        while True:
            symbol = "*" if self.at_implicit_product() else self.token.text
            level = _PRECEDENCE.get(symbol, 0)
            if minus and level < sign_level:
                left, minus = drafts.negative(left), False
            if level < lowest or level == 0:
                return left
            if not self.at_implicit_product():
                self.index += 1
            if symbol == "^":
                self.deeper()
                left = drafts.power(left, self.expression(_POWER))
                self.depth -= 1
            elif symbol == "*":
                left = drafts.times(left, self.expression(_POWER))
            elif symbol == "/":
                left = drafts.divide(left, self.expression(_POWER))
            else:
                right = self.expression(_PRODUCT)
                left = drafts.apply(ADD, left, right if symbol == "+" else drafts.negative(right))
            if symbol in "/^" and self.at_implicit_product():
                raise self.error(
                    f"it is not clear what the {symbol!r} applies to",
                    self.token.position,
                    "write the product with * and parentheses, for example 1/(2*x) or (1/2)*x",
                )

    def at_implicit_product(self) -> bool:
        """A number directly before a name or a parenthesis: 2x, 2 (x + 1)."""
        after_number = self.index > 0 and self.tokens[self.index - 1].kind == "number"
        return after_number and (self.token.kind == "name" or self.token.text == "(")

    def operand(self) -> Draft:
        token = self.token
        self.index += 1
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                raise self.error("the number is too large", token.position, "the largest is about 1.8e308")
            return drafts.number(value)
        if token.kind == "name":
            return self.call(token) if self.token.text == "(" else self.named(token)
        if token.text == "(":
            return self.enclosed(token, ")")
        if token.text == "|":
            return FUNCTIONS["abs"](self.enclosed(token, "|"))
        self.index -= 1
        raise self.unexpected()

    def named(self, token: _Token) -> Draft:
        if token.text in self.known:
            return self.known[token.text]
        if token.text in FUNCTIONS:
            advice = f"put its argument in parentheses: {token.text}(x), {token.text}(x)^2"
            raise self.error(f"the function {token.text!r} has no argument", token.position, advice)
        message, advice = unknown_name(token.text, self.variables, self.constants)
        raise self.error(message, token.position, advice)

    def call(self, token: _Token) -> Draft:
        # A name before a parenthesis can only be a function, so a variable may even be called sin.
        if token.text not in FUNCTIONS:
            self.named(token)
            advice = f"to multiply, write {token.text}*(...)"
            raise self.error(f"{token.text!r} is not a function", token.position, advice)
        opening = self.token
        self.index += 1
        if self.token.text == ")":
            advice = f"put it between the parentheses: {token.text}(x)"
            raise self.error(f"the function {token.text!r} has no argument", self.token.position, advice)
        argument = self.enclosed(opening, ")")
        return FUNCTIONS[token.text](argument)

    def enclosed(self, opening: _Token, closing: str) -> Draft:
        self.deeper()
        inner = self.expression(_SUM)
        if self.token.kind == "end":
            raise self.error(f"{opening.text!r} is never closed", opening.position, f"add {closing!r}")
        if self.token.text == "," and closing == ")":
            raise self.error("functions take one argument", self.token.position, "write powers as x^y")
        if self.token.text != closing:
            raise self.unexpected()
        self.index += 1
        self.depth -= 1
        return inner

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            advice = "split the expression or remove parentheses"
            raise self.error(f"nested deeper than {MAX_DEPTH} levels", self.token.position, advice)

    def unexpected(self) -> ExpressionError:
        """The error for a token that cannot be where it is."""
        token = self.token
        if token.kind == "end":
            return self.error("the expression ends too early", token.position, "a number or name is missing")
        after_operand = self.index > 0 and (
            self.tokens[self.index - 1].kind in ("number", "name") or self.tokens[self.index - 1].text == ")"
        )
        if token.text == ")" and after_operand:
            return self.error("')' was never opened", token.position, "remove it or add '('")
        if after_operand and (token.kind in ("number", "name") or token.text in ("(", "|")):
            return self.error(f"an operator is missing before {token.text!r}", token.position, "write a*b")
        advice = "a number, a name or a parenthesis is expected here"
        return self.error(f"unexpected {token.text!r}", token.position, advice)


def names_in(text: str) -> list[str]:
    """The names in a formula, each once, without functions, numbers such as pi, and the time t."""
    found, position = dict[str, None](), 0
    text = text.translate(_TYPOGRAPHY)
    while position < len(text):
        match = _TOKEN.match(text, position)
        position = match.end() if match else position + 1  # what is wrong the parser will say
        if match and match.lastgroup == "name":
            called = text[position:].lstrip().startswith("(") and match.group() in FUNCTIONS
            if not called and match.group() not in NAMED_NUMBERS and match.group() != "t":
                found[match.group()] = None
    return list(found)


def parse(text: str, variables: Sequence[str], constants: Mapping[str, float] | None = None) -> Program:
    """The program of one formula; names are variables, constants (replaced by their values), pi or e."""
    if not isinstance(text, str):
        raise ExpressionError(f"an expression must be text, not {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters; the limit is {MAX_LENGTH}")
    return drafts.finished(_Parser(text, variables, {} if constants is None else constants).parse())
