"""What a notebook has -> a Dataset, or an error that says what to do."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odefinder.data import Dataset, from_arrays
from odefinder.errors import DataError, OdefinderError

T = np.linspace(0.0, 9.0, 10)
X = np.column_stack([np.sin(T), np.cos(T)])
NAN = np.nan


def with_entry(row: int, column: int, value: float) -> np.ndarray:
    changed = X.copy()
    changed[row, column] = value
    return changed


def note(dataset: Dataset) -> str:
    return " ".join(dataset.notes)


# ------------------------------------------------------------------------------------------- what is fine


def test_an_array_and_its_times() -> None:
    dataset = from_arrays(X, T)
    assert dataset.variables == dataset.titles == ("x0", "x1")
    assert dataset.clock.label == "t"
    assert dataset.notes == ()
    assert (len(dataset), dataset.dimension) == (1, 2)
    np.testing.assert_array_equal(dataset.times[0], T)
    np.testing.assert_array_equal(dataset.states[0], X)
    assert str(dataset) == "10 points of x0, x1; t from 0 to 9"


@pytest.mark.parametrize(
    "values",
    [X[:, 0], X[:, :1], X[:, 0].tolist(), pd.Series(X[:, 0]), X[:, 0].astype(object), {"x": X[:, 0]},
     np.array([f"{value!r}" for value in X[:, 0].tolist()])],
)  # fmt: skip
def test_one_variable_in_many_guises(values: Any) -> None:
    dataset = from_arrays(values, T)
    assert dataset.dimension == 1
    np.testing.assert_allclose(dataset.states[0][:, 0], X[:, 0])


@pytest.mark.parametrize("times", [T[:, None], T[None, :], T.tolist(), tuple(T), pd.Series(T), range(10)])
def test_times_in_many_guises(times: Any) -> None:
    np.testing.assert_allclose(from_arrays(X, times).times[0], T)
    np.testing.assert_allclose(from_arrays(pd.DataFrame(X), times).times[0], T)


def test_whole_numbers_and_truth_values_are_numbers() -> None:
    assert from_arrays(np.arange(10) % 3, T).states[0].dtype == np.float64
    assert set(from_arrays(X > 0, T).states[0].ravel()) == {0.0, 1.0}


def test_names_of_array_columns() -> None:
    assert from_arrays(X, T, ["N", "Hare pelts (thousands)"]).variables == ("N", "Hare_pelts")
    assert from_arrays(X[:, 0], T, "N").variables == ("N",)
    for names in (["a"], ["a", "a"]):
        with pytest.raises(DataError, match=r"give (one|every)"):
            from_arrays(X, T, names)


def test_several_trajectories() -> None:
    for values, times in [
        ([X, X[:5]], [T, T[:5]]),
        ((X, X), T),
        (np.stack([X, X]), T),
        (np.stack([X, X]), np.stack([T, T])),
        ([X.tolist(), X.tolist()], [T.tolist(), T.tolist()]),
        ([pd.DataFrame(X), pd.DataFrame(X)], [T, T]),
    ]:
        dataset = from_arrays(values, times)
        assert (len(dataset), dataset.dimension) == (2, 2)
        assert dataset.labels == ("1", "2")
    runs = from_arrays([X[:, 0], X[:6, 1]], [T, T[:6]])
    assert (len(runs), runs.dimension) == (2, 1)


def test_missing_entries_stay_missing() -> None:
    for values in (with_entry(3, 1, NAN), np.ma.masked_values(X, X[3, 1]), with_entry(3, 1, NAN).tolist()):
        dataset = from_arrays(values, T)
        assert np.argwhere(np.isnan(dataset.states[0])).tolist() == [[3, 1]]
        assert "1 of 20 values are missing" in note(dataset)
    rows: list = X.tolist()
    rows[3][1] = None
    assert np.isnan(from_arrays(rows, T).states[0][3, 1])


def test_a_first_row_with_gaps_is_kept() -> None:
    dataset = from_arrays(with_entry(0, 1, NAN), T)
    assert dataset.times[0][0] == 0.0
    assert "first value of x1 is missing" in note(dataset)
    np.testing.assert_array_equal(dataset.first_values(), [[X[0, 0], X[1, 1]]])


def test_an_empty_first_row_is_left_out() -> None:
    values = with_entry(0, 1, NAN)
    values[0, 0] = NAN
    dataset = from_arrays(values, T)
    assert dataset.times[0][0] == 1.0
    assert "Row 1 without any value" in note(dataset)


def test_times_in_disorder_are_sorted() -> None:
    order = np.random.default_rng(0).permutation(10)
    dataset = from_arrays(X[order], T[order])
    np.testing.assert_array_equal(dataset.times[0], T)
    np.testing.assert_array_equal(dataset.states[0], X)
    assert "sorted by time" in note(dataset)
    np.testing.assert_array_equal(from_arrays(X[::-1], T[::-1]).states[0], X)


def test_a_row_that_comes_twice_is_kept_once() -> None:
    dataset = from_arrays(np.vstack([X, X[:2]]), np.append(T, T[:2]))
    assert len(dataset.times[0]) == 10
    assert "2 repeated rows" in note(dataset)


def test_constant_columns_are_variables() -> None:
    dataset = from_arrays(np.column_stack([X, np.ones(10)]), T)
    assert dataset.dimension == 3
    assert "x2 never changes" in note(dataset)


def test_many_variables_are_allowed_with_a_note() -> None:
    dataset = from_arrays(np.tile(X, 4), T)
    assert dataset.dimension == 8
    assert "8 variables" in note(dataset)


def test_canonical_units_and_back() -> None:
    dataset = from_arrays([X * 50.0, with_entry(2, 1, NAN)[:5]], [T + 1900.0, T[:5]])
    scaling = dataset.scaling()
    observations = dataset.observations(scaling)
    assert observations.bounds.tolist() == [0, 10, 15]
    first, second = observations.trajectories()
    np.testing.assert_allclose(
        [first[0][0], first[0][-1], second[0][0], second[0][-1]], [1.0, 10.0, 1.0, 5.0]
    )
    assert np.nanmax(np.abs(observations.states)) == 1.0
    assert np.isnan(second[1][2, 1])
    np.testing.assert_allclose(scaling.original_states(first[1]), X * 50.0)


# ------------------------------------------------------------------------------------------- what is not


@pytest.mark.parametrize(
    ("values", "times", "message"),
    [
        (X, None, "the times are missing"),
        (None, T, "X is missing"),
        ("data.csv", None, "odefinder.data.read"),
        (X, T[:7], "10 rows and t has 7 times"),
        (X.T, T, "transpose X"),
        (X[:1], T[:1], "1 point: too few"),
        (X[:3], T[:3], "give at least 4"),
        (X[:0], T[:0], "too few"),
        (X[:, :0], T, "no columns"),
        (X[None, None], T, "shape"),
        (np.float64(1.0), T, "X has"),
        (X, 0.1, "a single value"),
        (X, "time", "arrays need their times"),
        (X, np.outer(T, T), "t has shape"),
        (with_entry(3, 1, np.inf), T, "row 4, column 'x1' is infinite"),
        (np.full_like(X, NAN), T, "0 points: too few"),
        (np.column_stack([X, np.full(10, NAN)]), T, "'x2' has no values"),
        (np.column_stack([X, [1.0, 2.0] + [NAN] * 8]), T, "only 2 values"),
        (X, np.where(T == 3.0, NAN, T), "the time in row 4 is missing"),
        (X, np.where(T == 3.0, np.inf, T), "the time in row 4 is infinite"),
        (np.vstack([X, 2 * X]), np.tile(T, 2), r"start over in row 11.*2 trajectories.*\[t1, t2\]"),
        (np.vstack([X, X]), np.append(T, T + 0.5), "start over in row 11"),
        (X * 1e300, T, "too large.*another unit"),
        (X * 1e-300, T, "too small.*another unit"),
        (X, T * 1e-300, "the times span 9e-300"),
        (X, T * 1e300, "the times span"),
        (X, np.append(T[:9], T[8] + 1e-14), "too close"),
        (X.astype(str).astype(object) + "m", T, "text, '.*m' in row 1"),
        (X + 1j, T, "complex"),
        (X, T + 1j, "complex"),
        ([[1, 2], [3]], [0, 1], "equal length"),
        (T, X, "look swapped"),
        (T, X[:, 0], "look swapped"),
        (np.column_stack([X, T]), X[:, 0], "is that column the time"),
        (pd.date_range("2020", periods=10), X[:, 0], "look swapped"),
        ([X, X], [T], "2 trajectories and 1 arrays of times"),
        ([X, X[:, :1]], [T, T], "same order"),
        ([X, X[:2]], [T, T[:2]], "2 points of trajectory 2"),
        ([X, X[:2]], [T, T], "in trajectory 2: X has 2 rows"),
        ({"x": [1, 2], "y": [1]}, [0, 1], "equal length"),
        (X, ["a"] * 10, "'a' in column 't' is neither a number nor a date"),
    ],
)  # fmt: skip
def test_every_bad_input_has_its_message(values: Any, times: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_arrays(values, times)


numbers = st.one_of(
    st.sampled_from([0.0, 1.0, NAN, np.inf, -np.inf, 1e300, -1e-300, 5e-324]), st.floats(width=64)
)
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7)
numeric = arrays.arrays(np.float64, shapes, elements=numbers)
odd = st.one_of(
    numeric,
    arrays.arrays(st.sampled_from([np.int64, np.bool_, np.complex128, "U3", "datetime64[D]"]), shapes),
    st.lists(st.one_of(numbers, st.none(), st.text(max_size=3), numeric), max_size=6),
    st.dictionaries(st.text(max_size=3), st.lists(numbers, min_size=4, max_size=4), max_size=3),
    st.none(), st.text(max_size=5), st.integers(), st.just(10**400),
    st.builds(pd.DataFrame, arrays.arrays(np.float64, (5, 3), elements=numbers)),
    st.builds(pd.Series, st.lists(numbers, max_size=6)),
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(odd, odd)
def test_anything_ends_in_a_dataset_or_one_of_our_errors(values: Any, times: Any) -> None:
    try:
        dataset = from_arrays(values, times)
    except OdefinderError:
        return
    for t, x in dataset.trajectories():
        assert x.shape == (len(t), dataset.dimension)
        assert np.isfinite(t).all()
        assert (np.diff(t) > 0).all()
        assert not np.isinf(x).any()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(arrays.arrays(np.float64, (6, 2), elements=numbers), arrays.arrays(np.float64, 6, elements=numbers))
def test_what_is_accepted_can_be_scaled(values: np.ndarray, times: np.ndarray) -> None:
    try:
        dataset = from_arrays(values, times)
    except OdefinderError:
        return
    observations = dataset.observations(dataset.scaling())
    assert np.nanmax(np.abs(observations.states)) <= 1.0
    assert (np.diff(observations.times) > 0).all()


@pytest.mark.parametrize("kind", [float, object, str])
def test_masks_are_kept(kind: type) -> None:
    mask = np.zeros(X.shape, bool)
    mask[3, 0] = True
    hidden = np.where(mask, 1e6, X)
    masked = np.ma.masked_array(hidden.astype(kind), mask)
    assert np.isnan(from_arrays(masked, T).states[0][3, 0])
    columns = {"a": np.ma.masked_array(hidden[:, 0].astype(kind), mask[:, 0]), "b": X[:, 1]}
    assert np.isnan(from_arrays(columns, T).states[0][3, 0])


def test_times_named_as_a_variable() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    for times in (pd.Series(T, name="a"), pd.Index(T, name="b")):
        dataset = from_arrays(frame, times)
        assert dataset.variables == ("a", "b")
        np.testing.assert_array_equal(dataset.states[0], X)


def test_times_of_day_go_on_after_midnight() -> None:
    dataset = from_arrays(X, [f"{(20 + k) % 24:02d}:00" for k in range(10)])
    np.testing.assert_array_equal(dataset.times[0], np.arange(10.0))


@pytest.mark.parametrize("variables", [[], 5, len])
def test_variables_that_are_no_names(variables: Any) -> None:
    for values in (X, pd.DataFrame(X)):
        with pytest.raises(OdefinderError):
            from_arrays(values, T, variables)


def test_cells_that_are_lists() -> None:
    frame = pd.DataFrame({"t": T, "id": [[1]] * 10, "x": X[:, 0]})
    for trajectory in (None, "id"):
        with pytest.raises(DataError):
            from_arrays(frame, trajectory=trajectory)
