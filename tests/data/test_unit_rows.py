"""A row of units below the header."""

import pandas as pd
import pytest

from odefinder.data import from_frame
from odefinder.data.text_tables import table_of_text
from odefinder.data.unit_rows import without_unit_row

ROWS = "\n".join(f"{k},{2.0 - 0.1 * k},a" for k in range(6))


def test_units_become_part_of_the_titles() -> None:
    data = from_frame(table_of_text("time,c,group\nmin,mM,\n" + ROWS), variables=["c"])
    assert data.titles == ("c",)
    data = from_frame(table_of_text("time,c\n[min],(mM)\n" + ROWS.replace(",a", "")))
    assert data.titles == ("c (mM)",)
    assert data.variables == ("c",)
    assert data.clock.label == "time (min)"
    assert any("has units (min, mM)" in note for note in data.notes)
    assert data.states[0][:2, 0].tolist() == [2.0, 1.9]


def test_tables_that_pandas_read_have_texts_only() -> None:
    frame = pd.DataFrame({"t": ["s", "0", "1", "2", "3"], "x": ["V", "4", "3", "2", "1.5"]})
    data = from_frame(frame)
    assert data.states[0][:, 0].tolist() == [4.0, 3.0, 2.0, 1.5]


@pytest.mark.parametrize(
    "text",
    [
        "t,x\n0,bad\n1,2\n2,3\n",
        "group,x\na,high\na,2\na,3\n",
        "date,x\n2024-01-01,bad\n2024-01-02,2\n2024-01-03,3\n",
        "t,x\n0,1\n1,2\n",
    ],
)
def test_other_rows_stay(text: str) -> None:
    frame = table_of_text(text)
    assert without_unit_row(frame)[0] is frame
