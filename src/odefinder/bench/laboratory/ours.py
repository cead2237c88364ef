"""Our estimator on laboratory tasks; what its present version cannot be asked for is not supported."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from odefinder.bench.laboratory.judging import Model, NotSupported
from odefinder.bench.laboratory.tasks import LabTask
from odefinder.estimator import ODEFormer

TIME_BUDGET = 10.0  # seconds


def fit(task: LabTask, **settings: Any) -> Model:
    """The chosen system of ODEFormer with the roles of the task; settings: more of its parameters."""
    roles = _without_defaults(task)
    data = task.dataset
    known = {"inputs": bool(data.inputs or data.doses), "conditions": bool(data.conditions)}
    _check(ODEFormer.__init__, list(roles))
    _check(ODEFormer.fit, [name for name, given in known.items() if given])
    model = ODEFormer(time_budget=TIME_BUDGET, random_state=task.seed, **roles, **settings).fit(data)
    return Model(model.system_, model.starts_)


def _without_defaults(task: LabTask) -> dict[str, Any]:
    """The parameters that a plain system would not need."""
    roles: dict[str, Any] = {}
    if task.order != 1:
        roles["order"] = task.order
    if task.hidden:
        roles["hidden"] = task.hidden
    if task.known is not None:
        roles["known"] = task.known
    if task.explicit_time:
        roles["explicit_time"] = True
    return roles


def _check(function: Any, wanted: Sequence[str]) -> None:
    known = inspect.signature(function).parameters
    for name in wanted:
        if name not in known:
            raise NotSupported(f"the estimator has no parameter {name}")
