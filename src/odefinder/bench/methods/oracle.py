"""The true equations as a method: how the protocol scores a perfect answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from odefinder.bench.methods.method import Floats, Method
from odefinder.errors import SettingsError
from odefinder.expressions.program import Program


@dataclass(frozen=True)
class Answer:
    """A fit that returns what it was told."""

    program: Program

    def __call__(self, t: Floats, x: Floats, seed: int) -> Program:
        return self.program


class Oracle(Method):
    """A method that has to be told the truth before it can fit."""

    def told(self, truth: Program) -> Method:
        """The method for one task."""
        return replace(self, fit=Answer(truth))


def _not_told(t: Floats, x: Floats, seed: int) -> Program:
    raise SettingsError("the oracle has to be told the true system: use Oracle.told(truth)")


METHODS = (Oracle("oracle", "True equations", _not_told),)
