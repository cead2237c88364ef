"""Tasks and scores: the truth is always good, and a wrong model is not."""

from dataclasses import replace

import numpy as np
import pytest

from odefinder.bench.laboratory.entries import LabSystem
from odefinder.bench.laboratory.judging import Model, judge, r2
from odefinder.bench.laboratory.tasks import make_task
from odefinder.data.roles import Role
from odefinder.system import ODESystem
from tests.bench.laboratory.test_entries import LABORATORY, named


@pytest.mark.parametrize("lab", LABORATORY, ids=lambda lab: lab.id)
def test_the_truth_is_good_at_everything(lab: LabSystem) -> None:
    """Also where unseen starts have to be fitted."""
    split = lab.splits[0]
    scores = judge(Model(lab.system, np.array([record.start for record in split.seen])), lab, split)
    assert scores.forecast == pytest.approx(1.0, abs=1e-6)
    assert scores.other == pytest.approx(1.0, abs=1e-3)


def test_a_system_that_stands_still_is_not_good() -> None:
    lab = named("saturable-doses")
    model = Model(ODESystem.from_text("C' = 0"), np.array([lab.records[0].start]))
    scores = judge(model, lab, lab.splits[0])
    assert scores.forecast is not None
    assert scores.forecast < 0.0


def test_a_system_that_runs_away_has_no_score() -> None:
    lab = named("saturable-doses")
    model = Model(ODESystem.from_text("C' = C**3"), np.array([lab.records[0].start]))
    assert judge(model, lab, lab.splits[0]).forecast is None


def test_hidden_starts_are_found_in_the_models_own_units() -> None:
    """Whatever the hidden variable is measured in, the score is the same."""
    lab = named("logistic-prey")
    model = ODESystem.from_text("N' = 1.1*N*(1 - N/30) - 0.045*N*h1; h1' = 0.12*N*h1 - 0.5*h1", ["N", "h1"])
    scores = judge(Model(model, np.array([[6.0, 6.0]])), lab, lab.splits[0])
    assert scores.forecast == pytest.approx(1.0, abs=1e-6)
    assert scores.other == pytest.approx(1.0, abs=1e-3)


def test_r2_gives_every_variable_the_same_weight() -> None:
    truth = np.column_stack([np.sin(np.arange(50.0)), 1000.0 * np.cos(np.arange(50.0))])
    wrong = truth.copy()
    wrong[:, 0] = 0.0
    assert r2([(truth, wrong, 0)]) == pytest.approx(0.5, abs=0.02)
    assert r2([(truth, truth * np.nan, 0)]) is None


def test_a_task_holds_the_observed_part_and_nothing_else() -> None:
    lab = named("driven-beam")
    task = make_task(lab, 0)
    assert task.dataset.variables == ("x",)
    assert task.dataset.inputs == ("u",)
    assert len(task.dataset.times[0]) == 120
    assert task.dataset.signals[0].knots[-1] <= task.dataset.times[0][-1]
    assert task.with_roles().roles == (Role.OBSERVED, Role.VELOCITY)


def test_noise_is_a_share_of_the_spread_and_has_a_seed() -> None:
    lab = named("car")
    clean, noisy = make_task(lab, 0).dataset.states[0], make_task(lab, 0, 0.03).dataset.states[0]
    assert (noisy - clean).std() == pytest.approx(0.03 * clean.std(), rel=0.25)
    assert (make_task(lab, 0, 0.03).dataset.states[0] == noisy).all()
    assert (make_task(lab, 0, 0.03, seed=1).dataset.states[0] != noisy).all()
    longer = replace(lab, id="another")
    assert (make_task(longer, 0, 0.03).dataset.states[0] != noisy).all()


def test_conditions_come_with_all_their_records() -> None:
    task = make_task(named("arrhenius"), 0)
    assert len(task.dataset) == 4
    assert task.dataset.settings is not None
    assert task.dataset.settings[:, 0].tolist() == [305.0, 315.0, 325.0, 345.0]
