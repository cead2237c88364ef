"""Rules for parameters and JSON: what they let in, and what they say."""

import math
from typing import Any

import numpy as np
import pytest

from odefinder.edge.documents import checked_document, parsed
from odefinder.edge.parameters import PARAMETERS, checked
from odefinder.edge.rules import Anything, Array, Flag, ListOf, Number, Object, Text, Whole, shown
from odefinder.errors import DataError, SettingsError


class Evil:
    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __bool__ = __float__ = __repr__  # type: ignore[assignment]


ODD: list[Any] = [
    Evil(), object(), len, 1j, b"x", [], [[]], {}, {"a": 1}, set(), float("nan"), float("inf"), -1, 10**400,
    "\ud800", "x" * 10**6, np.array([1.0, 2.0]), ...,
]  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_refuses_nonsense_in_one_sentence(name: str) -> None:
    for value in ODD:
        said = f"{name} is "
        try:
            checked(name, value)
        except SettingsError as error:
            said = str(error)
        assert said.startswith((f"{name} is ", f"{name}/"))  # or of an entry of it
        assert "\n" not in said
        assert len(said) < 250


def test_values_become_plain_python() -> None:
    assert type(checked("samples", np.int64(3))) is int
    assert type(checked("rtol", np.float32(0.5))) is float
    assert checked("network", np.bool_(True)) is True
    assert checked("atol", None) is None


@pytest.mark.parametrize(("name", "value"), [("samples", True), ("samples", 10**6), ("network", 1)])
def test_numbers_are_no_flags(name: str, value: Any) -> None:
    with pytest.raises(SettingsError):
        checked(name, value)


def test_a_document_says_where_it_is_damaged() -> None:
    rule = Object({"a": ListOf(Object({"b": Number("a number from 0 to 1", 0.0, 1.0)}))})
    assert checked_document({"a": [{"b": 1}], "more": 2}, rule, "it") == {"a": [{"b": 1.0}]}
    with pytest.raises(DataError, match="a/1/b is a number from 0 to 1, not 5"):
        checked_document({"a": [{"b": 0}, {"b": 5}]}, rule, "the file")
    with pytest.raises(DataError, match="entry 'b'"):
        checked_document({"a": [{}]}, rule, "the file")


@pytest.mark.parametrize("value", [[[1.0, 2.0], [3.0]], [[10**400]], [["1"]], [[math.inf]], [1.0], "x"])
def test_arrays_of_numbers_only(value: Any) -> None:
    with pytest.raises(DataError):
        checked_document({"x": value}, Object({"x": Array(2)}), "it")


def test_missing_numbers() -> None:
    assert checked_document({"x": [None, 1]}, Object({"x": Array(1, missing=True)}), "it")["x"] == [None, 1]
    with pytest.raises(DataError):
        checked_document({"x": [None]}, Object({"x": Array(1)}), "it")


@pytest.mark.parametrize(
    "text", ["NaN", '{"a": Infinity}', "[" * 100_000, "9" * 10_000, b"\xff\xfe", "", "abc", 5, None, "\0"]
)
def test_what_is_no_json(text: Any) -> None:
    with pytest.raises(DataError):
        parsed(text)


def test_broken_characters_and_depth() -> None:
    deep: Any = []
    for _ in range(1000):
        deep = [deep]
    for value in (deep, {"a": ["\ud800"]}, {"\ud800": 1}):
        with pytest.raises(DataError):
            checked_document({"x": value}, Object({"x": Anything()}), "it")
    for rule in (Text(), Flag(), Whole("a whole number", 0, 5)):
        with pytest.raises(DataError):
            checked_document({"x": "\ud800"}, Object({"x": rule}), "it")


def test_what_is_shown_is_short_and_on_one_line() -> None:
    assert "\n" not in shown("a\nb\x1b[31m")
    assert len(shown("x" * 10**6)) < 80
    assert "Evil" in shown(Evil())
