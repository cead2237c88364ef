"""Names in exports: allowed everywhere, all different, and harmless."""

import re

from hypothesis import given
from hypothesis import strategies as st

from odefinder.output.export.names import LONGEST, Names, ascii_name, printable


def test_examples() -> None:
    shown = {
        "x": "x",
        "β1": "beta1",
        "größe": "grosse",
        "温度": "u6e29u5ea6",
        "_x": "v_x",
        "Ω": "Omega",
        "x₁": "x1",
    }
    assert {name: ascii_name(name) for name in shown} == shown


@given(st.text(min_size=1))
def test_any_text_becomes_a_plain_name(text: str) -> None:
    assert re.fullmatch(rf"[A-Za-z][A-Za-z0-9_]{{0,{LONGEST - 1}}}", ascii_name(text))
    assert len(printable(text).splitlines()) <= 1


@given(st.lists(st.text(min_size=1, max_size=5), unique=True))
def test_no_name_is_taken_twice(wanted: list[str]) -> None:
    names = Names({"lambda", "a"})
    taken = [names.take(one) for one in wanted]
    assert len(set(taken)) == len(taken)
    assert not {"lambda", "a"} & set(taken)


def test_remarks_name_what_changed() -> None:
    names = Names({"end"})
    assert [names.take(one) for one in ("end", "x", "β", "end_", "beta")] == [
        "end_",
        "x",
        "beta",
        "end_2",
        "beta_",
    ]
    assert names.remarks()[:2] == ["end_ stands for end.", "beta stands for β."]
