"""Roles in the prior: who is seen, what drives a system, and that the targets say so."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from odefinder.data.roles import KNOWN, SEEN, UNSEEN
from odefinder.expressions.program import CONST, MUL, VAR, Program
from odefinder.limits.sizes import MAX_DIMENSION
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.signals import linear
from odefinder.prior.casting import KIND_NAMES
from odefinder.prior.examples import EXAMPLE, Example, Examples, new_counts
from odefinder.prior.presets import DEFAULT, PAPER, PLAIN
from odefinder.prior.sampler import fill
from tests.prior.test_sampler import COARSE


@cache
def drawn(kind: str, count: int = 60, clean: bool = False) -> Examples:
    weights = np.array([float(name == kind) for name in KIND_NAMES])
    prior = DEFAULT._replace(role_weights=weights)
    if clean:
        prior = prior._replace(clean_share=1.0, rtol=1e-8, atol=1e-10, dense_share=1.0)
    examples = np.zeros(count, EXAMPLE)
    fill(examples, new_counts(), seed=5, prior=prior, layout=COARSE.layout, points=200 if clean else 0)
    return examples


def program(example: Example) -> Program:
    n = example["n_nodes"]
    return Program(example["ops"][:n], example["values"][:n])


def reads(part: Program) -> set[int]:
    return set(part.values[part.ops == VAR].astype(int).tolist())


def test_the_shares() -> None:
    assert DEFAULT.role_weights[0] / DEFAULT.role_weights.sum() >= 0.5
    assert PAPER.role_weights.tolist() == PLAIN.role_weights.tolist() == [1.0, *[0.0] * (len(KIND_NAMES) - 1)]


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_roles_are_in_order_and_what_is_unseen_is_missing(kind: str) -> None:
    for example in drawn(kind):
        dimension, known, roles = example["dimension"], example["n_known"], example["roles"]
        assert dimension + known <= MAX_DIMENSION
        assert (known > 0) == any(word in kind for word in ("input", "condition", "time"))
        assert (roles[:dimension] == UNSEEN).any() == ("order" in kind or "hidden" in kind)
        assert (np.diff(roles[:dimension]) >= 0).all()  # observed first
        assert roles[0] == SEEN
        assert (roles[dimension : dimension + known] == KNOWN).all()
        assert (roles[dimension + known :] == SEEN).all()
        states = example["states"][: example["n_points"]]
        assert np.isnan(states[:, roles == UNSEEN]).all()
        inputs = states[:, dimension : dimension + known]
        assert np.isfinite(inputs).all()
        assert np.abs(inputs).max(initial=0.0) <= 1.0
        assert (states[:, dimension + known :] == 0.0).all()


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_targets_read_what_is_known_and_hidden(kind: str) -> None:
    for example in drawn(kind):
        dimension, known = int(example["dimension"]), int(example["n_known"])
        equations = program(example).components()
        assert len(equations) == dimension
        everything = set().union(*map(reads, equations))
        assert set(range(dimension, dimension + known)) <= everything <= set(range(dimension + known))
        unseen = np.flatnonzero(example["roles"] == UNSEEN).tolist()
        if "hidden" in kind:
            assert unseen == [dimension - 1]
            assert any(dimension - 1 in reads(equation) for equation in equations[:-1])
        for velocity in unseen if "order" in kind else []:
            # x' = v, written with a coefficient of exactly 1, as targets are
            assert any(
                equation.ops.tolist() == [MUL, CONST, VAR]
                and equation.values.tolist() == [0.0, 1.0, velocity]
                for equation in equations
            )


def test_conditions_are_constant_within_trajectories_and_differ_between_them() -> None:
    for example in drawn("condition"):
        n, first = example["n_points"], int(example["dimension"])
        trajectory = example["trajectory"][:n]
        assert trajectory.max() >= 1 or n < 2 * 8
        values = [np.unique(example["states"][:n][trajectory == k, first]) for k in np.unique(trajectory)]
        assert all(len(value) == 1 for value in values)
        assert len(np.unique(np.concatenate(values))) == len(values)


def test_time_is_the_time() -> None:
    for example in drawn("time"):
        n, place = example["n_points"], int(example["dimension"])
        t, column = example["times"][:n], example["states"][:n, place]
        for k in range(example["n_trajectories"]):
            rows = example["trajectory"][:n] == k
            np.testing.assert_allclose(np.ptp(column[rows]) / np.ptp(t[rows]), 1.0 / 9.0, rtol=0.35)
            assert np.corrcoef(column[rows], t[rows])[0, 1] > 1.0 - 1e-9


@pytest.mark.parametrize("kind", ["order", "hidden", "order and input", "input", "condition", "time"])
def test_the_target_explains_the_data(kind: str) -> None:
    """From the true start, with the signals as they were recorded, the observed columns come out."""
    close = total = 0
    for example in drawn(kind, 40, clean=True):
        dimension, known, n = int(example["dimension"]), int(example["n_known"]), example["n_points"]
        seen = np.flatnonzero(example["roles"][:dimension] == SEEN)
        for k in range(example["n_trajectories"]):
            rows = np.flatnonzero(example["trajectory"][:n] == k)
            t, x = example["times"][rows], example["states"][rows]
            signals = linear(t, x[:, dimension : dimension + known]) if known else None
            found, status = integrate(program(example), example["starts"][k, :dimension], t, signals=signals)
            total += 1
            error = np.abs(found[:, seen] - x[:, seen]).max() if status == Status.OK else np.inf
            close += error < (1e-3 if kind in ("order", "hidden", "condition", "time") else 0.2)
    assert close >= 0.9 * total
