"""Fewer points of very long data."""

import numpy as np

from odefinder.data import from_arrays
from odefinder.data.thinning import MOST_POINTS, MOST_TRAJECTORIES, RARE, points_for, thinned

T = np.linspace(0.0, 1.0, 20_000)


def test_moderate_data_stay_as_they_are() -> None:
    dataset = from_arrays(np.sin(T[:500]), T[:500])
    fewer, chosen, notes = thinned(dataset)
    assert fewer is dataset
    assert chosen.tolist() == [0]
    assert notes == []


def test_points_are_chosen_evenly_from_first_to_last() -> None:
    fewer, _, notes = thinned(from_arrays(np.sin(T), T))
    assert len(fewer.times[0]) == MOST_POINTS
    assert fewer.times[0][[0, -1]].tolist() == [0.0, 1.0]
    assert np.ptp(np.diff(fewer.times[0])) < 2.0 / len(T)
    assert notes == ["5000 of 20000 points are used, evenly chosen."]


def test_what_was_measured_rarely_is_kept() -> None:
    rare, often = np.full(len(T), np.nan), np.full(len(T), np.nan)
    rare[[1, 7001, 13_003, 19_998]] = [1.0, 2.0, 3.0, 4.0]
    often[::2] = 1.0 + T[::2]
    fewer, _, _ = thinned(from_arrays(np.column_stack([np.sin(T), rare, often]), T), 1000)
    kept = np.isfinite(fewer.states[0]).sum(axis=0)
    assert kept[1] == 4
    assert kept[2] >= RARE
    assert len(fewer.times[0]) <= 1000 + 4 + RARE


def test_states_that_nobody_measured_need_no_points() -> None:
    dataset = from_arrays(np.sin(T), T).with_roles(order=2)
    assert len(thinned(dataset)[0].times[0]) == MOST_POINTS


def test_of_very_many_trajectories_some_are_chosen() -> None:
    times = [np.arange(4.0)] * 3000
    dataset = from_arrays([k + np.exp(-t) for k, t in enumerate(times)], times, conditions=None)
    fewer, chosen, notes = thinned(dataset)
    assert len(fewer) == len(chosen) == MOST_TRAJECTORIES
    assert chosen[[0, -1]].tolist() == [0, 2999]
    assert fewer.labels[-1] == dataset.labels[-1]
    assert notes == ["400 of 3000 trajectories are used, evenly chosen."]


def test_short_budgets_read_fewer_values() -> None:
    assert points_for(3, 10.0) == points_for(10, 1.0) == MOST_POINTS
    assert points_for(300, 2.0) == 333
    assert points_for(300, 0.1) == 200
