"""Long tables become wide."""

import numpy as np
import pandas as pd

from odefinder.data import from_frame

T = np.arange(6.0)


def long_table(runs: int = 1, repeats: int = 1) -> pd.DataFrame:
    rows = [
        {"run": run, "time": t, "species": name, "value": 10.0 * run + scale * t + 0.5 * again}
        for run in range(runs)
        for name, scale in (("A", 1.0), ("B", 2.0))
        for t in T
        for again in range(repeats)
    ]
    return pd.DataFrame(rows)


def test_one_column_per_variable() -> None:
    data = from_frame(long_table().drop(columns="run"))
    assert data.variables == ("A", "B")
    np.testing.assert_allclose(data.states[0], np.column_stack([T, 2.0 * T]))
    assert any("The table is long" in note for note in data.notes)


def test_trajectories_and_gaps() -> None:
    frame = long_table(runs=2).drop(index=[3, 20]).sample(frac=1.0, random_state=0).sort_values("run")
    data = from_frame(frame)
    assert len(data) == 2
    assert np.isnan(data.states[0]).sum() == 1
    np.testing.assert_allclose(data.states[1][:, 0][~np.isnan(data.states[1][:, 0])].min(), 10.0)


def test_replicates_and_errors() -> None:
    data = from_frame(long_table(repeats=3).drop(columns="run"))
    np.testing.assert_allclose(data.states[0], np.column_stack([T, 2.0 * T]) + 0.5)
    data = from_frame(long_table().drop(columns="run").assign(sd=0.1))
    assert data.variables == ("A", "B")
    np.testing.assert_allclose(data.errors[0], 0.1)


def test_columns_that_the_user_names_are_what_they_are() -> None:
    frame = long_table().drop(columns="run").query("species == 'A'")
    assert from_frame(frame, variables=["value"]).variables == ("value",)
