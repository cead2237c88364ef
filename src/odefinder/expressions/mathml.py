"""Programs -> MathML, which browsers draw without any script: for notebooks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from html import escape

from odefinder.expressions.digits import Digits
from odefinder.expressions.printing import Factor, Term, Text, split_subscript, write
from odefinder.expressions.program import ABS, EXP, SQRT, Program, operator

_PRIMES = {1: "′", 2: "″", 3: "‴"}


def to_mathml(component: Program, variables: Sequence[str], digits: Digits = None) -> str:
    """An expression; names may end in primes, as velocities do."""
    return write(component, variables, _MathML(digits))


def mathml_name(name: str) -> str:
    """x_0 with a subscript, beta as a Greek letter, primes raised."""
    plain = name.rstrip("'")
    primes = len(name) - len(plain)
    base, subscript = split_subscript(plain)
    raised = f"<mo>{_PRIMES.get(primes, '′' * primes)}</mo>"
    parts = [_word(base)] + [_word(subscript)] * bool(subscript) + [raised] * bool(primes)
    kind = {(True, True): "msubsup", (True, False): "msub", (False, True): "msup"}.get(
        (bool(subscript), bool(primes))
    )
    return f"<{kind}>{''.join(parts)}</{kind}>" if kind else parts[0]


def _word(word: str) -> str:
    if word.isdigit():
        return f"<mn>{word}</mn>"
    case = "CAPITAL" if word[:1].isupper() else "SMALL"
    with suppress(KeyError):  # most words are not letters
        word = unicodedata.lookup(f"GREEK {case} LETTER {word.replace('ambda', 'amda')}".upper())
    return f"<mi>{escape(word)}</mi>"


class _MathML(Text):
    """Numbers stay plain text until they stand in a product, where the writer drops those that are 1."""

    sign = minus = "<mo>−</mo>"
    plus = "<mo>+</mo>"

    def name(self, name: str) -> Factor:
        text = mathml_name(name)
        return Factor(text, text)

    def group(self, text: str) -> str:
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def call(self, opcode: int, argument: str) -> Factor:
        if opcode == SQRT:
            text = f"<msqrt>{argument}</msqrt>"
        elif opcode == EXP:
            text = f"<msup><mi>e</mi><mrow>{argument}</mrow></msup>"
        elif opcode == ABS:
            text = f"<mrow><mo>|</mo>{argument}<mo>|</mo></mrow>"
        else:
            text = f"<mrow><mi>{operator(opcode).name}</mi><mo>&#8289;</mo>{self.group(argument)}</mrow>"
        return Factor(text, text, atomic=opcode != EXP, opcode=opcode)

    def raised(self, base: Factor, exponent: str, simple: bool) -> str:
        power = exponent if exponent.startswith("<") else f"<mn>{exponent}</mn>"
        return f"<msup><mrow>{_marked(base)}</mrow><mrow>{power}</mrow></msup>"

    def product(self, factors: Sequence[Factor]) -> str:
        marked = [_marked(factor) for factor in factors] or ["<mn>1</mn>"]
        text = marked[0]
        for factor, one in zip(factors[1:], marked[1:], strict=True):
            text += ("<mo>·</mo>" if factor.number else '<mspace width="0.17em"/>') + one
        return text

    def term(self, term: Term) -> str:
        above = self.product(term.above)
        if not term.below:
            return above
        below = term.below[0].bare if len(term.below) == 1 and not term.below[0].number else None
        below = self.product(term.below) if below is None else below
        return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def _marked(factor: Factor) -> str:
    """A factor as markup; 2.5e-7 as a power of ten."""
    if not factor.number or factor.text.startswith("<"):
        return factor.text
    mantissa, _, exponent = factor.text.partition("e")
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    power = f"<msup><mn>10</mn><mn>{exponent.replace('-', '−')}</mn></msup>"
    return power if mantissa == "1" else f"<mn>{mantissa}</mn><mo>·</mo>{power}"
