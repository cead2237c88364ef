"""Pharmacometric tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odefinder.data import from_arrays, read
from odefinder.data.doses import Dose, dose_signals
from odefinder.errors import DataError
from odefinder.numerics.knots import values_at

HOURS = [0.0, 0.0, 1.0, 2.0, 4.0, 6.0, 6.0, 8.0]
TABLE = pd.DataFrame(
    {
        "time": HOURS,
        "amt": [100.0, 0, 0, 0, 0, 0, 50.0, 0],
        "dv": [np.nan, 0.0, 8.0, 6.0, 4.0, 3.0, np.nan, 5.0],
    }
)


def test_doses_are_no_variable() -> None:
    dataset = from_arrays(TABLE, inputs="amt")
    assert (dataset.variables, dataset.inputs) == (("dv",), ())
    assert dataset.doses == ((Dose(0.0, 100.0), Dose(6.0, 50.0)),)
    assert dataset.times[0].tolist() == [0.0, 1.0, 2.0, 4.0, 6.0, 8.0]
    assert any("2 doses (amt) are added to a state just after their times" in note for note in dataset.notes)


def test_without_inputs_nothing_changes() -> None:
    assert from_arrays(TABLE).variables == ("amt", "dv")


def test_the_columns_of_nonmem(tmp_path: Path) -> None:
    frame = pd.concat([TABLE.assign(ID=1), TABLE.assign(ID=2)], ignore_index=True)
    frame = frame.assign(evid=(frame["amt"] > 0).astype(int), cmt="depot", dv=frame["dv"].fillna(0.0))
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    dataset = read(path, inputs=["amt"])
    assert dataset.variables == ("dv",)
    assert len(dataset.doses) == len(dataset) == 2
    assert dataset.doses[1][1] == Dose(6.0, 50.0, "depot")
    assert len(dataset.times[0]) == 6  # rows of doses are no observations


def test_infusions_are_an_input() -> None:
    dataset = from_arrays(TABLE.assign(rate=[50.0, 0, 0, 0, 0, 0, 0, 0]), inputs=["amt"])
    assert dataset.inputs == ("rate",)
    assert dataset.doses == ((Dose(6.0, 50.0),),)
    times = np.array([-1.0, 0.0, 1.9, 2.0, 7.0])
    assert values_at(dataset.signals[0], times)[:, 0].tolist() == [0.0, 50.0, 50.0, 0.0, 0.0]


def test_infusions_one_after_the_other_have_no_gaps() -> None:
    """Amounts in tables are rounded, so they do not end exactly where the next begin."""
    amounts = [71.99, 71.9901, 143.979, 0.0, 0.0]
    frame = pd.DataFrame({"Time": [0.0, 1.0, 2.0, 4.0, 5.0], "Rate": [71.99] * 3 + [0.0] * 2, "Amt": amounts})
    dataset = from_arrays(frame.assign(conc=[0.0, 1.0, 2.0, 3.0, 2.0]), inputs=["Amt"])
    assert (dataset.variables, dataset.inputs) == (("conc",), ("rate",))
    np.testing.assert_allclose(dataset.signals[0].knots, [0.0, 4.0], atol=1e-3)
    assert dataset.signals[0].after[:, 0].tolist() == [71.99, 0.0]


def test_repeated_doses() -> None:
    dataset = from_arrays(TABLE.assign(addl=[2.0, 0, 0, 0, 0, 0, 0, 0], ii=3.0), inputs="amt")
    assert [dose.time for dose in dataset.doses[0]] == [0.0, 3.0, 6.0, 6.0]


def test_doses_before_the_first_observation() -> None:
    dataset = from_arrays(TABLE.drop(index=1), inputs="amt")
    assert any("1 doses come before the first observation" in note for note in dataset.notes)


def test_states_by_name_or_number() -> None:
    signals = dose_signals([Dose(1.0, 2.0, "y"), Dose(1.0, 3.0, 1), Dose(0.0, 4.0)], ["x", "y"])
    assert signals.knots.tolist() == [0.0, 1.0]
    assert signals.doses.tolist() == [[4.0, 0.0], [3.0, 2.0]]
    for state in ("z", 0, 3):
        with pytest.raises(DataError, match="name one of x, y, or give its number, from 1 to 2"):
            dose_signals([Dose(0.0, 1.0, state)], ["x", "y"])


def test_wrong_tables() -> None:
    with pytest.raises(DataError, match="'amt' has negative"):
        from_arrays(TABLE.assign(amt=-TABLE["amt"]), inputs="amt")
    with pytest.raises(DataError, match="more than 10000 doses"):
        from_arrays(TABLE.assign(addl=1e6, ii=1.0), inputs="amt")


def test_rows_of_doses_need_no_value() -> None:
    assert not any("without any value" in note for note in from_arrays(TABLE, inputs="amt").notes)
    empty = TABLE.assign(dv=TABLE["dv"].where(TABLE["time"] != 2.0))
    assert "Row 4 without any value: left out." in from_arrays(empty, inputs="amt").notes
