"""Programs -> formulas to read: plain text, LaTeX and NumPy source.

One walk serves all three.  Every part of the expression is a sum of terms; a term is a sign
and the factors above and below its fraction bar.  So `add(x, mul(-1, inv(y)))` comes out as `x - 1/y`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.digits import Digits, constant_text
from odefinder.expressions.drafts import operator_value
from odefinder.expressions.program import (
    ADD,
    CONST,
    COS,
    CUBE,
    EXP,
    INV,
    MUL,
    POW,
    POW4,
    POW5,
    SIN,
    SQUARE,
    TAN,
    TANH,
    VAR,
    Program,
    operator,
)
from odefinder.expressions.walk import fold

WHOLE_POWERS = {SQUARE: "2", CUBE: "3", POW4: "4", POW5: "5"}


@dataclass(frozen=True)
class Factor:
    """Text that can be multiplied as it is."""

    text: str
    bare: str  # the same text without outer parentheses
    atomic: bool = True  # may also be raised to a power as it is
    number: bool = False
    opcode: int = VAR
    base: Factor | None = None  # of a whole power, and its exponent
    exponent: int = 1


@dataclass(frozen=True)
class Term:
    above: tuple[Factor, ...]
    below: tuple[Factor, ...] = ()
    negative: bool = False


_Sum = tuple[Term, ...]
_Part = tuple[_Sum, float | None]  # with the value if there is no variable inside
_ONE = "1"


class Text:
    """How factors, fractions and powers look in plain text."""

    power = "{0}^{1}"
    sign, minus, plus = "-", " - ", " + "  # before the first term, and between terms
    folds = False  # whether a part without variables is written as its value

    def __init__(self, digits: Digits):
        if isinstance(digits, int) and not 1 <= digits <= 17:
            raise SettingsError(f"digits must be between 1 and 17 (or None for all), not {digits}")
        self.digits = digits

    def name(self, name: str) -> Factor:
        return Factor(name, name)

    def number(self, value: float) -> Factor:
        """A number without its sign."""
        text = self.shortened(abs(value))
        return Factor(text, text, number=True)

    def shortened(self, value: float) -> str:
        """The number with the wanted digits."""
        return constant_text(value, self.digits)

    def group(self, text: str) -> str:
        return f"({text})"

    def call(self, opcode: int, argument: str) -> Factor:
        text = f"{operator(opcode).name}({argument})"
        return Factor(text, text, opcode=opcode)

    def raised(self, base: Factor, exponent: str, simple: bool) -> str:
        return self.power.format(base.text, exponent if simple else self.group(exponent))

    def product(self, factors: Sequence[Factor]) -> str:
        return "*".join(factor.text for factor in factors) or _ONE

    def term(self, term: Term) -> str:
        """The term without its sign."""
        above = self.product(term.above)
        if not term.below:
            return above
        below = self.product(term.below)
        return f"{above}/{below if len(term.below) == 1 else self.group(below)}"

    def sum(self, terms: _Sum) -> str:
        # 1 - x rather than -x + 1
        first = next((i for i, term in enumerate(terms) if not term.negative), 0)
        ordered = (terms[first], *terms[:first], *terms[first + 1 :])
        text = (self.sign if ordered[0].negative else "") + self.term(ordered[0])
        for term in ordered[1:]:
            text += (self.minus if term.negative else self.plus) + self.term(term)
        return text


class _Python(Text):
    """NumPy source; a part without variables is one number, because 1/0 in plain Python would raise."""

    power = "{0}**{1}"
    folds = True

    def number(self, value: float) -> Factor:
        if math.isfinite(value) and value != 0.0:
            return super().number(value)
        # The whole number -0 would be 0.
        text = "0.0" if value == 0.0 else "np.nan" if math.isnan(value) else "np.inf"
        return Factor(text, text, number=True)

    def call(self, opcode: int, argument: str) -> Factor:
        text = operator(opcode).numpy.format(argument)
        return Factor(text, text, opcode=opcode)


class _Latex(Text):
    """LaTeX for mathematics mode."""

    def name(self, name: str) -> Factor:
        plain = name.rstrip("'")
        text = latex_name(name) if plain == name else latex_derivative(plain, len(name) - len(plain))
        return Factor(text, text)

    def number(self, value: float) -> Factor:
        text = self.shortened(abs(value))
        mantissa, _, exponent = text.partition("e")
        if exponent:
            power = f"10^{{{exponent}}}"
            text = power if mantissa == _ONE else rf"{mantissa} \cdot {power}"
        return Factor(text, text, atomic=not exponent, number=True)

    def group(self, text: str) -> str:
        return rf"\left({text}\right)"

    def call(self, opcode: int, argument: str) -> Factor:
        text = operator(opcode).latex.format(argument)
        return Factor(text, text, atomic=opcode != EXP, opcode=opcode)

    def raised(self, base: Factor, exponent: str, simple: bool) -> str:
        if base.opcode in (SIN, COS, TAN, TANH) and exponent in WHOLE_POWERS.values():
            function, argument = base.text.split(r"\left(", 1)
            return rf"{function}^{{{exponent}}}\left({argument}"
        return operator(POW).latex.format(base.text, exponent)

    def product(self, factors: Sequence[Factor]) -> str:
        text = factors[0].text if factors else _ONE
        for factor in factors[1:]:
            # Two numbers side by side would read as one.
            # Names of several letters need a space that shows: \mathrm{prey} \, \mathrm{fox}.
            word = factor.text.startswith(r"\mathrm")
            text += (r" \cdot " if factor.text[0].isdigit() else r" \, " if word else " ") + factor.text
        return text

    def term(self, term: Term) -> str:
        if not term.below:
            return self.product(term.above)
        # The bar already holds a single sum together.
        above, below = (
            factors[0].bare if len(factors) == 1 else self.product(factors)
            for factors in (term.above, term.below)
        )
        return rf"\frac{{{above}}}{{{below}}}"


def to_text(
    component: Program,
    variables: Sequence[str],
    digits: Digits = None,
    labels: Sequence[str | None] | None = None,
) -> str:
    """Readable text that `parse` reads back; without `digits`, the numbers are exact.

    labels: see `write`.
    """
    return write(component, variables, Text(digits), labels)


def to_latex(
    component: Program,
    variables: Sequence[str],
    digits: Digits = None,
    labels: Sequence[str | None] | None = None,
) -> str:
    """LaTeX for mathematics mode; x' among the variables is a derivative; labels: see `write`."""
    return write(component, variables, _Latex(digits), labels)


def to_python(component: Program, variables: Sequence[str]) -> str:
    """NumPy source (with `import numpy as np`), all digits; variables may be any source, such as `x[0]`."""
    return write(component, variables, _Python(None))


def write(
    component: Program, variables: Sequence[str], style: Text, labels: Sequence[str | None] | None = None
) -> str:
    """The expression in any style; `output/export/` has those of other languages.

    labels: what stands in place of the magnitude of each constant, in program order; None: its number.
    """
    if len(component.components()) != 1:
        raise ExpressionError("only single expressions can be written; take the system's components()")
    coming = None if labels is None else iter(reversed(labels))  # the walk is from right to left

    def build(op: int, value: float, arguments: Sequence[_Part]) -> _Part:
        constants = [constant for _, constant in arguments if constant is not None]
        if op == CONST:
            label = None if coming is None else next(coming)
            return _number(value, style, label), value
        if op == VAR:
            if int(value) >= len(variables):
                raise ExpressionError(f"variable number {int(value)} has no name; {len(variables)} are given")
            return (Term((style.name(variables[int(value)]),)),), None
        if style.folds and len(constants) == len(arguments):
            value = operator_value(op, *constants)
            return _number(value, style), value
        return _combined(op, [terms for terms, _ in arguments], style), None

    terms, _ = fold(component.ops, component.values, build)
    return style.sum(terms)


def _number(value: float, style: Text, label: str | None = None) -> _Sum:
    negative = math.copysign(1.0, value) < 0 and not math.isnan(value)
    if label is None:
        return (Term((style.number(value),), negative=negative),)
    return (Term((Factor(label, label, atomic=" " not in label, number=True),), negative=negative),)


def _combined(op: int, arguments: list[_Sum], style: Text) -> _Sum:
    """What an operator makes of its arguments."""
    if op == ADD:
        return arguments[0] + arguments[1]
    if op == MUL:
        return _product(arguments[0], arguments[1], style)
    if op == INV:
        return (_inverse(arguments[0], style),)
    if op == POW or op in WHOLE_POWERS:
        base = _as_factor(arguments[0], style)
        if not base.atomic:
            base = Factor(style.group(base.bare), base.bare)
        exponent = WHOLE_POWERS[op] if op != POW else style.sum(arguments[1])
        if op != POW:
            return (Term((_whole_power(base, int(exponent), style),)),)
        text = style.raised(base, exponent, _is_simple(arguments[1]))
        return (Term((Factor(text, text, atomic=False),)),)
    return (Term((style.call(op, style.sum(arguments[0])),)),)


def _whole_power(base: Factor, exponent: int, style: Text) -> Factor:
    text = style.raised(base, str(exponent), True)
    return Factor(text, text, atomic=False, base=base, exponent=exponent)


def _is_simple(terms: _Sum) -> bool:
    """One atom without a sign."""
    term = terms[0]
    return len(terms) == 1 and not term.negative and not term.below and _is_atom(term)


def _is_atom(term: Term) -> bool:
    return len(term.above) == 1 and term.above[0].atomic


def _as_factor(terms: _Sum, style: Text) -> Factor:
    """The sum as one factor, in parentheses where needed."""
    term = terms[0]
    if len(terms) == 1 and not term.negative and not term.below and len(term.above) == 1:
        return term.above[0]
    text = style.sum(terms)
    return Factor(style.group(text), text)


def _single(terms: _Sum, style: Text) -> Term:
    """The sum as one term, in parentheses where needed."""
    return terms[0] if len(terms) == 1 else Term((_as_factor(terms, style),))


def _product(a: _Sum, b: _Sum, style: Text) -> _Sum:
    for one, other in ((a, b), (b, a)):
        if _is_one(one):
            if not one[0].negative:
                return other
            term = _single(other, style)
            return (Term(term.above, term.below, not term.negative),)
    s, t = _single(a, style), _single(b, style)
    if (both := _one_power(s, t, style)) is not None:
        return (Term((both, *t.above[1:]), t.below, s.negative != t.negative),)
    above = sorted(s.above + t.above, key=lambda factor: not factor.number)  # numbers first
    if len(above) > 1:
        above = [factor for factor in above if factor.text != _ONE] or above[:1]
    return (Term(tuple(above), s.below + t.below, s.negative != t.negative),)


def _one_power(s: Term, t: Term, style: Text) -> Factor | None:
    """x^5 times x^4 as x^9, where canonical form lacks an operator for it."""
    if len(s.above) != 1 or s.below or not t.above:
        return None
    first, second = s.above[0], t.above[0]
    if first.base is None or first.exponent < max(map(int, WHOLE_POWERS.values())):
        return None
    if first.base.text != (second if second.base is None else second.base).text:
        return None
    return _whole_power(first.base, first.exponent + second.exponent, style)


def _is_one(terms: _Sum) -> bool:
    return len(terms) == 1 and not terms[0].below and [f.text for f in terms[0].above] == [_ONE]


def _inverse(terms: _Sum, style: Text) -> Term:
    term = _single(terms, style)
    if term.below:  # 1/(x/y) stays as it is: where y is 0, y/x has another value
        return Term((), (_as_factor(terms, style),))
    return Term((), term.above, term.negative)


_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|"
    "psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def latex_name(name: str) -> str:
    r"""x0 and x_0 -> x_{0}, beta and β -> \beta, prey -> \mathrm{prey}."""
    base, subscript = split_subscript(name.translate(_SUBSCRIPTS))
    return _latex_word(base) + (f"_{{{_latex_word(subscript)}}}" if subscript else "")


def split_subscript(name: str) -> tuple[str, str]:
    """x0 and x_0 -> x and 0, k_on -> k and on; without a subscript, the name and an empty text."""
    match = re.fullmatch(r"(.*?[^\d_])_?(\d+)", name) or re.fullmatch(r"(.*?[^_])_(.+)", name)
    return (match[1], match[2]) if match else (name, "")


def latex_derivative(name: str, order: int = 1) -> str:
    r"""x1 -> \dot{x}_{1}; a word has primes, as a dot above it would be lost: \mathrm{prey}'."""
    base, bar, subscript = latex_name(name).partition("_{")
    if base.startswith(r"\mathrm"):
        return base + bar + subscript + "'" * order
    return rf"\{'d' * order}ot{{{base}}}" + bar + subscript


def _latex_word(word: str) -> str:
    if len(word) == 1 and unicodedata.name(word, "").startswith("GREEK"):
        _, size, _, letter, *_ = [*unicodedata.name(word).split(), *[""] * 4]
        letter = letter.lower().replace("lamda", "lambda")
        word = letter.capitalize() if size == "CAPITAL" else letter
    if _GREEK.fullmatch(word):
        return "\\" + word
    if (len(word) == 1 and word != "_") or word.isdigit():
        return word
    escaped = word.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"
