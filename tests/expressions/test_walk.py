"""The walk from the leaves to the root."""

from odefinder.expressions.program import ADD, CONST, MUL, VAR
from odefinder.expressions.walk import fold
from tests.programs import words


def test_arguments_come_in_their_order() -> None:
    program = words("add mul 2 x0 sin x1")

    def build(op: int, value: float, arguments: list[str]) -> str:
        leaf = {CONST: f"{value:g}", VAR: f"v{value:g}"}.get(op)
        return leaf or {ADD: "+", MUL: "*"}.get(op, "f") + "(" + " ".join(arguments) + ")"

    assert fold(program.ops, program.values, build) == "+(*(2 v0) f(v1))"


def test_a_very_deep_expression() -> None:
    deep = words("sin " * 3000 + "x0")
    assert fold(deep.ops, deep.values, lambda op, value, arguments: 1 + sum(arguments)) == 3001
