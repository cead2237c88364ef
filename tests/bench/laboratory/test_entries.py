"""The set of laboratory systems: what is in it, that it is its own, and that it moves."""

import json
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from odefinder.bench.laboratory.entries import LabSystem, chosen, is_laboratory, read_laboratory
from odefinder.bench.laboratory.records import Record
from odefinder.bench.sets import load_set
from odefinder.errors import DataError, SettingsError
from odefinder.expressions.canonical import skeleton
from odefinder.numerics.signals import constant

SETS = Path(__file__).parents[3] / "benchmarks" / "sets"
PATH = SETS / "laboratory.json"
LABORATORY = read_laboratory(PATH)


def named(name: str) -> LabSystem:
    return next(system for system in LABORATORY if system.id == name)


def records(lab: LabSystem) -> list[Record]:
    return [*lab.records, *([] if lab.unseen is None else [lab.unseen])]


def test_the_set_has_what_the_protocol_asks_for() -> None:
    counts = Counter(lab.group for lab in LABORATORY)
    assert counts == {"order 2": 12, "inputs": 10, "conditions": 6, "hidden": 8, "time": 4}
    assert len({lab.id for lab in LABORATORY}) == len(LABORATORY)
    for lab in LABORATORY:
        assert len(lab.records) >= 2
        assert lab.order == 2 or lab.group != "order 2"
        assert lab.hidden == (lab.group == "hidden")
        assert lab.explicit_time == (lab.group == "time")
        assert bool(lab.conditions) == (lab.group == "conditions") == (lab.unseen is not None)
        if lab.group == "inputs":
            assert lab.inputs or all(record.doses for record in lab.records)


@pytest.mark.parametrize("name", ["odebench", "strogatz", "textbook.json", "chaotic.json"])
def test_no_system_is_in_another_set(name: str) -> None:
    others = {skeleton(one.program) for one in load_set(str(SETS / name) if "." in name else name)}
    for lab in LABORATORY:
        orders = permutations(lab.system.variables)
        assert not others & {skeleton(lab.system.with_variables(order).program) for order in orders}, lab.id


@pytest.mark.parametrize("lab", LABORATORY, ids=lambda lab: lab.id)
def test_every_record_is_finite_and_still_moves_where_it_is_scored(lab: LabSystem) -> None:
    for record in records(lab):
        seen = lab.truth(record)[:, : len(lab.observed)]
        assert np.isfinite(seen).all()
        covered = np.ptp(seen, axis=0)
        assert (np.ptp(seen[len(seen) // 5 :], axis=0) > 0.1 * covered).all()  # not settled in a fifth
        late = seen[round(0.6 * len(seen)) :].std(axis=0)
        assert (late > 0.05 * seen.std(axis=0)).all()


@pytest.mark.parametrize("lab", [lab for lab in LABORATORY if lab.group == "inputs"], ids=lambda lab: lab.id)
def test_observed_variables_respond_to_every_input_and_dose(lab: LabSystem) -> None:
    for record in lab.records:
        driven = lab.truth(record)[:, : len(lab.observed)]
        without = [
            replace(record, inputs={**record.inputs, name: constant(signal.before[0])})
            for name, signal in record.inputs.items()
        ]
        without += [replace(record, doses=())] if record.doses else []
        for other in without:
            still = lab.truth(other)[:, : len(lab.observed)]
            assert np.abs(driven - still).max() > 0.1 * np.ptp(driven)


def test_magnitudes_differ_as_units_do() -> None:
    sizes = [np.abs(lab.truth(lab.records[0])[:, : len(lab.observed)]).max() for lab in LABORATORY]
    assert min(sizes) < 0.2
    assert max(sizes) > 900.0


def test_each_record_is_tested_on_the_next_and_conditions_on_the_unseen_one() -> None:
    toda, algae = named("toda"), named("algae-light")
    assert [split.seen for split in toda.splits] == [(toda.records[0],), (toda.records[1],)]
    assert [split.other for split in toda.splits] == [toda.records[1], toda.records[0]]
    assert len(algae.splits) == 1
    assert algae.splits[0].seen == algae.records
    assert algae.splits[0].other is algae.unseen


def test_systems_are_chosen_by_id_and_by_group() -> None:
    assert [lab.id for lab in chosen(LABORATORY, "toda, house")] == ["toda", "house"]
    assert len(chosen(LABORATORY, "hidden")) == 8
    with pytest.raises(SettingsError, match="no system or group 'x'"):
        chosen(LABORATORY, "x")


def test_a_damaged_file_says_where(tmp_path: Path) -> None:
    entry = json.loads(PATH.read_text("utf-8"))[0]
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([{**entry, "observed": ["phi_dot"]}]), encoding="utf-8")
    with pytest.raises(DataError, match=r"ship-roll.*observed, velocities, hidden"):
        read_laboratory(bad)
    with pytest.raises(DataError, match="cannot read"):
        read_laboratory(tmp_path / "none.json")


@pytest.mark.parametrize(
    "change",
    [
        {"points": 10**12}, {"points": "x"}, {"t_end": -1}, {"kind": "other"}, {"records": []}, {"order": 7},
        {"records": [{"start": [1.0], "inputs": {"u": {"kind": "steps", "times": [0]}}}]},
        {"records": [{"start": "x"}]}, {"observed": 5}, {"parameters": []}, {"equations": 3}, {"id": None},
    ],
)  # fmt: skip
def test_damaged_sets_are_errors(tmp_path: Path, change: dict[str, object]) -> None:
    entry = json.loads(PATH.read_text())[0]
    path = tmp_path / "set.json"
    for content in ([entry | change], [change], change):
        path.write_text(json.dumps(content))
        with pytest.raises(DataError):
            read_laboratory(path)


def test_a_set_that_never_ends_is_none() -> None:
    assert not is_laboratory("/dev/zero")
